// A schedule of TE-CCL, converted to sends between nodes.
//
// A chunk that always travels whole is one address; its flows are the sends, and the nodes that demand it
// must hold it in the end. A split chunk travels in parts, and the file does not say which part a flow
// carries: "7-Flows" is a set, so equal flows of different parts are merged. But "8-Chunk paths" lists every
// part with its path from origin to destination, so there each path is an address of its own, and the volumes
// of a demand's paths must sum to one chunk. Volumes are decimals and are added exactly; TE-CCL rounds each
// to six decimals and omits parts of up to 0.00001, so a sum of k of them may be off by 0.00001 and k units
// of the sixth decimal.
//
// When a transfer arrives depends on the links, which are in TE-CCL's input but not in this file. All-gathers
// give the epoch by which each demand was met, which is when that chunk reached that node; otherwise a
// transfer is assumed to end with its epoch, the earliest possible.

#include "verify/plan/epoch_chunks.hpp"
#include "verify/plan/findings.hpp"
#include "verify/plan/plan_verifier.hpp"
#include "verify/plan/send_flights.hpp"
#include "verify/plan/send_replay.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {
namespace {

using plan::EpochDemand;
using plan::EpochFlow;
using plan::EpochHop;
using plan::EpochSchedule;
using plan::kVolumeTolerance;
using plan::kWholeVolume;
using plan::PlanClass;

class EpochVerifier {
  public:
    EpochVerifier(const EpochSchedule& schedule, const PlanReading& reading)
        : schedule_(schedule),
          reading_(reading),
          violations_(reading.max_findings),
          warnings_(reading.max_findings),
          sends_violations_(reading.max_findings),
          sends_warnings_(reading.max_findings),
          chunks_(schedule),
          flows_(schedule.flows.begin(), schedule.flows.end()) {}

    plan::PlanVerdict run() {
        plan_.clock = plan::SendClock::Epochs;
        plan_.nodes = static_cast<std::int32_t>(chunks_.numbers().size());
        for (const plan::PlanNode number : chunks_.numbers())
            plan_.node_names.push_back(std::to_string(number.value()));
        choose_goal();
        add_whole_chunks();
        for (const EpochDemand& demand : schedule_.demands) check_demand(demand);
        warn_of_unused_flows();
        judge_sends();
        finish();
        return std::move(verdict_);
    }

  private:
    void report(const char* code, const std::string& message, OptionalId<Rank> node = {}) {
        violations_.add(code, message, {.gpu = node});
    }

    void choose_goal() {
        goal_ = reading_.goal            ? plan_kind_of(*reading_.goal)
                : schedule_.all_gathered ? CollectiveKind::AllGather
                                         : chunks_.shape().goal();
        if (goal_ == CollectiveKind::AllGather && !chunks_.demand_all()) {
            report("too-large", "an allgather of so many chunks on so many nodes is not judged");
            too_large_ = true;
            return;
        }
        verdict_root_ = chunks_.shape().root(goal_);
        if (goal_ == CollectiveKind::Custom || chunks_.shape().makes(goal_)) return;
        report("value", fmt::format("the demands in the file do not make {}: {}", plan_name_of(goal_),
                                    goal_ == CollectiveKind::AllToAll
                                        ? chunks_.missing_pair()
                                        : "not every node has its chunks go where they must"));
    }

    std::int64_t add_address(const EpochChunkName& name, std::vector<plan::PlanNode> receivers,
                             std::string text) {
        const auto address = static_cast<std::int64_t>(plan_.chunks.size());
        plan_.chunks.push_back({{name.first}, std::move(receivers), address});
        plan_.address_names.push_back(std::move(text));
        return address;
    }

    void add_send(std::int64_t address, const EpochHop& hop, std::size_t list) {
        plan::NodeSend send;
        send.address = address;
        send.src = chunks_.dense(hop.from);
        send.dst = chunks_.dense(hop.to);
        send.list = static_cast<std::int32_t>(list);
        send.position.reset();
        send.when = hop.epoch;
        plan_.sends.push_back(send);
    }

