// The messages of a round are routed together, because a fat tree carries a permutation without conflicts if
// their planes are chosen well (clos_routes). Messages that have to share a link follow each other: each is
// placed at the earliest tick at which its links are free, in order. A pattern may be repeated as soon as
// each of its links is free again.
//
// Complexity: O(messages * links of a path * log), and the search for paths.

#include "heuristics/levels/round_pattern.hpp"

#include "heuristics/link_calendar.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::heuristics {
namespace {

class PatternSearch {
  public:
    PatternSearch(Cluster& cluster, ChunkId sample)
        : cluster_(cluster),
          topology_(cluster.instance().topology()),
          sample_(sample),
          loads_(topology_.links().size()),
          calendar_(topology_.links().size()) {}

    std::optional<RoundPattern> run(std::span<const RoundPattern::Message> messages) {
        for (const RoundPattern::Message& message : messages) {
            const auto ends = cluster_.routes().ends(message.from, message.to, loads_);
            if (!ends) return std::nullopt;
            ends_.push_back(*ends);
            routes_.push_back({ends->out, ends->in});
        }
        if (cluster_.clos().has_choices()) cluster_.clos().route(routes_);
        for (std::size_t i = 0; i < messages.size(); ++i) {
            find_path(i);
            place(messages[i].kind);
        }
        finish();
        return std::move(pattern_);
    }

  private:
    void find_path(std::size_t i) {
        const auto& [out, in, links, found] = routes_[i];
        path_.clear();
        if (found) {
            path_.push_back(out);
            path_.insert(path_.end(), links.begin(), links.end());
            path_.push_back(in);
            // A detour over upper tiers may be slower than another path.
            if (cluster_.routes().time_along(path_) == ends_[i].time) return;
            path_.clear();
        }
        cluster_.routes().append_path(ends_[i], loads_, path_);
    }

    void place(std::uint32_t kind) {
        const Ticks transit = path_times(cluster_.instance(), path_, sample_, legs_);
        const Ticks start = calendar_.earliest(legs_, ChunkId(kind), Ticks(0));
        calendar_.book(legs_, ChunkId(kind), start);
        for (std::size_t i = 0; i < legs_.size(); ++i) {
            const LegTime& leg = legs_[i];
            const Ticks at = start + leg.offset;
            loads_[leg.link.index()] += leg.busy;
            pattern_.entries.push_back({at, leg.link, kind, i + 1 == legs_.size()});
            pattern_.uses.push_back({leg.link, at, at + leg.busy});
            if (i > 0) pattern_.passages.push_back({leg.from, kind, at});
        }
        pattern_.duration = std::max(pattern_.duration, start + transit);
    }

    void finish() {
        auto& [entries, groups, uses, passages, period, duration] = pattern_;
        std::ranges::sort(entries, {}, [](const auto& e) { return std::tuple(e.offset, e.link); });
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (i == 0 || entries[i].offset != entries[i - 1].offset) groups.push_back(i);
        }
        groups.push_back(entries.size());
        std::ranges::sort(passages, {}, [](const auto& p) { return std::tuple(p.at, p.kind, p.offset); });
        std::ranges::sort(uses, {}, [](const auto& u) { return std::tuple(u.link, u.first); });
        std::size_t kept = 0;
        for (const RoundPattern::Use& use : uses) {
            if (kept > 0 && uses[kept - 1].link == use.link) {
                uses[kept - 1].end = std::max(uses[kept - 1].end, use.end);
            } else {
                uses[kept++] = use;
            }
        }
        uses.resize(kept);
        for (const RoundPattern::Use& use : uses) period = std::max(period, use.end - use.first);
    }

    Cluster& cluster_;
    const Topology& topology_;
    const ChunkId sample_;
    std::vector<Ticks> loads_;  ///< by link
    LinkCalendar calendar_;
    std::vector<MessageRoutes::Ends> ends_;
    std::vector<ClosRoutes::Message> routes_;
    std::vector<LinkId> path_;
    std::vector<LegTime> legs_;
    RoundPattern pattern_;
};

}  // namespace

bool RoundPattern::meets(const RoundPattern& second, Ticks lag) const {
    auto a = passages.begin();
    auto b = second.passages.begin();
    while (a != passages.end() && b != second.passages.end()) {
        const auto order =
            std::tuple(a->at, a->kind, a->offset) <=> std::tuple(b->at, b->kind, b->offset + lag);
        if (order == 0) return true;
        ++(order < 0 ? a : b);
    }
    return false;
}

std::optional<RoundPattern> round_pattern(Cluster& cluster, ChunkId sample,
                                          std::span<const RoundPattern::Message> messages) {
    return PatternSearch(cluster, sample).run(messages);
}

}  // namespace tutti::heuristics
