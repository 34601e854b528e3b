#include "compile/chakra_lowering.hpp"

#include "compile/messages.hpp"
#include "core/rng.hpp"
#include "heuristics/greedy.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace {

using namespace tutti;
using compile::lower_to_chakra;
using plan::ChakraNode;
using plan::ChakraTraces;
using test::copy;
using test::reduce;
using Type = ChakraNode::Type;
using Ids = std::vector<std::uint32_t>;

Collective sized(Collective collective, std::int64_t bytes = 64) {
    collective.chunk_bytes = Bytes{bytes};
    return collective;
}

std::vector<Type> types_of(const std::vector<ChakraNode>& nodes) {
    std::vector<Type> types;
    for (const ChakraNode& node : nodes) types.push_back(node.type);
    return types;
}

std::string refusal(const Instance& instance, const Schedule& schedule) {
    try {
        (void)lower_to_chakra(instance, schedule);
    } catch (const InputError& error) {
        return error.message();
    }
    return "";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a send of a Chakra trace waits for the receive of what it passes on") {
    const Instance instance = test::on_all(test::line(3), {sized(test::custom({0}, {1, 2}), 100)});
    const ChakraTraces traces = lower_to_chakra(instance, test::schedule(2, {copy(0, 0, 0), copy(0, 2, 1)}));

    CHECK(types_of(traces.npus[0]) == std::vector{Type::Send});
    CHECK(types_of(traces.npus[1]) == std::vector{Type::Receive, Type::Send});
    CHECK(types_of(traces.npus[2]) == std::vector{Type::Receive});
    const ChakraNode& first = traces.npus[0][0];
    const ChakraNode& relay = traces.npus[1][1];
    CHECK(first.after.empty());
    CHECK(first.peer == NodeId(1));
    CHECK(first.bytes == Bytes{100});
    CHECK(relay.peer == NodeId(2));
    CHECK(relay.after == Ids{traces.npus[1][0].id});
    CHECK(traces.npus[1][0].peer == NodeId(0));
    CHECK(traces.npus[1][0].tag == first.tag);
    CHECK(traces.npus[2][0].tag == relay.tag);
    CHECK(first.tag != relay.tag);
}

TEST_CASE("a send of a sum waits for all contributions, until a copy replaces the sum") {
    // 1 and 2 send to 0, which sends the sum to 3; 3 sends the result back, and 0 passes it on to 1.
    test::Net net(4);
    net.link(1, 0).link(2, 0).link(0, 3).link(3, 0).link(0, 1);
    const Instance instance = test::on_all(net, {sized(test::custom({0, 1, 2, 3}, {0, 1, 3}, true))});
    const Schedule schedule =
        test::schedule(5, {reduce(0, 0, 0), reduce(0, 1, 1), reduce(0, 2, 2), copy(0, 3, 3), copy(0, 4, 4)});
    const std::vector<ChakraNode> nodes = lower_to_chakra(instance, schedule).npus[0];

    CHECK(types_of(nodes) ==
          std::vector{Type::Receive, Type::Receive, Type::Send, Type::Receive, Type::Send});
    CHECK(nodes[2].after == Ids{1, 2});
    CHECK(nodes[4].after == Ids{4});
}

