#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::verify {

/// Marks some of the numbers 0 … size - 1, and numbers the marked ones 0, 1, …, in two bits for each of all:
/// tables of them would have 32.
class Marks {
  public:
    explicit Marks(std::size_t size) : groups_(size / kGroup + 1) {}

    void mark(std::uint32_t number) { groups_[number / kGroup].bits |= bit_of(number); }
    [[nodiscard]] bool is_marked(std::uint32_t number) const {
        return (groups_[number / kGroup].bits & bit_of(number)) != 0;
    }
    /// Once all are marked: how many are.
    std::uint32_t count() {
        std::uint32_t marked = 0;
        for (Group& group : groups_) {
            group.before = marked;
            marked += static_cast<std::uint32_t>(std::popcount(group.bits));
        }
        return marked;
    }
    /// How many smaller ones are marked. Precondition: they have been counted.
    [[nodiscard]] std::uint32_t before(std::uint32_t number) const {
        const Group& group = groups_[number / kGroup];
        return group.before + static_cast<std::uint32_t>(std::popcount(group.bits & (bit_of(number) - 1)));
    }

  private:
    static constexpr std::uint32_t kGroup = 64;
    struct Group {
        std::uint64_t bits = 0;
        std::uint32_t before = 0;
    };
    static std::uint64_t bit_of(std::uint32_t number) { return std::uint64_t{1} << (number % kGroup); }

    std::vector<Group> groups_;
};

}  // namespace tutti::verify
