#include "io/perfetto_json.hpp"

#include "core/rng.hpp"
#include "io/json_view.hpp"
#include "tests/io/scratch.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/random_schedule.hpp"
#include "verify/schedule_verifier.hpp"
#include "verify/send_times.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

using namespace tutti;
using namespace tutti::test;

namespace {

/// In pieces of `piece` sends, so that ticks are cut anywhere.
std::vector<TimedSend> times_of(const Instance& instance, const Schedule& schedule, std::size_t piece = 3) {
    verify::SendTimes times(instance);
    std::vector<TimedSend> timed;
    std::span<const Send> rest(schedule.sends);
    while (!rest.empty()) {
        times.take(rest.first(std::min(piece, rest.size())), timed);
        rest = rest.subspan(std::min(piece, rest.size()));
    }
    times.finish(timed);
    return timed;
}

io::Json trace_of(const Instance& instance, const Schedule& schedule) {
    const Scratch scratch;
    const std::string path = scratch.path("trace.json");
    io::PerfettoWriter writer(path, instance);
    writer.append(times_of(instance, schedule));
    writer.finish(schedule.makespan);
    return io::Json::parse(content_of(path));
}

/// Sends that are valid but for what they leave undone, in order; none where luck does not find any.
std::optional<Schedule> random_valid(const Instance& instance, Rng& rng) {
    for (std::size_t steps = 12; steps > 0; --steps) {
        Schedule schedule = random_walk(instance, rng, steps);
        std::ranges::sort(schedule.sends, starts_before);
        const Verdict verdict = verify::verify(instance, schedule, {.max_violations = 1000});
        const bool fine = std::ranges::all_of(verdict.violations, [](const Violation& v) {
            return v.rule == Rule::DemandUnmet || v.rule == Rule::DemandWrong ||
                   v.rule == Rule::MakespanMismatch;
        });
        schedule.makespan = verdict.makespan;
        if (fine && verdict.violation_count <= 1000 && !schedule.sends.empty()) return schedule;
    }
    return std::nullopt;
}

bool cuts_through(const Instance& instance, const Schedule& schedule) {
    return std::ranges::any_of(schedule.sends, [&](const Send& send) {
        return instance.topology().is_cut_through(instance.topology().link(send.link).src);
    });
}

/// The events of a kind ("X").
std::vector<io::Json> events(const io::Json& trace, const std::string& kind) {
    std::vector<io::Json> found;
    for (const io::Json& event : trace["traceEvents"]) {
        if (event["ph"] == kind) found.push_back(event);
    }
    return found;
}

/// Times of a trace are microseconds with at most three decimals.
std::int64_t nanoseconds_in(const io::Json& time) { return std::llround(time.get<double>() * 1000); }

std::int64_t nanoseconds(Ticks ticks, const Instance& instance) {
    const bool physical = instance.topology().units() == Units::Physical;
    return physical ? ticks.count() / 1000 : ticks.count() * 1000;
}

}  // namespace

TEST_CASE("a cut-through path keeps all its links busy as long as its slowest") {
    Net net(2);
    const std::size_t first = net.add_switch({.cut_through = true});
    const std::size_t second = net.add_switch({.cut_through = true});
    net.link(0, first, 1, 2).link(first, second, 0, 7).link(second, 1, 4, 3);
    const Instance instance = on_all(net, {custom({0}, {1})});
    const Schedule way = schedule(12, {copy(0, 0, 0), copy(0, 1, 1), copy(0, 2, 1)});
    REQUIRE(verify::verify(instance, way).valid());
    auto timed = times_of(instance, way);
    std::ranges::sort(timed, {}, [](const TimedSend& t) { return t.send.link; });
    REQUIRE(timed.size() == 3);
    CHECK(timed[0] == TimedSend{way.sends[0], Ticks(0 + 7), Ticks(0 + 1 + 2)});
    CHECK(timed[1] == TimedSend{way.sends[1], Ticks(1 + 7), Ticks(1 + 0 + 7)});
    CHECK(timed[2] == TimedSend{way.sends[2], Ticks(1 + 7), Ticks(1 + 4 + 7)});
}