TEST_CASE("messages on one link keep their order by gates, not by waiting for each other") {
    test::Net net(3);
    net.link(0, 1).link(0, 2).link(2, 0);
    Collective broadcast = sized(test::custom({0}, {1}));
    broadcast.demands.resize(1);
    for (int i = 0; i < 3; ++i) broadcast.demands.push_back(broadcast.demands.front());
    broadcast.demands[3].holders = test::nodes({2});
    const Instance instance = test::on_all(net, {broadcast});
    // Chunks 2, 0, 1 of its own and then chunk 3, which comes from 2.
    const Schedule schedule =
        test::schedule(4, {copy(2, 0, 0), copy(0, 0, 1), copy(1, 0, 2), copy(3, 2, 0), copy(3, 0, 3)});
    const std::vector<ChakraNode> nodes = lower_to_chakra(instance, schedule).npus[0];

    // send 2; receive 3 (it arrives at 1, before the send at 1); gate, send 0; gate, send 1; gate, send 3
    REQUIRE(types_of(nodes) == std::vector{Type::Send, Type::Receive, Type::Gate, Type::Send, Type::Gate,
                                           Type::Send, Type::Gate, Type::Send});
    CHECK(nodes[0].after.empty());
    CHECK(nodes[2].after.empty());
    CHECK(nodes[3].after == Ids{3});
    CHECK(nodes[4].after == Ids{3});
    CHECK(nodes[5].after == Ids{5});
    CHECK(nodes[6].after == Ids{5});
    CHECK(nodes[7].after == Ids{2, 7});
    CHECK(nodes[7].chunk == ChunkId(3));
}

TEST_CASE("different links need no gates, nor does a message that waits for data anyway") {
    test::Net net(3);
    net.link(0, 1).link(0, 2).link(2, 0);
    Collective two = sized(test::custom({0}, {1, 2}));
    two.demands.push_back(two.demands.front());
    two.demands[1].holders = test::nodes({2});
    two.demands[1].receivers = test::nodes({1});
    const Instance instance = test::on_all(net, {two});
    const Schedule schedule = test::schedule(2, {copy(0, 0, 0), copy(0, 1, 0), copy(1, 2, 0), copy(1, 0, 1)});
    const std::vector<ChakraNode> nodes = lower_to_chakra(instance, schedule).npus[0];
    CHECK(types_of(nodes) == std::vector{Type::Send, Type::Send, Type::Receive, Type::Send});
    CHECK(nodes[3].after == Ids{3});
}

TEST_CASE("a path through switches is one message of a Chakra trace") {
    for (const bool cut_through : {false, true}) {
        const Instance instance =
            test::on_all(test::star(2, {.cut_through = cut_through}, 1, 2), {sized(test::custom({0}, {1}))});
        const ChakraTraces traces =
            lower_to_chakra(instance, test::schedule(0, {copy(0, 0, 0), copy(0, 3, cut_through ? 1 : 3)}));
        CHECK(types_of(traces.npus[0]) == std::vector{Type::Send});
        CHECK(traces.npus[0][0].peer == NodeId(1));
        CHECK(types_of(traces.npus[1]) == std::vector{Type::Receive});
    }
}

TEST_CASE("schedules that a Chakra trace cannot express are refused") {
    const Instance copying = test::on_all(test::star(3, {.copy = true}), {sized(test::custom({0}, {1, 2}))});
    CHECK(says(refusal(copying, test::schedule(2, {copy(0, 0, 0), copy(0, 3, 1), copy(0, 5, 1)})), "copies"));

    const Instance unsized = test::on_all(test::line(2), {test::custom({0}, {1})});
    CHECK(says(refusal(unsized, test::schedule(1, {copy(0, 0, 0)})), "chunk_bytes"));

    Collective late = sized(test::custom({0}, {1}));
    late.release = Ticks(3);
    CHECK(says(refusal(test::on_all(test::line(2), {late}), test::schedule(4, {copy(0, 0, 3)})), "abstract"));

    const Instance fine = test::on_all(test::line(2), {sized(test::custom({0}, {1}))});
    CHECK(says(refusal(fine, test::schedule(1, {copy(0, 1, 0)})), "does not hold"));
    CHECK(says(refusal(fine, test::schedule(1, {copy(9, 0, 0)})), "does not have"));
    CHECK(says(refusal(fine, test::schedule(1, {copy(0, 9, 0)})), "does not have"));
}

