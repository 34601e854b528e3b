#include "tests/support/builders.hpp"

#include <fmt/format.h>

namespace tutti::test {

std::size_t Net::add_switch(const SwitchRule& rule) {
    parts_.switches.push_back(rule);
    return parts_.nodes() - 1;
}

Net& Net::link(std::size_t src, std::size_t dst, std::int64_t alpha, std::int64_t beta) {
    parts_.links.push_back({NodeId(src), NodeId(dst), Wire{Ticks(alpha), Ticks(beta), {}}});
    return *this;
}

Net& Net::both(std::size_t a, std::size_t b, std::int64_t alpha, std::int64_t beta) {
    return link(a, b, alpha, beta).link(b, a, alpha, beta);
}

Net& Net::one_in_flight() {
    parts_.busy = Busy::AlphaPlusBeta;
    return *this;
}

Net line(std::uint32_t npus, std::int64_t alpha, std::int64_t beta) {
    Net net(npus);
    for (std::size_t i = 0; i + 1 < npus; ++i) net.both(i, i + 1, alpha, beta);
    return net;
}

Net star(std::uint32_t npus, const SwitchRule& rule, std::int64_t alpha, std::int64_t beta) {
    Net net(npus);
    const std::size_t hub = net.add_switch(rule);
    for (std::size_t i = 0; i < npus; ++i) net.both(i, hub, alpha, beta);
    return net;
}

Collective collective(CollectiveKind kind, std::string id) {
    Collective made;
    made.id = std::move(id);
    made.kind = kind;
    if (has_root(kind)) made.root = Rank(0);
    return made;
}

Collective custom(std::initializer_list<std::size_t> holders, std::initializer_list<std::size_t> receivers,
                  bool reduction) {
    Collective made = collective(CollectiveKind::Custom);
    made.demands.push_back({nodes(holders), nodes(receivers), reduction, {}});
    return made;
}

Instance on_all(const Net& net, std::vector<Collective> collectives) {
    std::vector<std::size_t> members(net.parts().npus);
    for (std::size_t i = 0; i < members.size(); ++i) members[i] = i;
    return on_group(net, std::move(members), std::move(collectives));
}

Instance on_group(const Net& net, std::vector<std::size_t> members, std::vector<Collective> collectives) {
    return Instance({"hand-made", net.parts(), {{"g", nodes(members)}}, std::move(collectives)});
}

std::vector<NodeId> nodes(const std::vector<std::size_t>& numbers) {
    std::vector<NodeId> ids;
    for (const std::size_t number : numbers) ids.emplace_back(number);
    return ids;
}

Send copy(std::size_t chunk, std::size_t link, std::int64_t start) {
    return {ChunkId(chunk), LinkId(link), Ticks(start), Op::Copy};
}

Send reduce(std::size_t chunk, std::size_t link, std::int64_t start) {
    return {ChunkId(chunk), LinkId(link), Ticks(start), Op::Reduce};
}

Schedule schedule(std::int64_t makespan, std::vector<Send> sends) {
    return {"hand-made", Ticks(makespan), std::move(sends)};
}

std::string text_of(const Instance& instance, const Schedule& schedule) {
    std::string text = fmt::format("makespan {}\n", schedule.makespan.count());
    for (const Send& send : schedule.sends) {
        const bool known = send.link.index() < instance.topology().links().size();
        text += fmt::format(
            "{} chunk {} on {} at {}\n", send.op == Op::Copy ? "copy" : "reduce", send.chunk.value(),
            known ? name_of(instance.topology(), send.link) : fmt::format("link {}", send.link.value()),
            send.start.count());
    }
    return text;
}

}  // namespace tutti::test