TEST_CASE("the times of a valid schedule's sends overlap on no link and end with its makespan") {
    std::size_t schedules = 0, through = 0;
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const Instance instance(random_instance(rng));
        const auto found = random_valid(instance, rng);
        if (!found) continue;
        const Schedule& schedule = *found;
        ++schedules;
        through += cuts_through(instance, schedule) ? 1U : 0U;
        const auto timed = times_of(instance, schedule, 1 + rng.below(5));
        REQUIRE(timed.size() == schedule.sends.size());
        std::map<LinkId, std::map<Ticks, Ticks>> busy;
        Ticks end{};
        for (const auto& [send, free, arrive] : timed) {
            CHECK(free > send.start);
            CHECK(busy[send.link].emplace(send.start, free).second);
            end = std::max(end, arrive);
        }
        CHECK(end == schedule.makespan);
        for (const auto& [link, spans] : busy) {
            for (auto span = spans.begin(); std::next(span) != spans.end(); ++span)
                CHECK(span->second <= std::next(span)->first);
        }
    }
    CHECK(schedules > 200);
    CHECK(through > 20);
}

TEST_CASE("a trace has every send's link, start, duration and arrival, and reads back as the schedule") {
    std::size_t schedules = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const Instance instance(random_instance(rng, {.physical = seed % 2 == 0}));
        const auto found = random_valid(instance, rng);
        if (!found) continue;
        const Schedule& schedule = *found;
        ++schedules;
        const io::Json trace = trace_of(instance, schedule);
        const std::size_t nodes = instance.topology().nodes();
        std::map<std::int64_t, std::string> processes, threads;
        for (const io::Json& event : events(trace, "M")) {
            if (event["name"] == "process_name")
                processes[event["pid"].get<std::int64_t>()] = event["args"]["name"];
            if (event["name"] == "thread_name")
                threads[event["tid"].get<std::int64_t>()] = event["args"]["name"];
        }
        std::vector<TimedSend> read;
        std::map<LinkId, std::vector<std::pair<std::int64_t, std::int64_t>>> tracks;
        for (const io::Json& event : events(trace, "X")) {
            const LinkId link(event["tid"].get<std::size_t>() - nodes - 1);
            const ChunkId chunk(event["args"]["chunk"].get<std::size_t>());
            CHECK(processes.at(event["pid"].get<std::int64_t>()) ==
                  name_of(instance.topology(), instance.topology().link(link).src));
            CHECK(threads.at(event["tid"].get<std::int64_t>()) == name_of(instance.topology(), link));
            CHECK(event["args"]["group"] == instance.group_of(chunk).name);
            CHECK(event["args"]["collective"] == instance.collective_of(chunk).id);
            const auto ticks = [&](const char* name) {
                return Ticks(event["args"][name].get<std::int64_t>());
            };
            const Op op = event["args"]["op"] == "reduce" ? Op::Reduce : Op::Copy;
            read.push_back(
                {{chunk, link, ticks("start_tick"), op}, ticks("free_tick"), ticks("arrive_tick")});
            const std::int64_t start = nanoseconds_in(event["ts"]), length = nanoseconds_in(event["dur"]);
            CHECK(start == nanoseconds(ticks("start_tick"), instance));
            CHECK(start + length == nanoseconds(ticks("free_tick"), instance));
            tracks[link].emplace_back(start, start + length);
        }
        CHECK(read == times_of(instance, schedule));
        // A viewer drops what begins before the event before it on its track has ended.
        for (auto& [link, spans] : tracks) {
            std::ranges::sort(spans);
            for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i - 1].second <= spans[i].first);
        }
        CHECK(trace["otherData"]["makespan_ticks"] == schedule.makespan.count());
    }
    CHECK(schedules > 20);
}