    void add_whole_chunks() {
        std::map<EpochChunkName, std::int64_t> addresses;
        for (const auto& [name, chunk] : chunks_.chunks()) {
            if (chunk.split) {
                parts_unknown_ = parts_unknown_ || !schedule_.has_paths;
            } else {
                addresses[name] =
                    add_address(name, {chunk.demanded.begin(), chunk.demanded.end()}, chunks_.words(name));
            }
        }
        std::map<std::pair<plan::PlanNode, EpochChunkName>, std::int64_t> met;
        // Only all-gathers give the arrival that met a demand; others name the last departure.
        if (schedule_.all_gathered) {
            for (const EpochDemand& demand : schedule_.demands) {
                if (!demand.met) continue;
                met[{chunks_.dense(demand.node), chunks_.name(demand.origin, demand.chunk)}] = *demand.met;
            }
        }
        for (std::size_t i = 0; i < schedule_.flows.size(); ++i) {
            const EpochFlow& flow = schedule_.flows[i];
            const EpochChunkName name = chunks_.name(flow.origin, flow.chunk);
            const auto found = addresses.find(name);
            if (found == addresses.end()) continue;
            add_send(found->second, flow.hop, i);
            const auto arrival = met.find({plan_.sends.back().dst, name});
            if (arrival != met.end() && arrival->second >= flow.hop.epoch)
                plan_.sends.back().arrives = arrival->second + 1;
        }
    }

    void check_demand(const EpochDemand& demand) {
        __extension__ using Wide = __int128;
        const EpochChunkName name = chunks_.name(demand.origin, demand.chunk);
        const bool split = chunks_.chunks().at(name).split;
        Wide total = 0;
        for (std::size_t p = 0; p < demand.paths.size(); ++p) {
            const auto& path = demand.paths[p];
            check_path(demand, path);
            total += path.empty() ? 0 : path.front().volume;
            if (!split) continue;
            const std::int64_t address = add_address(name, {chunks_.dense(demand.node)},
                                                     fmt::format("part {} of {}", p, chunks_.words(name)));
            for (const EpochHop& hop : path) add_send(address, hop, p);
        }
        const Wide off = total > kWholeVolume ? total - kWholeVolume : kWholeVolume - total;
        const auto parts = static_cast<Wide>(std::max<std::size_t>(1, demand.paths.size()));
        if (off <= parts * kVolumeTolerance + plan::kVolumeLeftOut) return;
        report(
            "value",
            fmt::format("the paths of {} to node {} carry {:.6f} of it; expected 1, give or take 0.00001 and "
                        "0.000001 for each path",
                        chunks_.words(name), demand.node,
                        static_cast<double>(total) / static_cast<double>(kWholeVolume)),
            rank_of(demand.node));
    }

    void check_path(const EpochDemand& demand, const std::vector<EpochHop>& path) {
        const std::string problem = problem_of(demand, path);
        if (problem.empty()) return;
        report("path",
               fmt::format("the path of {} to node {}: {}",
                           chunks_.words(chunks_.name(demand.origin, demand.chunk)), demand.node, problem),
               rank_of(demand.node));
    }

    [[nodiscard]] std::string problem_of(const EpochDemand& demand, const std::vector<EpochHop>& path) {
        if (path.empty()) return "it has no hop";
        plan::PlanNode at = demand.origin;
        std::optional<std::int64_t> epoch;
        const plan::Volume first = path.front().volume;
        for (const EpochHop& hop : path) {
            if (hop.from != at) return fmt::format("it is at node {} and goes on from node {}", at, hop.from);
            if (epoch && hop.epoch <= *epoch)
                return fmt::format("it leaves node {} in epoch {}, before it is there", at, hop.epoch);
            if (std::max(hop.volume, first) - std::min(hop.volume, first) > kVolumeTolerance)
                return "its volume changes on the way";
            const auto flow = flows_.find({demand.origin, demand.chunk, hop});
            if (flow == flows_.end()) {
                return fmt::format("its hop {} -> {} in epoch {} is not among the flows", hop.from, hop.to,
                                   hop.epoch);
            }
            used_.insert(&*flow);
            at = hop.to;
            epoch = hop.epoch;
        }
        return at == demand.node ? "" : fmt::format("it ends at node {}", at);
    }

