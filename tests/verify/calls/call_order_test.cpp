// Calls across groups: small ones by hand, a million in one go, and random ones against an explorer of all
// interleavings.

#include "verify/calls/call_order.hpp"
#include "core/rng.hpp"
#include "io/call_list_json.hpp"
#include "tests/oracle/call_interleavings.hpp"
#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

using namespace tutti;
using namespace tutti::test;
using plan::Call;
using plan::CallKind;
using plan::CallList;
using verify::CallClass;
using verify::CallVerdict;

namespace {

CallList calls(const std::string& text) {
    io::Source source = io::Source::of_text(text, "calls.json");
    return io::read_call_list_json(source);
}

std::string two(const std::string& first, const std::string& second) {
    return R"({"tutti_calls": 1, "groups": {"tp": [0, 1], "dp": [0, 1]}, "ranks": [[)" + first + "], [" +
           second + "]]}";
}

std::multiset<std::string> codes(const CallVerdict& verdict) {
    std::multiset<std::string> all;
    for (const auto& finding : verdict.violations) all.insert(finding.code);
    return all;
}

const std::string kSum = R"({"call": "all_reduce", "group": "tp", "count": 4, "dtype": "f32", "op": "sum"})";
const std::string kGather = R"({"call": "all_gather", "group": "dp", "count": 4})";

bool has(const CallVerdict& verdict, const std::set<std::string>& wanted) {
    return std::ranges::any_of(verdict.violations,
                               [&](const auto& finding) { return wanted.contains(finding.code); });
}

/// A few calls that fit together, and then some changes that may spoil them.
CallList random_calls(Rng& rng) {
    CallList list;
    const auto any = [&](std::size_t limit) { return static_cast<std::uint32_t>(rng.below(limit)); };
    const std::uint32_t ranks = 2 + any(3), groups = 1 + any(3);
    list.ranks.resize(ranks);
    list.names = {"", "a", "b"};
    for (std::uint32_t g = 0; g < groups; ++g) {
        plan::CallGroup group{fmt::format("g{}", g), {}, false, {}};
        for (std::uint32_t r = 0; r < ranks; ++r) {
            if (any(3) > 0) group.members.push_back(r);
        }
        if (group.members.empty()) group.members.push_back(any(ranks));
        list.groups.push_back(group);
    }
    const std::uint32_t streams = 1 + any(3), steps = 2 + any(4);
    for (auto& rank : list.ranks) rank.known = true;
    for (std::uint32_t step = 0; step < steps; ++step) {
        Call call;
        call.stream = any(streams);
        call.group = any(groups);
        if (any(4) > 0) {
            call.kind = CallKind::AllReduce;
            for (const std::uint32_t r : list.groups[call.group].members) {
                if (any(8) == 0) call.stream = any(streams);
                list.ranks[r].calls.push_back(call);
            }
        } else {
            const std::uint32_t from = any(ranks), to = any(ranks);
            call.group = 0;
            call.kind = CallKind::Send;
            call.buffered = any(3) == 0;
            call.peer = static_cast<std::int32_t>(to);
            list.ranks[from].calls.push_back(call);
            call.kind = CallKind::Receive;
            call.buffered = false;
            call.peer = static_cast<std::int32_t>(from);
            if (any(2) == 0) call.stream = any(streams);
            list.ranks[to].calls.push_back(call);
        }
    }
    for (auto& rank : list.ranks) {
        auto& own = rank.calls;
        if (own.size() > 1 && any(2) == 0) {
            const std::size_t at = any(own.size() - 1);
            std::swap(own[at], own[at + 1]);
        }
        if (!own.empty() && any(12) == 0) own.erase(own.begin() + any(own.size()));
        if (any(4) == 0) {
            Call wait;
            wait.kind = CallKind::Wait;
            wait.whole_host = any(2) == 0;
            wait.stream = any(streams);
            own.insert(own.begin() + any(own.size() + 1), wait);
        }
        if (own.size() > 1 && any(4) == 0) {
            const std::size_t at = any(own.size() - 1);
            if (own[at].kind != CallKind::Wait && own[at + 1].kind != CallKind::Wait)
                own[at].batch = own[at + 1].batch = 1;
        }
        for (std::size_t i = 1; i < own.size(); ++i) {
            own[i].after_begin = own[i].after_end = static_cast<std::uint32_t>(rank.after.size());
            if (own[i].kind == CallKind::Wait || any(8) > 0) continue;
            rank.after.push_back(any(i));
            ++own[i].after_end;
        }
    }
    return list;
}

std::string text_of(const CallList& list) {
    std::string text;
    for (std::size_t g = 0; g < list.groups.size(); ++g) {
        text += fmt::format("g{}:", g);
        for (const auto member : list.groups[g].members) text += fmt::format(" {}", member);
        text += "\n";
    }
    for (std::size_t r = 0; r < list.ranks.size(); ++r) {
        text += fmt::format("rank {}:", r);
        for (const Call& call : list.ranks[r].calls) {
            text += fmt::format(" {}(g{} s{} p{}{}{}{}", name_of(call.kind), call.group, call.stream,
                                call.peer, call.buffered ? " buffered" : "", call.whole_host ? " all" : "",
                                call.batch == Call::kNone ? "" : " batch");
            for (auto i = call.after_begin; i < call.after_end; ++i)
                text += fmt::format(" after {}", list.ranks[r].after[i]);
            text += ")";
        }
        text += "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("calls of two groups in the same order everywhere end") {
    const CallVerdict verdict = verify::judge_calls(calls(two(kSum + "," + kGather, kSum + "," + kGather)));
    CHECK(verdict.verdict == CallClass::Valid);
    CHECK(verdict.calls == 4);
}

TEST_CASE("calls of two groups in opposite orders wait for each other, and the circle says where") {
    const CallList list = calls(two(kSum + "," + kGather, kGather + "," + kSum));
    const CallVerdict verdict = verify::judge_calls(list);
    REQUIRE(codes(verdict) == std::multiset<std::string>{"deadlock"});
    const auto& circle = verdict.violations[0].circle;
    REQUIRE(circle.size() == 2);
    for (const auto& order : circle) {
        CHECK(order.earlier.rank == order.later.rank);
        CHECK(order.earlier.call == 0);
        CHECK(order.later.call == 1);
    }
    CHECK(list.place_of(1, circle[0].later.call) == "/ranks/1/1");
}

TEST_CASE("on streams of their own they only need concurrency, until a host waits in between") {
    const std::string sum = kSum.substr(0, kSum.size() - 1) + R"(, "stream": "s"})";
    const std::string gather = kGather.substr(0, kGather.size() - 1) + R"(, "stream": "t"})";
    const CallVerdict apart = verify::judge_calls(calls(two(sum + "," + gather, gather + "," + sum)));
    CHECK(apart.verdict == CallClass::ValidIfConcurrent);
    CHECK(apart.warning_count == 1);
    const std::string wait = R"({"call": "wait"})";
    const CallVerdict waited =
        verify::judge_calls(calls(two(sum + "," + wait + "," + gather, gather + "," + wait + "," + sum)));
    CHECK(codes(waited) == std::multiset<std::string>{"deadlock"});
    const std::string other = R"({"call": "wait", "stream": "u"})";
    CHECK(verify::judge_calls(calls(two(sum + "," + other + "," + gather, gather + "," + other + "," + sum)))
              .verdict == CallClass::ValidIfConcurrent);
}

TEST_CASE("ranks that differ in what they call are found, whatever they differ in") {
    const auto found = [](const std::string& first, const std::string& second) {
        return codes(verify::judge_calls(calls(two(first, second))));
    };
    const auto with = [](const std::string& from, const std::string& to) {
        std::string text = kSum;
        return text.replace(text.find(from), from.size(), to);
    };
    using Codes = std::multiset<std::string>;
    CHECK(found(kSum, with("all_reduce", "reduce_scatter")) == Codes{"collective"});
    CHECK(found(kSum, with("\"count\": 4", "\"count\": 5")) == Codes{"count"});
    CHECK(found(kSum, with("f32", "bf16")) == Codes{"dtype"});
    CHECK(found(kSum, with("sum", "max")) == Codes{"operator"});
    // Types and operators have many names.
    CHECK(found(with("f32", "torch.float32"), with("f32", "MPI_FLOAT")) == Codes{});
    CHECK(found(with("f32", "half"), with("f32", "Float")) == Codes{"dtype"});
    CHECK(found(with("sum", "ReduceOp.SUM"), with("sum", "add")) == Codes{});
    CHECK(found(with("sum", "ncclSum"), with("sum", "mean")) == Codes{"operator"});
    CHECK(found(kSum, kSum + "," + kSum) == Codes{"missing-call"});
    CHECK(found(kSum, "") == Codes{"missing-call"});
    CHECK(found(R"({"call": "broadcast", "root": 0})", R"({"call": "broadcast", "root": 1})") ==
          Codes{"root"});
    CHECK(found(R"({"call": "send", "peer": 1})", "") == Codes{"unmatched-send"});
    CHECK(found("", R"({"call": "recv", "peer": 0})") == Codes{"unmatched-receive"});
    CHECK(found(R"({"call": "send", "peer": 1, "count": 3})",
                R"({"call": "receive", "peer": 0, "count": 4})") == Codes{"count"});
    CHECK(found(R"({"call": "all_to_all_v", "send_counts": [1, 2], "receive_counts": [1, 3]})",
                R"({"call": "all_to_all_v", "send_counts": [3, 1], "receive_counts": [2, 1]})") == Codes{});
    CHECK(found(R"({"call": "all_to_all_v", "send_counts": [1, 2], "receive_counts": [1, 3]})",
                R"({"call": "all_to_all_v", "send_counts": [4, 1], "receive_counts": [2, 1]})") ==
          Codes{"counts"});
    const std::string views = R"({"tutti_calls": 1, "groups": {"tp": [0, 1]}, "ranks": [
        {"calls": []}, {"groups": {"tp": [1, 0]}, "calls": []}, [{"call": "barrier", "group": "tp"}]]})";
    CHECK(codes(verify::judge_calls(calls(views))) == Codes{"members", "not-a-member"});
}

