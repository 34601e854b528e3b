#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace tutti::compile {

/// Chains of joined lanes: what they have in common is the channel, so they must not have two lanes between
/// the same ranks, nor lanes for which the user wants different channels. A union-find, the smaller chain
/// into the larger.
class LaneChains {
  public:
    void add(std::uint32_t from, std::uint32_t to, std::int32_t wanted = -1) {
        parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
        lanes_.emplace_back(from, to);
        ends_.emplace_back();
        wanted_.push_back(wanted);
    }
    /// False: they cannot have one channel.
    bool join(std::uint32_t a, std::uint32_t b) {
        a = root(a);
        b = root(b);
        if (a == b) return true;
        if (wanted_[a] != wanted_[b]) return false;
        if (length(a) < length(b)) std::swap(a, b);
        const auto in_a = [&](const Ends& ends) {
            return ends_[a] ? ends_[a]->contains(ends) : lanes_[a] == ends;
        };
        if (ends_[b] ? std::ranges::any_of(*ends_[b], in_a) : in_a(lanes_[b])) return false;
        if (!ends_[a]) ends_[a] = std::make_unique<std::set<Ends>>(std::set<Ends>{lanes_[a]});
        if (ends_[b]) {
            ends_[a]->merge(*std::exchange(ends_[b], nullptr));
        } else {
            ends_[a]->insert(lanes_[b]);
        }
        parent_[b] = a;
        return true;
    }

  private:
    using Ends = std::pair<std::uint32_t, std::uint32_t>;

    [[nodiscard]] std::size_t length(std::uint32_t root) const {
        return ends_[root] ? ends_[root]->size() : 1;
    }
    std::uint32_t root(std::uint32_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    std::vector<std::uint32_t> parent_;
    std::vector<Ends> lanes_;
    std::vector<std::unique_ptr<std::set<Ends>>> ends_;  ///< by root of several lanes: those of all of them
    std::vector<std::int32_t> wanted_;
};

}  // namespace tutti::compile
