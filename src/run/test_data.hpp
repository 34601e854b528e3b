#pragma once

#include "run/element_type.hpp"
#include "run/executable.hpp"
#include "run/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::run {

/// Inputs of a call, and what its outputs must be, from the postcondition alone: nothing of the plan is
/// asked. The inputs are such that every order of additions gives the same bits in every type, so outputs are
/// compared bit for bit: small integers for floating-point sums, powers of two for products, any bits for
/// integers and where nothing is reduced.
class TestData {
  public:
    TestData(const Executable& executable, const Layout& layout, ElementType type, Operator op,
             std::uint64_t salt);

    /// Fills a memory: with the inputs where the plan starts with them, elsewhere with a pattern that is no
    /// number.
    void fill(std::uint32_t memory, std::byte* to) const;

    struct Difference {
        Rank rank{};
        std::int64_t element = 0;  ///< of its output
        std::string expected{}, found{};
    };
    struct Check {
        std::uint64_t compared = 0, wrong = 0;
        std::optional<Difference> first{};
    };
    /// Compares all outputs that the collective demands. O(output elements + contributions of distinct sums).
    [[nodiscard]] Check check(std::span<const std::byte* const> memories) const;
    /// The same of one rank's output only.
    [[nodiscard]] Check check(std::span<const std::byte* const> memories, Rank rank) const;

  private:
    /// Outputs that must be the same.
    struct Result {
        verify::SumId sum = 0;
        std::vector<std::pair<Rank, std::int64_t>> places{};  ///< of the rank's output
    };

    [[nodiscard]] Check check(std::span<const std::byte* const> memories, OptionalId<Rank> only) const;

    const Executable* executable_;
    const Layout* layout_;
    ElementType type_;
    Operator op_;
    std::uint64_t salt_;
    bool reduces_ = false;
    verify::Sums sums_;
    std::vector<Result> results_;
};

}  // namespace tutti::run