TEST_CASE("a release becomes a gate of whole microseconds before a holder's sends") {
    InstanceParts parts;
    parts.name = "late";
    parts.topology.npus = 2;
    parts.topology.links = {{NodeId(0), NodeId(1), {Ticks(0), Ticks(0), Decimal{1, 0}}}};
    parts.groups = {{"all", test::nodes({0, 1})}};
    Collective late = sized(test::custom({0}, {1}));
    late.release = Ticks(2'000'001);
    late.demands.push_back(late.demands.front());
    parts.collectives = {late};
    const Instance instance(parts);
    const std::vector<ChakraNode> nodes =
        lower_to_chakra(instance, test::schedule(0, {copy(0, 0, 2'000'001), copy(1, 0, 3'000'000)})).npus[0];
    REQUIRE(types_of(nodes) == std::vector{Type::Gate, Type::Send, Type::Gate, Type::Send});
    CHECK(nodes[0].microseconds == 3);
    CHECK(nodes[1].after == Ids{1});
    CHECK(nodes[2].microseconds == 0);
    CHECK(nodes[2].after == Ids{1});
    CHECK(nodes[3].after == Ids{1, 3});
}

TEST_CASE("an NPU with nothing to do has a Chakra trace all the same") {
    const Instance instance = test::on_all(test::line(3), {sized(test::custom({0}, {1}))});
    const ChakraTraces traces = lower_to_chakra(instance, test::schedule(1, {copy(0, 0, 0)}));
    CHECK(types_of(traces.npus[2]) == std::vector{Type::Gate});
}

TEST_CASE("groups of a Chakra trace are numbered from 1, and all NPUs in order are none") {
    Collective some = sized(test::collective(CollectiveKind::AllGather, "some"));
    const Instance part = test::on_group(test::line(3), {1, 0}, {some});
    const ChakraTraces traces = lower_to_chakra(part, test::schedule(1, {copy(0, 1, 0), copy(1, 0, 0)}));
    REQUIRE(traces.groups.size() == 1);
    CHECK(traces.groups[0].number == 1);
    CHECK(traces.groups[0].members == test::nodes({1, 0}));
    CHECK(traces.group_of == Ids{1});
    CHECK(traces.collectives == std::vector<std::string>{"some"});

    const ChakraTraces everyone = lower_to_chakra(test::on_all(test::line(2), {some}),
                                                  test::schedule(1, {copy(0, 0, 0), copy(1, 1, 0)}));
    CHECK(everyone.groups.empty());
    CHECK(everyone.group_of == Ids{0});
}

namespace {

/// Plays traces as ASTRA-sim's congestion-aware backend plays a custom collective, but with gates that take
/// no time: nodes that are ready begin in order of number, links take messages in the order in which they
/// come. Only for messages over a single link.
class Player {
  public:
    Player(const Instance& instance, const ChakraTraces& traces, const compile::Messages& messages)
        : instance_(instance), traces_(traces), waiting_(traces.npus.size()) {
        for (const compile::Message& message : messages.all) {
            links_.push_back(messages.paths[message.path].links.front());
        }
        for (std::size_t npu = 0; npu < traces.npus.size(); ++npu) {
            for (const ChakraNode& node : traces.npus[npu]) {
                waiting_[npu].push_back(node.after.size());
                if (node.type == Type::Receive) receive_of_[node.tag] = {npu, node.id};
            }
        }
    }

    /// When everything is complete; none if it never is.
    std::optional<Ticks> play() {
        for (std::size_t npu = 0; npu < waiting_.size(); ++npu) begin_ready(npu, Ticks(0));
        Ticks last(0);
        while (!arrivals_.empty()) {
            const Arrival arrival = arrivals_.top();
            arrivals_.pop();
            last = arrival.tick;
            const auto [to, receive] = receive_of_.at(arrival.tag);
            complete(arrival.npu, arrival.id);
            complete(to, receive);
            begin_ready(arrival.npu, arrival.tick);
            begin_ready(to, arrival.tick);
        }
        std::size_t nodes = 0;
        for (const auto& trace : traces_.npus) nodes += trace.size();
        return completed_ == nodes ? std::optional(last) : std::nullopt;
    }