TEST_CASE("times in physical units are whole nanoseconds, and exact among the arguments") {
    TopologyParts topology;
    topology.npus = 2;
    topology.links = {{NodeId(0), NodeId(1), Wire{Ticks(500), Ticks(), decimal_from(1)}}};
    InstanceParts parts{"two", topology, {{"all", nodes({0, 1})}}, {custom({0}, {1})}};
    parts.collectives[0].chunk_bytes = {1'000'001};
    const Instance instance(std::move(parts));
    const Scratch scratch;
    io::PerfettoWriter writer(scratch.path("t"), instance);
    writer.append(times_of(instance, schedule(0, {copy(0, 0, 9'007'199'254'740'993)})));
    writer.finish(Ticks(0));
    const std::string text = content_of(scratch.path("t"));
    CHECK(contains(text, R"("ts":9007199254.740,"dur":1000.001,)"));
    CHECK(contains(text, R"("start_tick":9007199254740993,"free_tick":9007200254741993,)"));
    CHECK(contains(text, R"("arrive_tick":9007200254742493})"));
}

TEST_CASE("a schedule too long for 64 bits of nanoseconds is refused") {
    const Instance instance = on_all(line(2, 0, 1), {custom({0}, {1})});
    const Scratch scratch;
    io::PerfettoWriter writer(scratch.path("t"), instance);
    const auto sends = times_of(instance, schedule(0, {copy(0, 0, 10'000'000'000'000'000)}));
    CHECK(contains(test::refusal([&] { writer.append(sends); }).message(), "at most 9223372036854775 ticks"));
}

TEST_CASE("an arrow leads from each arrival to the sends that it makes possible") {
    // 0 and 1 send to 2, which adds and passes on to 3 and 4.
    Net net(5);
    net.link(0, 2, 1, 1).link(1, 2, 1, 1).link(2, 3, 1, 1).link(2, 4, 1, 1);
    const Instance instance = on_all(net, {custom({0, 1}, {3, 4}, true)});
    const Schedule sum = schedule(6, {reduce(0, 0, 0), reduce(0, 1, 1), copy(0, 2, 3), copy(0, 3, 4)});
    const io::Json trace = trace_of(instance, sum);
    const auto link = [](const io::Json& event) { return event["tid"].get<int>() - 6; };
    std::map<int, std::pair<int, int>> arrows;
    for (const io::Json& event : events(trace, "s")) arrows[event["id"].get<int>()].first = link(event);
    for (const io::Json& event : events(trace, "f")) {
        CHECK(event["bp"] == "e");
        arrows[event["id"].get<int>()].second = link(event);
    }
    std::vector<std::pair<int, int>> ends;
    for (const auto& [id, arrow] : arrows) ends.push_back(arrow);
    std::ranges::sort(ends);
    CHECK(ends == std::vector<std::pair<int, int>>{{0, 2}, {1, 2}, {1, 3}});
}

TEST_CASE("the counter is the share of links that are busy") {
    Collective exchange = custom({0}, {1});
    exchange.demands.push_back({nodes({1}), nodes({0}), false, {}});
    const Instance instance = on_all(line(2, 0, 2), {exchange});
    const io::Json trace = trace_of(instance, schedule(3, {copy(0, 0, 0), copy(1, 1, 1)}));
    std::map<int, double> shares;
    for (const io::Json& event : events(trace, "C"))
        shares[event["ts"].get<int>()] = event["args"]["share"].get<double>();
    CHECK(shares == std::map<int, double>{{0, 0.5}, {1, 1.0}, {2, 0.5}, {3, 0.0}});
}

TEST_CASE("a long schedule has no arrows, and the trace notes it") {
    const Instance instance = on_all(line(3, 0, 1), {custom({0}, {2})});
    Schedule there_and_back = schedule(0, {});
    const auto most = static_cast<std::int64_t>(io::PerfettoWriter::kMaxArrowSends);
    for (std::int64_t i = 0; i <= most; ++i)
        there_and_back.sends.push_back(copy(0, static_cast<std::size_t>(i % 2), i));
    CHECK(events(trace_of(instance, there_and_back), "s").empty());
    CHECK(trace_of(instance, there_and_back)["otherData"]["arrows"] == false);
    there_and_back.sends.pop_back();
    CHECK(events(trace_of(instance, there_and_back), "s").size() == static_cast<std::size_t>(most) - 1);
}
