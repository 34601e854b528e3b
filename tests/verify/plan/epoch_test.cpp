// Schedules of TE-CCL.

#include "io/teccl_json.hpp"
#include "tests/support/send_plans.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;
using plan::EpochSchedule;
using plan::kWholeVolume;

namespace {

EpochSchedule file(const std::string& name) {
    io::Source source(step_file(name));
    return io::read_teccl_json(source);
}
EpochSchedule mesh() { return file("teccl-mesh4.json"); }
EpochSchedule split() { return file("teccl-alltoall-excerpt.json"); }

/// An all-gather of three nodes in a line, 4 - 5 - 7, with nothing but what is needed.
EpochSchedule line() {
    EpochSchedule schedule;
    schedule.flows = {{4_n, 0, {4_n, 5_n, 0}}, {5_n, 0, {5_n, 4_n, 0}}, {5_n, 0, {5_n, 7_n, 0}},
                      {7_n, 0, {7_n, 5_n, 0}}, {4_n, 0, {5_n, 7_n, 1}}, {7_n, 0, {5_n, 4_n, 1}}};
    return schedule;
}

std::string told_epochs(const EpochSchedule& schedule, const verify::PlanReading& reading = {}) {
    return told(judged(schedule, reading));
}

}  // namespace

TEST_CASE("an all-gather that TE-CCL made is valid") {
    const auto verdict = judged(mesh());
    CHECK(told(verdict) == "valid");
    CHECK(verdict.collective == "allgather");
    CHECK(verdict.format == "teccl-json");
    CHECK(verdict.mode == "epochs");
    CHECK(verdict.ranks == 16);
    CHECK(verdict.own_cost == "8 epochs of 1 s: 8 s");
    CHECK(warned(verdict) == "lacks");
}

TEST_CASE("an all-to-all that TE-CCL made with split chunks is valid") {
    const auto verdict = judged(split());
    CHECK(told(verdict) == "valid");
    CHECK(verdict.collective == "alltoall");
    CHECK(verdict.ranks == 3);
}

TEST_CASE("a node sends on only what reached it in an earlier epoch") {
    auto schedule = line();
    CHECK(told_epochs(schedule, as(CollectiveKind::AllGather)) == "valid");
    schedule.flows[4].hop.epoch = 0;
    const auto verdict = judged(schedule, as(CollectiveKind::AllGather));
    CHECK(told(verdict) == "invalid: not-held value");
    CHECK(verdict.violations[0].message ==
          "node 5 sends chunk 0 of node 4 to node 7 in epoch 0, but does not have it then: node 4 sends it "
          "there in "
          "epoch 0");
    CHECK(verdict.violations[0].place.gpu == Rank(5));
}

TEST_CASE("an all-gather gives a chunk's arrival, and the chunk is forwarded no earlier") {
    auto schedule = mesh();
    // Chunk 0 of node 10 goes 10 -> 6 -> 5 -> 4 -> 0 and is at node 5 by the end of epoch 1.
    auto& demand = *std::ranges::find_if(schedule.demands, [](const plan::EpochDemand& each) {
        return each.node == 5_n && each.origin == 10_n;
    });
    CHECK(demand.met == 1);
    demand.met = 2;
    CHECK(told_epochs(schedule) == "valid");
    demand.met = 3;
    CHECK(told_epochs(schedule).starts_with("invalid: not-held"));
}

TEST_CASE("without a collective's name the demands determine it, or the verdict is structure-only") {
    CHECK(told_epochs(line()) == "structure-only");
    CHECK(warned(judged(line())) == "lacks lacks");
    auto schedule = line();
    // All-to-all of two nodes, from 4 to 5 and back.
    schedule.flows.resize(2);
    schedule.demands = {{5_n, 4_n, 0, 0, {{{4_n, 5_n, 0}}}}, {4_n, 5_n, 0, 0, {{{5_n, 4_n, 0}}}}};
    schedule.has_paths = true;
    CHECK(told_epochs(schedule) == "valid");
    CHECK(told_epochs(schedule, as(CollectiveKind::AllToAll)) == "valid");
}

TEST_CASE("every rank must get every chunk of an all-gather, listed as a demand or not") {
    auto schedule = mesh();
    const auto lost = schedule.demands.back();
    schedule.demands.pop_back();
    CHECK(told_epochs(schedule) == "valid");
    std::erase_if(schedule.flows, [&](const plan::EpochFlow& flow) {
        return flow.origin == lost.origin && flow.hop.to == lost.node;
    });
    CHECK(told_epochs(schedule) == "invalid: value");
}

TEST_CASE("every pair of an all-to-all must have its demand") {
    auto schedule = split();
    schedule.demands.erase(schedule.demands.begin());
    CHECK(told_epochs(schedule) == "structure-only");
    const auto verdict = judged(schedule, as(CollectiveKind::AllToAll));
    CHECK(told(verdict) == "invalid: value");
    CHECK(verdict.violations[0].message.find("demands nothing of node") != std::string::npos);
    CHECK(told_epochs(mesh(), as(CollectiveKind::AllToAll)).starts_with("invalid: value"));
}

