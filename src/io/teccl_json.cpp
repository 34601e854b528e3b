#include "io/teccl_json.hpp"

#include "io/plan_field.hpp"
#include "io/text_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

// The file's facts are sentences. Each kind has one pattern, scanned from left to right; a sentence that
// differs is rejected and quoted. (Patterns from microsoft/TE-CCL, teccl/solvers/allgather.py and
// alltoall.py: all-gathers separate switches by " -> ", all-to-alls by "->"; commas are accepted too.)

namespace tutti::io {
namespace {

using plan::EpochDemand;
using plan::EpochFlow;
using plan::EpochHop;
using plan::EpochSchedule;
using plan::PlanNode;

constexpr double kMostSeconds = 1e18;
constexpr std::int64_t kMostEpoch = std::int64_t{1} << 40U;

std::string shown(std::string_view text) {
    constexpr std::size_t kMost = 100;
    std::string result(text.substr(0, kMost));
    std::ranges::replace_if(
        result, [](char ch) { return ch < ' ' || ch > '~'; }, '?');
    return text.size() > kMost ? result + "..." : result;
}

[[noreturn]] void refuse(const PlanField& place, std::string_view pattern, std::string_view found) {
    place.fail("bad-line", fmt::format("expected \"{}\", found \"{}\"", pattern, shown(found)));
}

bool take_node(TextScanner& text, PlanNode& node) {
    std::int32_t number = 0;
    if (!text.take_number(number)) return false;
    node = plan::id_of<PlanNode>(number);
    return true;
}

bool take_switches(TextScanner& text, std::vector<PlanNode>& switches) {
    if (!text.take(" via switches ")) return true;
    do {
        PlanNode node;
        if (!take_node(text, node)) return false;
        switches.push_back(node);
    } while (text.take(" -> ") || text.take("->") || text.take(", ") || text.take(","));
    return true;
}

constexpr std::string_view kHopPattern = "A->B [with volume V] in epoch K [via switches X,Y]";

bool take_hop(TextScanner& text, EpochHop& hop) {
    if (!take_node(text, hop.from) || !text.take("->") || !take_node(text, hop.to)) return false;
    if (text.take(" with volume ") && !text.take_decimal(hop.volume)) return false;
    return text.take(" in epoch ") && text.take_number(hop.epoch) && hop.epoch <= kMostEpoch &&
           take_switches(text, hop.switches) && text.at_end();
}

EpochFlow read_flow(const PlanField& field) {
    const std::string line = field.string();
    TextScanner text(line);
    EpochFlow flow;
    const bool read = text.take("Chunk ") && text.take_number(flow.chunk) && text.take(" from ") &&
                      take_node(text, flow.origin) && text.take(" traveled over ") &&
                      take_hop(text, flow.hop);
    if (!read) refuse(field, fmt::format("Chunk C from S traveled over {}", kHopPattern), line);
    return flow;
}

EpochHop read_hop(const PlanField& field) {
    const std::string line = field.string();
    TextScanner text(line);
    EpochHop hop;
    if (!take_hop(text, hop)) refuse(field, kHopPattern, line);
    return hop;
}

/// All-gathers list the hops of the one path; all-to-alls list paths, each of pairs [epoch, hop].
void read_paths(const PlanField& list, EpochDemand& demand) {
    if (list.size() == 0) return;
    if (list[0].view().is_string()) {
        demand.paths.emplace_back();
        for (std::size_t i = 0; i < list.size(); ++i) demand.paths[0].push_back(read_hop(list[i]));
        return;
    }
    for (std::size_t p = 0; p < list.size(); ++p) {
        const PlanField path = list[p];
        demand.paths.emplace_back();
        for (std::size_t i = 0; i < path.size(); ++i) {
            const PlanField pair = path[i];
            if (pair.size() != 2) pair.fail("bad-value", "expected [epoch, hop]");
            const std::int64_t epoch = pair[0].integer(0);
            demand.paths.back().push_back(read_hop(pair[1]));
            if (demand.paths.back().back().epoch != epoch)
                pair.fail("bad-value", "expected the same epoch twice");
        }
    }
}

void read_demands(const PlanField& object, EpochSchedule& schedule) {
    for (const auto& [key, paths] : object.fields()) {
        TextScanner text(key);
        EpochDemand demand;
        std::int64_t met = 0;
        const bool read = text.take("Demand at ") && take_node(text, demand.node) &&
                          text.take(" for chunk ") && text.take_number(demand.chunk) && text.take(" from ") &&
                          take_node(text, demand.origin) && text.take(" met by epoch ") &&
                          text.take_number(met) && met <= kMostEpoch && text.at_end();
        if (!read) refuse(paths, "Demand at D for chunk C from S met by epoch K", key);
        demand.met = met;
        read_paths(paths, demand);
        schedule.demands.push_back(std::move(demand));
    }
}

template <class Integer>
Integer numbered(const PlanField& place, std::string_view word, const std::string& key) {
    TextScanner text(key);
    Integer number = 0;
    if (!text.take(word) || !text.take_number(number) || !text.at_end())
        refuse(place, fmt::format("{}N", word), key);
    return number;
}

std::vector<EpochDemand> read_all_gathered(const PlanField& object) {
    std::vector<EpochDemand> demands;
    for (const auto& [node, origins] : object.fields()) {
        for (const auto& [origin, chunks] : origins.fields()) {
            for (const auto& [chunk, time] : chunks.fields()) {
                EpochDemand demand;
                demand.node = plan::id_of<PlanNode>(numbered<std::int32_t>(origins, "GPU ", node));
                demand.origin = plan::id_of<PlanNode>(numbered<std::int32_t>(chunks, "GPU ", origin));
                demand.chunk = numbered<std::int64_t>(time, "Chunk ", chunk);
                (void)time.number(0, kMostSeconds);
                demands.push_back(std::move(demand));
            }
        }
    }
    return demands;
}

/// "7-Flows" is "flows": the number is the position in the file and changes between versions.
std::string plain_key(std::string_view key) {
    const auto dash = key.find('-');
    if (dash != key.npos && dash > 0 &&
        std::ranges::all_of(key.substr(0, dash), [](char ch) { return ch >= '0' && ch <= '9'; })) {
        key.remove_prefix(dash + 1);
    }
    std::string plain(key);
    std::ranges::transform(plain, plain.begin(), [](char ch) {
        return ch >= 'A' && ch <= 'Z' ? static_cast<char>(ch - 'A' + 'a') : ch;
    });
    return plain;
}

EpochSchedule read_epochs(const PlanField& root) {
    EpochSchedule schedule;
    bool has_flows = false;
    for (const auto& [key, field] : root.fields()) {
        const std::string plain = plain_key(key);
        if (plain == "flows") {
            has_flows = true;
            for (std::size_t i = 0; i < field.size(); ++i) schedule.flows.push_back(read_flow(field[i]));
        } else if (plain == "chunk paths") {
            schedule.has_paths = true;
            read_demands(field, schedule);
        } else if (plain == "demand_met") {
            schedule.all_gathered = read_all_gathered(field);
        } else if (plain == "epoch_duration") {
            schedule.epoch_duration = field.number(0, kMostSeconds);
        } else if (plain == "collective_finish_time") {
            schedule.finish_time = field.number(0, kMostSeconds);
        } else if (plain == "epochs_required") {
            schedule.epochs = field.integer(0);
        }
    }
    if (!has_flows) root.fail("missing-key", "expected a field '7-Flows', found none");
    return schedule;
}

}  // namespace

EpochSchedule read_teccl_json(Source& source) { return read_plan_json(source, read_epochs); }

}  // namespace tutti::io
