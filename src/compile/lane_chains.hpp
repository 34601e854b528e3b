#pragma once

#include <algorithm>
#include <cstdint>
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
        ends_.push_back({{from, to}});
        wanted_.push_back(wanted);
    }
    /// False: they cannot have one channel.
    bool join(std::uint32_t a, std::uint32_t b) {
        a = root(a);
        b = root(b);
        if (a == b) return true;
        if (wanted_[a] != wanted_[b]) return false;
        if (ends_[a].size() < ends_[b].size()) std::swap(a, b);
        const bool meet =
            std::ranges::any_of(ends_[b], [&](const auto& end) { return ends_[a].contains(end); });
        if (meet) return false;
        ends_[a].merge(ends_[b]);
        parent_[b] = a;
        return true;
    }

  private:
    std::uint32_t root(std::uint32_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    std::vector<std::uint32_t> parent_;
    std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> ends_;  ///< by root
    std::vector<std::int32_t> wanted_;
};

}  // namespace tutti::compile