TEST_CASE("the parts of a chunk sum to one, within TE-CCL's rounding") {
    auto schedule = split();
    auto& demand =
        *std::ranges::find_if(schedule.demands, [](const auto& each) { return each.paths.size() == 4; });
    demand.paths.pop_back();
    const auto verdict = judged(schedule);
    CHECK(told(verdict) == "invalid: value");
    CHECK(verdict.violations[0].message.find("carry 0.750000 of it") != std::string::npos);

    // One chunk from 4 to 5 in two parts.
    const auto with_parts = [](std::int64_t first, std::int64_t second) {
        EpochSchedule two;
        two.flows = {{4_n, 0, {4_n, 5_n, 0, first}}, {4_n, 0, {4_n, 5_n, 1, second}}};
        two.demands = {{5_n, 4_n, 0, 1, {{{4_n, 5_n, 0, first}}, {{4_n, 5_n, 1, second}}}}};
        two.has_paths = true;
        return two;
    };
    constexpr std::int64_t kHalf = kWholeVolume / 2, kTiny = kWholeVolume / 1'000'000;
    CHECK(told_epochs(with_parts(kHalf, kHalf), as(CollectiveKind::Broadcast)) == "valid");
    CHECK(told_epochs(with_parts(kHalf, kHalf + 12 * kTiny), as(CollectiveKind::Broadcast)) == "valid");
    CHECK(told_epochs(with_parts(kHalf, kHalf - 12 * kTiny), as(CollectiveKind::Broadcast)) == "valid");
    CHECK(told_epochs(with_parts(kHalf, kHalf + 12 * kTiny + 1), as(CollectiveKind::Broadcast)) ==
          "invalid: value");
    CHECK(told_epochs(with_parts(kHalf, kHalf - 12 * kTiny - 1), as(CollectiveKind::Broadcast)) ==
          "invalid: value");
}

TEST_CASE("without paths it is unknown which part a flow carries") {
    auto schedule = split();
    schedule.demands.clear();
    schedule.has_paths = false;
    CHECK(told_epochs(schedule, as(CollectiveKind::AllToAll)).starts_with("invalid"));  // no demands are left
    EpochSchedule part;
    part.flows = {{4_n, 0, {4_n, 5_n, 0, kWholeVolume / 2}}};
    part.all_gathered = std::vector<plan::EpochDemand>{{5_n, 4_n, 0, {}, {}}, {4_n, 5_n, 0, {}, {}}};
    part.flows.push_back({5_n, 0, {5_n, 4_n, 0}});
    const auto verdict = judged(part);
    CHECK(told(verdict) == "structure-only");
    CHECK(warned(verdict) == "lacks lacks");
}

TEST_CASE("a path goes from origin to demand, hop after hop, over flows of the file") {
    const auto with_path = [](auto change) {
        auto schedule = mesh();
        auto& path = std::ranges::find_if(schedule.demands, [](const plan::EpochDemand& each) {
                         return each.node == 0_n && each.origin == 10_n;
                     })->paths[0];
        change(path);
        return told_epochs(schedule);
    };
    using Path = std::vector<plan::EpochHop>;
    CHECK(with_path([](Path&) {}) == "valid");
    CHECK(with_path([](Path& path) { path.erase(path.begin() + 1); }) == "invalid: path");
    CHECK(with_path([](Path& path) { path.pop_back(); }) == "invalid: path");
    CHECK(with_path([](Path& path) { path[3].epoch = 7; }) == "invalid: path");
    CHECK(with_path([](Path& path) { std::swap(path[1].epoch, path[2].epoch); }) == "invalid: path");
    CHECK(with_path([](Path& path) { path.clear(); }) == "invalid: path value");
    auto schedule = split();
    for (auto& demand : schedule.demands) {
        for (auto& path : demand.paths) {
            if (path.size() > 1) path.back().volume /= 2;
        }
    }
    CHECK(told_epochs(schedule).find("path") != std::string::npos);
}

TEST_CASE("flows on no path and epochs too few are warned of") {
    auto schedule = mesh();
    schedule.flows.push_back({0_n, 0, {0_n, 1_n, 7}});
    CHECK(warned(judged(schedule)) == "redundant lacks redundant");
    schedule = mesh();
    schedule.epochs = 7;
    const auto verdict = judged(schedule);
    CHECK(warned(verdict) == "lacks claim");
    CHECK(verdict.own_cost == "8 epochs of 1 s: 8 s");
}

TEST_CASE("an empty TE-CCL schedule is no collective") {
    CHECK(told_epochs({}) == "structure-only");
    CHECK(told_epochs({}, as(CollectiveKind::AllGather)) == "invalid: value");
}