    void warn_of_unused_flows() {
        if (!schedule_.has_paths || used_.size() == flows_.size()) return;
        warnings_.add("redundant", fmt::format("{} flows are on no path that meets a demand",
                                               flows_.size() - used_.size()));
    }

    void finish() {
        verdict_.format = "teccl-json";
        verdict_.mode = name_of(plan_.clock);
        verdict_.collective = plan_name_of(goal_);
        verdict_.root = verdict_root_;
        if (verdict_root_) verdict_.root = rank_of(chunks_.number(chunks_.ranks()[verdict_root_->index()]));
        verdict_.ranks = static_cast<std::int32_t>(chunks_.ranks().size());
        verdict_.steps = schedule_.flows.size();
        tell_lacks();
        tell_cost();
        // Faults of the file itself come before their consequences.
        add_renamed(sends_violations_, violations_);
        add_renamed(sends_warnings_, warnings_);
        settle(verdict_,
               too_large_                                          ? PlanClass::Malformed
               : !violations_.empty()                              ? PlanClass::Invalid
               : goal_ == CollectiveKind::Custom || parts_unknown_ ? PlanClass::StructureOnly
                                                                   : PlanClass::Valid,
               violations_, warnings_);
    }

    /// The sends know nodes by dense numbers, the file by its own.
    void add_renamed(Findings& from, Findings& to) const {
        const std::uint64_t count = from.count();
        std::vector<plan::PlanFinding> findings = from.take();
        for (plan::PlanFinding& finding : findings) {
            OptionalId<Rank>& node = finding.place.gpu;
            if (node) node = rank_of(chunks_.number(plan::PlanNode((*node).index())));
        }
        to.add_all(std::move(findings), count);
    }

    void judge_sends() {
        warn_of_condition(reading_, sends_warnings_);
        const auto flights = flights_of(plan_, nullptr, sends_violations_, sends_warnings_);
        if (!replay(plan_, flights, sends_violations_, sends_warnings_)) too_large_ = true;
    }

    void tell_lacks() {
        warnings_.add("lacks",
                      "link rates and latencies are in TE-CCL's input and not in this file: what a link "
                      "carries in an epoch, and how long it takes, is not judged");
        if (goal_ == CollectiveKind::Custom) {
            warnings_.add("lacks",
                          "the file names no collective and its demands make none that has a name; only they "
                          "are judged (--as names one)");
        }
        if (parts_unknown_) {
            warnings_.add("lacks",
                          "chunks are split and the file has no \"8-Chunk paths\": which part goes where is "
                          "not said, so that those chunks are not judged");
        }
    }

    void tell_cost() {
        std::int64_t needed = 0;
        for (const EpochFlow& flow : schedule_.flows) needed = std::max(needed, flow.hop.epoch + 1);
        for (const EpochDemand& demand : schedule_.demands) {
            if (demand.met) needed = std::max(needed, *demand.met + 1);
        }
        const std::int64_t epochs = std::max(needed, schedule_.epochs.value_or(0));
        if (schedule_.epochs && *schedule_.epochs < needed) {
            warnings_.add("claim", fmt::format("the file says {} epochs, its flows and demands take {}",
                                               *schedule_.epochs, needed));
        }
        verdict_.own_cost =
            schedule_.epoch_duration
                ? fmt::format("{} epochs of {:g} s: {:g} s", epochs, *schedule_.epoch_duration,
                              static_cast<double>(epochs) * *schedule_.epoch_duration)
                : fmt::format("{} epochs", epochs);
    }

    const EpochSchedule& schedule_;
    const PlanReading& reading_;
    Findings violations_, warnings_;
    Findings sends_violations_, sends_warnings_;  ///< of the sends, in dense numbers
    plan::PlanVerdict verdict_;
    EpochChunks chunks_;
    plan::SendProgram plan_;
    std::set<EpochFlow> flows_;
    std::set<const EpochFlow*> used_;  ///< in flows_
    CollectiveKind goal_ = CollectiveKind::Custom;
    std::optional<Rank> verdict_root_;  ///< as a rank
    bool parts_unknown_ = false, too_large_ = false;
};

}  // namespace

plan::PlanVerdict verify(const EpochSchedule& schedule, const PlanReading& reading) {
    return EpochVerifier(schedule, reading).run();
}

}  // namespace tutti::verify