    [[nodiscard]] const std::map<LinkId, std::vector<std::uint32_t>>& order() const { return order_; }

  private:
    struct Arrival {
        Ticks tick;
        std::size_t sequence;
        std::size_t npu;
        std::uint32_t id, tag;
        bool operator<(const Arrival& other) const {
            return std::tuple(tick, sequence) > std::tuple(other.tick, other.sequence);
        }
    };

    void complete(std::size_t npu, std::uint32_t id) {
        ++completed_;
        for (const ChakraNode& node : traces_.npus[npu]) {
            if (std::ranges::binary_search(node.after, id)) --waiting_[npu][node.id - 1];
        }
    }

    void begin_ready(std::size_t npu, Ticks now) {
        for (const ChakraNode& node : traces_.npus[npu]) {
            if (waiting_[npu][node.id - 1] != 0 || !begun_.insert({npu, node.id}).second) continue;
            if (node.type == Type::Gate) complete(npu, node.id);  // what waits for it has a higher number
            if (node.type != Type::Send) continue;
            const LinkId link = links_[node.tag];
            const Ticks start = std::max(now, free_[link]);
            const Ticks beta = instance_.beta(link, node.chunk);
            free_[link] = start + instance_.busy(link, beta);
            order_[link].push_back(node.tag);
            arrivals_.push(
                {start + instance_.alpha(link) + beta, arrivals_pushed_++, npu, node.id, node.tag});
        }
    }

    const Instance& instance_;
    const ChakraTraces& traces_;
    std::vector<LinkId> links_;  ///< by tag
    std::vector<std::vector<std::size_t>> waiting_;
    std::map<std::uint32_t, std::pair<std::size_t, std::uint32_t>> receive_of_;
    std::set<std::pair<std::size_t, std::uint32_t>> begun_;
    std::map<LinkId, Ticks> free_;
    std::map<LinkId, std::vector<std::uint32_t>> order_;
    std::priority_queue<Arrival> arrivals_;
    std::size_t arrivals_pushed_ = 0, completed_ = 0;
};

struct Drawn {
    Instance instance;
    Schedule schedule;
};

/// An instance with sizes and without releases, and a valid schedule for it.
std::optional<Drawn> draw(Rng& rng, const test::InstanceOptions& options, std::uint64_t seed) {
    InstanceParts parts = test::random_instance(rng, options);
    for (Collective& collective : parts.collectives) collective.release = Ticks(0);
    Instance instance(std::move(parts));
    if (!test::is_feasible(instance)) return std::nullopt;
    auto schedule = heuristics::greedy(instance, {.seed = seed});
    REQUIRE(schedule);
    return Drawn{std::move(instance), std::move(*schedule)};
}

/// Each message has its two ends, and each node comes after those it waits for.
void check_shape(const ChakraTraces& traces) {
    std::map<std::uint32_t, std::pair<int, int>> ends;
    for (std::size_t npu = 0; npu < traces.npus.size(); ++npu) {
        std::uint32_t next = 1;
        for (const ChakraNode& node : traces.npus[npu]) {
            CHECK(node.id == next++);
            CHECK(std::ranges::is_sorted(node.after));
            CHECK((node.after.empty() || node.after.back() < node.id));
            if (node.type == Type::Gate) continue;
            const bool sends = node.type == Type::Send;
            const auto& other = traces.npus[node.peer.index()];
            const auto mate = std::ranges::find_if(other, [&](const ChakraNode& o) {
                return o.type == (sends ? Type::Receive : Type::Send) && o.tag == node.tag;
            });
            REQUIRE(mate != other.end());
            CHECK(mate->peer == NodeId(npu));
            CHECK(mate->bytes == node.bytes);
            CHECK(mate->chunk == node.chunk);
            ++(sends ? ends[node.tag].first : ends[node.tag].second);
        }
    }
    for (const auto& [tag, count] : ends) CHECK(count == std::pair(1, 1));
}

/// Every receiver gets every contribution, along the dependencies alone; no sum counts one twice.
void check_contributions(const Instance& instance, const ChakraTraces& traces) {
    struct End {
        const ChakraNode* send = nullptr;
        std::size_t from = 0;
    };
    std::map<std::uint32_t, End> ends;  // tags ascend in time
    for (std::size_t npu = 0; npu < traces.npus.size(); ++npu) {
        for (const ChakraNode& node : traces.npus[npu]) {
            if (node.type == Type::Send) ends[node.tag] = {&node, npu};
        }
    }
    std::map<std::uint32_t, std::set<NodeId>> carried;
    std::map<std::pair<NodeId, ChunkId>, std::set<NodeId>> reached;
    for (const auto& [tag, end] : ends) {
        const Demand demand = instance.demand(end.send->chunk);
        std::set<NodeId> value;
        for (const std::uint32_t id : end.send->after) {
            const ChakraNode& before = traces.npus[end.from][id - 1];
            if (before.type != Type::Receive || before.chunk != end.send->chunk) continue;
            for (const NodeId part : carried.at(before.tag))
                CHECK((value.insert(part).second || !demand.reduction));
        }
        const NodeId self(end.from);
        if (std::ranges::binary_search(demand.holders, self)) value.insert(self);
        CHECK(!value.empty());
        carried[tag] = value;
        reached[{end.send->peer, end.send->chunk}].insert(value.begin(), value.end());
    }
    for (std::size_t i = 0; i < instance.chunks(); ++i) {
        const Demand demand = instance.demand(ChunkId(i));
        for (const NodeId receiver : demand.receivers) {
            auto value = reached[{receiver, ChunkId(i)}];
            if (std::ranges::binary_search(demand.holders, receiver)) value.insert(receiver);
            CHECK(value.size() >= (demand.reduction ? demand.holders.size() : 1));
        }
    }
}

}  // namespace

