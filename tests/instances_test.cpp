// The instances that tutti ships: every one is synthesized, judged by both checkers, and held against what is
// known of it; together they cover what an instance can say.

#include "batch/expand.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/solu.hpp"
#include "io/source.hpp"
#include "source_dir.hpp"
#include "synth/synthesize.hpp"
#include "tests/support/both_checkers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace tutti;

namespace {

const std::string kFolder = TUTTI_SOURCE_DIR "/instances";

/// The second checker compares every send with every other.
constexpr std::size_t kFewSends = 800;

bool share_a_member(const Group& a, const Group& b) {
    return std::ranges::any_of(a.members,
                               [&](NodeId m) { return std::ranges::find(b.members, m) != b.members.end(); });
}

/// No two neighbours in the list are neighbours in number.
bool is_scattered(const Group& group) {
    if (group.members.size() < 3) return false;
    return std::ranges::adjacent_find(group.members, [](NodeId a, NodeId b) {
               return a.value() + 1 == b.value();
           }) == group.members.end();
}

std::map<std::string, std::map<std::string, io::SoluEntry>> known_optima(
    const std::vector<batch::Job>& jobs) {
    std::map<std::string, std::map<std::string, io::SoluEntry>> known;
    for (const batch::Job& job : jobs) {
        const std::string family = job.path.parent_path().filename();
        const auto [known_here, added] = known.try_emplace(family);
        if (!added) continue;
        for (const io::SoluEntry& entry : io::read_solu(kFolder + "/" + family + ".solu")) {
            if (entry.tag == io::SoluTag::Optimal) known_here->second.emplace(entry.name, entry);
        }
    }
    return known;
}

}  // namespace

TEST_CASE("every instance is synthesized and verified, never below a proven optimum") {
    const auto jobs = batch::expand({kFolder});
    const auto optima = known_optima(jobs);
    std::size_t twice = 0;
    for (const batch::Job& job : jobs) {
        CAPTURE(job.path.string());
        const Instance instance = io::read_instance(job.path.string());
        CHECK(instance.name() == job.path.stem().string());
        synth::Request greedily;
        greedily.method = "greedy";  // proofs are for tests/synth and the bench
        const synth::Result result = synth::synthesize(instance, greedily);
        const auto& known = optima.at(job.path.parent_path().filename());
        if (const auto entry = known.find(instance.name()); entry != known.end()) {
            CHECK(result.schedule.makespan >= *entry->second.value);
            CHECK(result.bound.value <= *entry->second.value);
        }
        if (result.schedule.sends.size() > kFewSends) continue;
        CHECK(test::broken(instance, result.schedule).empty());
        ++twice;
    }
    CHECK(jobs.size() >= 60);
    CHECK(twice >= 60);
}

TEST_CASE("the instances cover all kinds, many families, and groups of every sort") {
    std::set<std::string> families;
    std::set<CollectiveKind> kinds;
    std::size_t scattered = 0, overlapping = 0, at_once = 0, broken = 0, switched = 0, confined = 0;
    for (const batch::Job& job : batch::expand({kFolder})) {
        const Instance instance = io::read_instance(job.path.string());
        families.insert(job.path.parent_path().filename());
        const auto& groups = instance.groups();
        for (const Collective& collective : instance.collectives()) {
            kinds.insert(collective.kind);
            confined += collective.forwarding == Forwarding::Group ? 1U : 0U;
        }
        scattered += std::ranges::any_of(groups, is_scattered) ? 1U : 0U;
        at_once += instance.collectives().size() > 1 ? 1U : 0U;
        switched += instance.topology().switches() > 0 ? 1U : 0U;
        for (std::size_t i = 1; i < groups.size(); ++i) {
            if (!share_a_member(groups[i - 1], groups[i])) continue;
            ++overlapping;
            break;
        }
        io::Source source(job.path.string());
        const io::Json json = io::parse_json(source);
        broken += json["topology"].contains("remove") || json["topology"].contains("slow") ? 1U : 0U;
    }
    CHECK(families.size() >= 8);
    CHECK(kinds.size() == 12);
    for (const std::size_t count : {scattered, overlapping, at_once, broken, switched, confined})
        CHECK(count >= 3);
}