TEST_CASE("two sends towards each other hang unless one is buffered or they are begun together") {
    const auto pair = [](const std::string& addition, int peer) {
        return fmt::format(R"({{"call": "send", "peer": {0}{1}}}, {{"call": "receive", "peer": {0}}})", peer,
                           addition);
    };
    const CallVerdict hangs = verify::judge_calls(calls(two(pair("", 1), pair("", 0))));
    REQUIRE(codes(hangs) == std::multiset<std::string>{"deadlock"});
    CHECK(hangs.violations[0].message.find("not if sends are buffered") != std::string::npos);
    CHECK(verify::judge_calls(calls(two(pair(R"(, "buffered": true)", 1), pair("", 0)))).verdict ==
          CallClass::Valid);
    const auto together = [](int peer) {
        return fmt::format(R"({{"call": "send", "peer": {0}, "batch": 1}},
                              {{"call": "receive", "peer": {0}, "batch": 1}})",
                           peer);
    };
    CHECK(verify::judge_calls(calls(two(together(1), together(0)))).verdict == CallClass::Valid);
}

TEST_CASE("the verdict on random calls is that of every interleaving") {
    std::map<std::string, std::size_t> tally;
    for_seeds(cases(1000), [&](Rng& rng, std::uint64_t) {
        const CallList list = random_calls(rng);
        INFO(text_of(list));
        const CallVerdict verdict = verify::judge_calls(list);
        const auto strict = oracle::explore_calls(list);
        const auto forgiving = oracle::explore_calls(list, {.forgive_missing = true});
        // Nothing depends on the interleaving: all end, or all hang.
        REQUIRE((strict.ended == 0 || strict.hung == 0));
        REQUIRE((forgiving.ended == 0 || forgiving.hung == 0));
        const bool deadlock = has(verdict, {"deadlock"});
        CHECK(deadlock == (forgiving.hung > 0));
        CHECK(has(verdict, {"deadlock", "missing-call", "unmatched-send", "unmatched-receive"}) ==
              (strict.hung > 0));
        if (!deadlock) {
            const auto one = oracle::explore_calls(list, {.one_stream = true, .forgive_missing = true});
            CHECK((verdict.warning_count > 0) == (one.hung > 0));
        }
        ++tally[deadlock ? "deadlock" : verdict.warning_count > 0 ? "concurrency" : "fine"];
    });
    // The cases are worth something.
    CHECK(tally["deadlock"] > 0);
    CHECK(tally["fine"] > 0);
}

TEST_CASE("a circle is one: every call in it really waits for the one before") {
    for_seeds(cases(300), [&](Rng& rng, std::uint64_t) {
        const CallList list = random_calls(rng);
        INFO(text_of(list));
        for (const auto& finding : verify::judge_calls(list).violations) {
            if (finding.code != "deadlock") continue;
            REQUIRE_FALSE(finding.circle.empty());
            for (std::size_t i = 0; i < finding.circle.size(); ++i) {
                const auto& order = finding.circle[i];
                const auto& next = finding.circle[(i + 1) % finding.circle.size()];
                const Call& first = list.ranks[order.earlier.rank].calls[order.earlier.call];
                if (order.earlier.rank == order.later.rank && !first.buffered)
                    CHECK(order.earlier.call <= order.later.call);
                // What ends this order begins the next: the same collective or message.
                const Call& end = list.ranks[order.later.rank].calls[order.later.call];
                const Call& begin = list.ranks[next.earlier.rank].calls[next.earlier.call];
                if (order.later.rank != next.earlier.rank)
                    CHECK(is_collective(end.kind) == is_collective(begin.kind));
            }
        }
    });
}