TEST_CASE("Chakra traces of random schedules carry every contribution to every receiver") {
    constexpr std::uint64_t kSeed = 611;
    CAPTURE(kSeed);
    Rng rng(kSeed);
    int lowered = 0;
    for (std::uint64_t round = 0; round < 150; ++round) {
        CAPTURE(round);
        const auto drawn = draw(rng, {.physical = true}, round);
        if (!drawn) continue;
        try {
            const ChakraTraces traces = lower_to_chakra(drawn->instance, drawn->schedule);
            check_shape(traces);
            check_contributions(drawn->instance, traces);
            ++lowered;
        } catch (const InputError& error) {
            CHECK(says(error.message(), "switch"));
        }
    }
    CHECK(lowered > 75);
}

TEST_CASE("Chakra traces played on the links take no longer than the schedule, in its order") {
    constexpr std::uint64_t kSeed = 612;
    CAPTURE(kSeed);
    Rng rng(kSeed);
    int played = 0;
    for (std::uint64_t round = 0; round < 150; ++round) {
        CAPTURE(round);
        const auto drawn = draw(rng, {.max_switches = 0, .max_collectives = 1, .physical = true}, round);
        if (!drawn) continue;
        const ChakraTraces traces = lower_to_chakra(drawn->instance, drawn->schedule);
        const auto messages = compile::messages_of(drawn->instance, drawn->schedule, CollectiveId(0));
        Player player(drawn->instance, traces, messages);
        const auto finished = player.play();
        REQUIRE(finished);
        CHECK(*finished <= drawn->schedule.makespan);
        for (const auto& [link, tags] : player.order()) CHECK(std::ranges::is_sorted(tags));
        ++played;
    }
    CHECK(played > 75);
}
