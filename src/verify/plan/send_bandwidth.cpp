// The loads of links and switches in each step.
//
// Loads are counted per limit (a link, or a switch entry with its sets of sources and destinations) and step,
// in a sorted list of the pairs that occur: memory is O(sends), however many limits there are. A send finds
// its switches by the smaller of their two sets, and checks membership in the other: real switches have one
// node on one side, so that is as many lookups as ports.
//
// Pipelined plans start the next run before the last has ended: steps s, s + p, s + 2p, … run at once, so
// their loads add up, from the last to the first.

#include "verify/plan/send_bandwidth.hpp"

#include "verify/plan/send_flights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

namespace tutti::verify {
namespace {

using plan::NodeSend;
using plan::ScclLink;
using plan::ScclPlan;
using plan::ScclSwitch;

class Loads {
  public:
    explicit Loads(const ScclPlan& plan) : plan_(plan), by_src_(nodes()), by_dst_(nodes()) {
        for (std::uint32_t i = 0; i < plan.switches.size(); ++i) {
            const ScclSwitch& limit = plan.switches[i];
            const bool few_srcs = limit.srcs.size() <= limit.dsts.size();
            for (const plan::PlanNode node : few_srcs ? limit.srcs : limit.dsts)
                (few_srcs ? by_src_ : by_dst_)[node.index()].push_back(i);
        }
    }

    void add(const NodeSend& send) {
        if (!joins_nodes(plan_, send)) return;
        const auto link =
            std::ranges::lower_bound(plan_.links, std::pair(send.src, send.dst), {},
                                     [](const ScclLink& each) { return std::pair(each.src, each.dst); });
        if (link != plan_.links.end() && link->src == send.src && link->dst == send.dst)
            note(static_cast<std::size_t>(link - plan_.links.begin()), send);
        for (const std::uint32_t i : by_src_[send.src.index()]) {
            if (std::ranges::binary_search(plan_.switches[i].dsts, send.dst))
                note(plan_.links.size() + i, send);
        }
        for (const std::uint32_t i : by_dst_[send.dst.index()]) {
            if (std::ranges::binary_search(plan_.switches[i].srcs, send.src))
                note(plan_.links.size() + i, send);
        }
    }

    void judge(Findings& violations) {
        std::ranges::sort(uses_);
        std::vector<Load> loads;  // of one limit, by step
        for (std::size_t begin = 0; begin < uses_.size();) {
            const std::size_t limit = uses_[begin].first;
            loads.clear();
            for (; begin < uses_.size() && uses_[begin].first == limit; ++begin) {
                if (loads.empty() || loads.back().step != uses_[begin].second)
                    loads.push_back({uses_[begin].second, 0});
                ++loads.back().chunks;
            }
            judge(limit, loads, violations);
        }
    }

  private:
    struct Load {
        std::int64_t step = 0, chunks = 0;
    };

    [[nodiscard]] std::size_t nodes() const { return static_cast<std::size_t>(plan_.nodes); }
    void note(std::size_t limit, const NodeSend& send) { uses_.emplace_back(limit, send.when); }

    void judge(std::size_t limit, const std::vector<Load>& loads, Findings& violations) const {
        std::map<std::int64_t, std::int64_t> together;  // by step modulo the pipeline, from the last on
        for (auto load = loads.rbegin(); load != loads.rend(); ++load) {
            std::int64_t chunks = load->chunks;
            if (plan_.pipeline) chunks = together[load->step % *plan_.pipeline] += load->chunks;
            const bool link = limit < plan_.links.size();
            const std::int64_t capacity =
                link ? plan_.links[limit].capacity : plan_.switches[limit - plan_.links.size()].capacity;
            const std::int64_t rounds = plan_.rounds[static_cast<std::size_t>(load->step)];
            if (rounds >= (chunks + capacity - 1) / capacity) continue;
            if (!violations.open()) {
                violations.count_one();
                continue;
            }
            plan::Place place;
            place.step = plan::StepId(static_cast<std::size_t>(load->step));
            violations.add(
                "bandwidth",
                fmt::format("step {} sends {} chunks over {}, which carries {} per round, in {} rounds{}",
                            load->step, chunks, name(limit), capacity, rounds,
                            plan_.pipeline ? ", with those of the steps that run at once" : ""),
                place);
        }
    }

    [[nodiscard]] std::string name(std::size_t limit) const {
        if (limit < plan_.links.size()) {
            const ScclLink& link = plan_.links[limit];
            return fmt::format("the link {} -> {}", link.src, link.dst);
        }
        return fmt::format("the switch {}", plan_.switches[limit - plan_.links.size()].name);
    }

    const ScclPlan& plan_;
    std::vector<std::vector<std::uint32_t>> by_src_, by_dst_;  ///< switches by node of their smaller set
    std::vector<std::pair<std::size_t, std::int64_t>> uses_;   ///< limit, step
};

using StepPlace = std::tuple<std::int32_t, plan::PlanNode, std::int64_t>;  // step, node, address

void warn_of_same_step(const ScclPlan& plan, Findings& warnings) {
    std::vector<StepPlace> written;
    for (const NodeSend& send : plan.sends) written.emplace_back(send.list, send.dst, send.address);
    std::ranges::sort(written);
    std::uint64_t reads = 0, adds = 0;
    const NodeSend *first_read = nullptr, *first_add = nullptr;
    for (const NodeSend& send : plan.sends) {
        const StepPlace source(send.list, send.src, send.address), target(send.list, send.dst, send.address);
        if (std::ranges::binary_search(written, source) && reads++ == 0) first_read = &send;
        const bool adds_too = plan.clock == plan::SendClock::Times && !send.replaces &&
                              std::ranges::equal_range(written, target).size() > 1;
        if (adds_too && adds++ == 0) first_add = &send;
    }
    if (reads > 0) {
        warnings.add("same-step",
                     fmt::format("{} sends read an address that their own step writes there, the old value; "
                                 "msccl-tools and TACCL cannot lower that. The first: {}",
                                 reads, send_text(plan, *first_read)),
                     place_of(*first_read));
    }
    if (adds > 0) {
        warnings.add(
            "same-step",
            fmt::format("{} sends add to what another of their step adds to; TACCL's lowering leaves "
                        "such sums in a race. The first: {}",
                        adds, send_text(plan, *first_add)),
            place_of(*first_add));
    }
}

}  // namespace

void check_bandwidth(const ScclPlan& plan, Findings& violations, Findings& warnings) {
    warn_of_same_step(plan, warnings);
    if (plan.clock != plan::SendClock::Steps) return;
    Loads loads(plan);
    for (const NodeSend& send : plan.sends) loads.add(send);
    loads.judge(violations);
}

}  // namespace tutti::verify
