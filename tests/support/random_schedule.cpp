#include "tests/support/random_schedule.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace tutti::test {
namespace {

/// Where a walk stands: this node has this chunk from this tick on.
struct Standing {
    NodeId node;
    ChunkId chunk;
    Ticks since;
};

class Walk {
  public:
    Walk(const Instance& instance, Rng& rng)
        : instance_(instance), topology_(instance.topology()), rng_(rng) {
        for (std::size_t c = 0; c < instance.chunks(); ++c) {
            for (const NodeId holder : instance.demand(ChunkId(c)).holders) {
                standings_.push_back({holder, ChunkId(c), instance.release(ChunkId(c), holder)});
            }
        }
    }

    void step() {
        if (standings_.empty()) return;
        const Standing from = standings_[rng_.below(standings_.size())];
        const auto links = topology_.out_links(from.node);
        if (links.empty()) return;
        const LinkId link = links[rng_.below(links.size())];
        Ticks start = std::max(from.since, free_[link]);
        if (one_in(6)) start += Ticks(static_cast<std::int64_t>(rng_.below(3)));
        go(from.chunk, link, start, Ticks(0));
    }

    [[nodiscard]] std::vector<Send> sends() && { return std::move(sends_); }

  private:
    [[nodiscard]] bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }

    void go(ChunkId chunk, LinkId link, Ticks start, Ticks pace) {
        const NodeId to = topology_.link(link).dst;
        const bool adds = topology_.is_npu(to) || topology_.rule(to).reduce;
        const bool reduces = adds && one_in(instance_.demand(chunk).reduction ? 2 : 20);
        sends_.push_back({chunk, link, start, reduces ? Op::Reduce : Op::Copy});
        pace = std::max(pace, instance_.beta(link, chunk));
        free_[link] = start + pace;
        if (topology_.busy() == Busy::AlphaPlusBeta) free_[link] += instance_.alpha(link);
        if (!topology_.is_cut_through(to)) {
            standings_.push_back({to, chunk, start + instance_.alpha(link) + pace});
            return;
        }
        const auto links = topology_.out_links(to);
        if (links.empty() || sends_.size() > 200) return;
        std::size_t branches = topology_.rule(to).copy ? 1 + rng_.below(2) : 1;
        if (one_in(30)) branches = rng_.below(3);
        for (; branches > 0; --branches) {
            go(chunk, links[rng_.below(links.size())], start + instance_.alpha(link), pace);
        }
    }

    const Instance& instance_;
    const Topology& topology_;
    Rng& rng_;
    std::vector<Standing> standings_;
    std::map<LinkId, Ticks> free_;
    std::vector<Send> sends_;
};

}  // namespace

Schedule random_sends(const Instance& instance, Rng& rng, std::size_t count, std::int64_t horizon) {
    Schedule schedule{instance.name(), Ticks(0), {}};
    if (instance.chunks() == 0 || instance.topology().links().empty()) return schedule;
    for (; count > 0; --count) {
        schedule.sends.push_back(
            {ChunkId(rng.below(instance.chunks())), LinkId(rng.below(instance.topology().links().size())),
             Ticks(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(horizon) + 1))),
             rng.below(3) == 0 ? Op::Reduce : Op::Copy});
        Send& send = schedule.sends.back();
        if (rng.below(100) == 0) send.chunk = ChunkId(instance.chunks() + rng.below(2));
        if (rng.below(100) == 0) send.link = LinkId(instance.topology().links().size() + rng.below(2));
        if (rng.below(100) == 0) send.start = rng.below(2) == 0 ? Ticks(-1) : kMaxStart + Ticks(1);
    }
    return schedule;
}

Schedule random_walk(const Instance& instance, Rng& rng, std::size_t steps) {
    Walk walk(instance, rng);
    for (; steps > 0; --steps) walk.step();
    Schedule schedule{instance.name(), Ticks(0), std::move(walk).sends()};
    for (Send& send : schedule.sends) {
        if (rng.below(40) == 0) send.op = send.op == Op::Copy ? Op::Reduce : Op::Copy;
        if (rng.below(60) == 0 && send.start > Ticks(0)) send.start -= Ticks(1);
    }
    rng.shuffle(schedule.sends);
    return schedule;
}

Schedule shrunk(Schedule schedule, const std::function<bool(const Schedule&)>& fails) {
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (std::size_t i = 0; i < schedule.sends.size() && !smaller; ++i) {
            Schedule candidate = schedule;
            candidate.sends.erase(candidate.sends.begin() + static_cast<std::ptrdiff_t>(i));
            if (!fails(candidate)) continue;
            schedule = std::move(candidate);
            smaller = true;
        }
        for (std::size_t i = 0; i < schedule.sends.size() && !smaller; ++i) {
            Schedule candidate = schedule;
            if (candidate.sends[i].start <= Ticks(0)) continue;
            candidate.sends[i].start -= Ticks(1);
            if (!fails(candidate)) continue;
            schedule = std::move(candidate);
            smaller = true;
        }
    }
    return schedule;
}

void drop_unused_links(InstanceParts& parts, Schedule& schedule) {
    std::map<LinkId, LinkId> numbers;
    for (const Send& send : schedule.sends) numbers[send.link];
    std::vector<Link> links;
    for (auto& [old_number, new_number] : numbers) {
        new_number = old_number;
        if (old_number.index() >= parts.topology.links.size()) continue;
        new_number = LinkId(links.size());
        links.push_back(parts.topology.links[old_number.index()]);
    }
    parts.topology.links = std::move(links);
    for (Send& send : schedule.sends) send.link = numbers[send.link];
}

}  // namespace tutti::test
