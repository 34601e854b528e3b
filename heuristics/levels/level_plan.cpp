// Two levels in order: between parts, then within them.
//
// All-gather, seen from a chunk: it goes from its NPU to one NPU in each other part, the wave k to the part k
// further on, and from there to the others of that part. Waves are placed first, for all chunks: they use
// slow links, and nothing may delay them. Then the messages within parts, in the order in which their chunks
// arrive, the chunks of the part itself first. If a wave takes as long as the rounds within a part or longer,
// the waves follow each other without a gap, and only the rounds of the last one come after it: no schedule
// is shorter. A chunk with one target is the same with one message each; there, waves whose chunks have far
// to go within the part come first, and the last wave needs no round.
//
// The NPU that a chunk enters a part through has the same place there as the sender in its own part: on rails
// that is the only one in reach, on other fabrics it spreads the load. Where that is not possible (a failed
// NIC, groups of scattered members), or where its port has much more to carry than another, the chunk is
// first handed to the NPU of its part whose port has the least to carry, or enters through such a one. So
// NPUs that are not in the group relay where they may.
//
// Reductions are spreads backwards in time. Complexity: O(messages * (log messages + members of a part)).

#include "heuristics/levels/level_plan.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kLookAtStop = 256;  ///< messages between two looks

ChunkId largest_chunk(const Instance& instance) {
    ChunkId largest(0);
    for (std::size_t c = 1; c < instance.chunks(); ++c) {
        if (instance.demand(ChunkId(c)).bytes > instance.demand(largest).bytes) largest = ChunkId(c);
    }
    return largest;
}

}  // namespace

Cluster::Cluster(const Instance& instance)
    : instance_(instance),
      routes_(instance, largest_chunk(instance)),
      clos_(instance.topology()),
      levels_(levels_of(instance.topology(), routes_)) {
    for (const Group& group : instance.groups())
        numberings_.emplace_back(group.members, levels_, instance.topology().npus());
    for (const Numbering& numbering : numberings_) flat_.push_back(numbering.flat());
}

LevelPlan::LevelPlan(Cluster& cluster, std::size_t level, bool flat, Direction direction,
                     MessagePlacer& placer, const Stop& stop)
    : cluster_(cluster),
      instance_(cluster.instance()),
      level_(level),
      flat_(flat),
      direction_(direction),
      placer_(placer),
      stop_(stop),
      loads_(instance_.topology().links().size()),
      out_load_(instance_.topology().npus()),
      in_load_(instance_.topology().npus()) {
    find_parts();
}

void LevelPlan::find_parts() {
    const std::size_t npus = instance_.topology().npus();
    part_of_.resize(npus);
    for (std::size_t n = 0; n < npus; ++n)
        part_of_[n] = level_ == 0 ? static_cast<Part>(n) : cluster_.levels()[level_ - 1][n];
    members_.resize(npus == 0 ? 0 : *std::ranges::max_element(part_of_) + 1);
    for (std::size_t n = 0; n < npus; ++n) members_[part_of_[n]].push_back(NodeId(n));
}

const LevelPlan::Targets& LevelPlan::targets_of(std::span<const NodeId> targets) {
    const auto [entry, is_new] = known_targets_.try_emplace({targets.data(), targets.size()});
    Targets& result = entry->second;
    if (!is_new) return result;
    result.nodes.assign(targets.begin(), targets.end());
    std::ranges::stable_sort(result.nodes, {}, [&](NodeId npu) { return part_of(npu); });
    for (std::uint32_t i = 0; i < result.nodes.size(); ++i) {
        const Part part = part_of(result.nodes[i]);
        if (result.parts.empty() || result.parts.back().part != part) result.parts.push_back({part, i, i});
        result.parts.back().end = i + 1;
    }
    return result;
}

LevelPlan::Slot LevelPlan::new_slot(Ticks since) {
    since_.push_back(since);
    return static_cast<Slot>(since_.size() - 1);
}

bool LevelPlan::is_source(NodeId npu, std::uint32_t item) const {
    return std::ranges::find(items_[item].sources, npu) != items_[item].sources.end();
}

bool LevelPlan::may_carry(NodeId npu, std::uint32_t item) const {
    return instance_.may_carry(npu, instance_.demands().collective(items_[item].chunk));
}

const Numbering& LevelPlan::numbering(std::uint32_t item) const {
    return flat_ ? cluster_.flat_numbering(items_[item].chunk) : cluster_.numbering(items_[item].chunk);
}

/// A source in the part, if any, else one of them.
NodeId LevelPlan::source_for(std::uint32_t item, Part part) const {
    const auto sources = items_[item].sources;
    const auto own = std::ranges::find(sources, part, [&](NodeId npu) { return part_of(npu); });
    return own != sources.end() ? *own : sources[item % sources.size()];
}

std::optional<MessageRoutes::Ends> LevelPlan::way(NodeId from, NodeId to) const {
    return direction_ == Direction::Forwards ? cluster_.routes().ends(from, to, loads_)
                                             : cluster_.routes().ends(to, from, loads_);
}

/// Parts to enter, in the order of the waves.
void LevelPlan::find_entries() {
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
        const LevelItem& item = items_[i];
        const Numbering& numbering = this->numbering(i);
        const Targets& targets = targets_of(item.targets);
        for (const Targets::InPart& in : targets.parts) {
            const NodeId source = source_for(i, in.part);
            if (part_of(source) == in.part) continue;
            const auto nodes = targets.of(in);
            Numbering::Round round = numbering.outer(source, nodes.front(), level_);
            if (item.targets.size() == 1) {
                const auto inner = numbering.inner(source, nodes.front(), level_);
                const auto rounds = numbering.inner_rounds(level_);
                round += (rounds - 1 - inner) * numbering.outer_rounds(level_);
            }
            // Chunks with one target have no rounds that could get out of step.
            const bool is_late = item.targets.size() > 1 && !reaches_aligned(i, source, in.part);
            entries_.push_back({is_late, round, 0, i, in.part, nodes});
        }
    }
    std::ranges::stable_sort(entries_, {},
                             [](const Entry& entry) { return std::pair(entry.is_late, entry.round); });
    take_turns();
}

bool LevelPlan::reaches_aligned(std::uint32_t item, NodeId source, Part part) {
    const auto [known, is_new] =
        aligned_.try_emplace({instance_.collective_of(items_[item].chunk).group, source, part}, false);
    if (is_new) {
        known->second = std::ranges::any_of(members_[part], [&](NodeId npu) {
            return numbering(item).is_aligned(source, npu, level_) && way(source, npu);
        });
    }
    return known->second;
}

/// Within a round every source sends its first chunk, then every source its second.
void LevelPlan::take_turns() {
    std::vector<std::pair<Numbering::Round, std::uint32_t>> last(instance_.topology().npus(), {0, 0});
    for (Entry& entry : entries_) {
        auto& [round, turns] = last[source_for(entry.item, entry.part).index()];
        if (round != entry.round) turns = 0;
        round = entry.round;
        entry.turn = turns++;
    }
    std::ranges::stable_sort(
        entries_, {}, [](const Entry& entry) { return std::tuple(entry.is_late, entry.round, entry.turn); });
}

std::optional<NodeId> LevelPlan::entrance(NodeId from, const Entry& entry) const {
    const Numbering& numbering = this->numbering(entry.item);
    const auto& members = members_[entry.part];
    std::optional<NodeId> best;
    for (const NodeId npu : members) {
        if (numbering.is_aligned(from, npu, level_) && way(from, npu)) best = npu;
    }
    for (const NodeId npu : members) {
        if (best && in_load_[npu.index()] >= in_load_[best->index()]) continue;
        if (!may_carry(npu, entry.item)) continue;
        // Another one must be worth the message within the part.
        const bool is_target = std::ranges::binary_search(entry.targets, npu);
        if (best && !is_target) {
            const auto inside = way(npu, entry.targets.front());
            if (!inside || in_load_[npu.index()] + inside->time >= in_load_[best->index()]) continue;
        }
        if (way(from, npu)) best = npu;
    }
    return best;
}

std::optional<LevelPlan::Gates> LevelPlan::gates(NodeId source, const Entry& entry) const {
    std::optional<Gates> best;
    Ticks cost;
    if (const auto in = entrance(source, entry)) {
        best = Gates{source, *in};
        cost = std::max(out_load_[source.index()], in_load_[in->index()]);
    }
    for (const NodeId npu : members_[part_of(source)]) {
        if (npu == source || (best && out_load_[npu.index()] >= cost) || !may_carry(npu, entry.item))
            continue;
        const auto feeding = way(source, npu);
        if (!feeding || (best && out_load_[npu.index()] + feeding->time >= cost)) continue;
        const auto in = entrance(npu, entry);
        if (!in) continue;
        const Ticks load = std::max(out_load_[npu.index()], in_load_[in->index()]) + feeding->time;
        if (best && load >= cost) continue;
        best = Gates{npu, *in};
        cost = load;
    }
    return best;
}

bool LevelPlan::prepare(const Entry& entry) {
    const LevelItem& item = items_[entry.item];
    const NodeId source = source_for(entry.item, entry.part);
    const auto found = gates(source, entry);
    if (!found) {
        why_not_ = "a part of the network cannot be reached from another through switches";
        return false;
    }
    const auto [exit, in] = *found;
    Slot slot = source_slot_[entry.item];
    if (exit != source) {
        const auto [fed, is_new] = fed_.try_emplace({entry.item, exit}, kNowhere);
        if (is_new) {
            const Message feeding{entry.item, source, exit, slot, *way(source, exit)};
            find_path(feeding, nullptr);
            fed->second = new_slot(send(feeding));
        }
        slot = fed->second;
    }
    if (!add(entry.item, exit, in, slot, &entry)) return false;
    const auto& ends = batch_.back().ends;
    const Ticks pace = std::max(instance_.beta(ends.out, item.chunk), instance_.beta(ends.in, item.chunk));
    out_load_[exit.index()] += pace;
    in_load_[in.index()] += pace;
    return true;
}

bool LevelPlan::add(std::uint32_t item, NodeId from, NodeId to, Slot slot, const Entry* entry) {
    const auto ends = way(from, to);
    if (!ends) {
        why_not_ = "two NPUs of a part have no path through switches";
        return false;
    }
    batch_.push_back({item, from, to, slot, *ends, entry});
    return true;
}

void LevelPlan::find_path(const Message& message, const ClosRoutes::Message* route) {
    path_.clear();
    if (route != nullptr && route->found) {
        path_.push_back(message.ends.out);
        path_.insert(path_.end(), route->links.begin(), route->links.end());
        path_.push_back(message.ends.in);
        // Planes may differ in their times.
        if (cluster_.routes().time_along(path_) == message.ends.time) return;
        path_.clear();
    }
    cluster_.routes().append_path(message.ends, loads_, path_);
}

void LevelPlan::place_batch(bool delays_own) {
    const bool together = batch_.size() > 1 && cluster_.clos().has_choices();
    routes_.clear();
    if (together) {
        for (const Message& message : batch_) routes_.push_back({message.ends.out, message.ends.in});
        cluster_.clos().route(routes_);
    }
    for (std::size_t i = 0; i < batch_.size(); ++i) {
        const Message& message = batch_[i];
        find_path(message, together ? &routes_[i] : nullptr);
        const Ticks end = send(message);
        if (message.entry == nullptr) continue;
        if (keeps_all_) fed_[{message.item, message.to}] = new_slot(end);
        Ticks& own = own_ready_[message.item];
        if (delays_own && own == items_[message.item].ready) own = end;
        const auto targets = message.entry->targets;
        if (targets.size() > 1 || targets.front() != message.to)
            add_inner(message.item, message.to, new_slot(end), targets);
    }
    batch_.clear();
}

/// Messages of one turn of one round are sent at once.
bool LevelPlan::enter_parts(bool delays_own, bool in_turns) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (i % kLookAtStop == 0 && stop_.requested()) return false;
        if (!prepare(entries_[i])) return false;
        const bool is_last = i + 1 == entries_.size() || entries_[i + 1].is_late != entries_[i].is_late ||
                             entries_[i + 1].round != entries_[i].round ||
                             entries_[i + 1].turn != entries_[i].turn;
        if (is_last) place_batch(delays_own);
        if (is_last && in_turns && !place_own_round()) return false;
    }
    return true;
}

bool LevelPlan::place_own_round() {
    const std::size_t first = next_own_;
    for (; next_own_ < own_.size() && own_[next_own_].round == own_[first].round; ++next_own_) {
        const Inner& inner = own_[next_own_];
        if (fed_.contains({inner.item, inner.to})) continue;
        const auto ends = way(inner.from, inner.to);
        if (!ends) return false;
        const Message message{inner.item, inner.from, inner.to, inner.slot, *ends};
        find_path(message, nullptr);
        fed_[{inner.item, inner.to}] = new_slot(send(message));
    }
    return true;
}

void LevelPlan::add_inner(std::uint32_t item, NodeId from, Slot slot, std::span<const NodeId> targets) {
    const Numbering& numbering = this->numbering(item);
    for (const NodeId to : targets) {
        if (to != from)
            inner_.push_back({since_[slot], numbering.inner(from, to, level_), item, slot, from, to});
    }
}

/// What the item's own parts need, except what was done to leave them.
void LevelPlan::add_own_part(std::uint32_t item) {
    const Targets& targets = targets_of(items_[item].targets);
    std::vector<NodeId> rest;
    for (const Targets::InPart& in : targets.parts) {
        const NodeId source = source_for(item, in.part);
        if (part_of(source) != in.part) continue;
        rest.clear();
        for (const NodeId npu : targets.of(in)) {
            if (!is_source(npu, item) && !fed_.contains({item, npu})) rest.push_back(npu);
        }
        if (!rest.empty()) add_inner(item, source, new_slot(own_ready_[item]), rest);
    }
}

Ticks LevelPlan::send(const Message& message) {
    const LevelItem& item = items_[message.item];
    for (const LinkId link : path_) loads_[link.index()] += instance_.beta(link, item.chunk);
    Ticks ready = since_[message.slot];
    Op op = Op::Copy;
    const bool at_source = message.from == item.sources.front();
    if (item.last && at_source && message.to == item.last->npu) {
        const Ticks early = std::max(item.last->others, item.last->sent);
        if (placer_.earliest(item.chunk, path_, early) < item.last->come) {
            ready = early;
            op = Op::Reduce;
        }
    }
    const auto span = placer_.place(item.chunk, path_, ready, op);
    if (direction_ == Direction::Backwards && at_source)
        root_messages_.push_back({message.item, message.to, span});
    return span.end;
}

bool LevelPlan::place_inner() {
    std::ranges::stable_sort(inner_, {},
                             [](const Inner& inner) { return std::pair(inner.ready, inner.round); });
    for (std::size_t i = 0; i < inner_.size(); ++i) {
        if (i % kLookAtStop == 0 && stop_.requested()) return false;
        const Inner& inner = inner_[i];
        if (!add(inner.item, inner.from, inner.to, inner.slot)) return false;
        const bool is_last = i + 1 == inner_.size() || inner_[i + 1].ready != inner.ready ||
                             inner_[i + 1].round != inner.round;
        if (is_last) place_batch(false);
    }
    return true;
}

std::string LevelPlan::spread(std::span<const LevelItem> items, bool delays_own) {
    return place_items(items, delays_own, false);
}
std::string LevelPlan::spread_in_turns(std::span<const LevelItem> items) {
    return place_items(items, false, true);
}

void LevelPlan::begin(std::span<const LevelItem> items) {
    items_ = items;
    for (const LevelItem& item : items) {
        source_slot_.push_back(new_slot(item.ready));
        own_ready_.push_back(item.ready);
    }
    find_entries();
}

std::string LevelPlan::place_items(std::span<const LevelItem> items, bool delays_own, bool in_turns) {
    begin(items);
    if (in_turns) {
        for (std::uint32_t i = 0; i < items.size(); ++i) add_own_part(i);
        std::ranges::stable_sort(inner_, {}, [](const Inner& inner) { return inner.round; });
        own_.swap(inner_);
    }
    if (!enter_parts(delays_own, in_turns)) return why_not_.empty() ? "stopped" : why_not_;
    for (std::uint32_t i = 0; i < items.size(); ++i) add_own_part(i);
    if (!place_inner()) return why_not_.empty() ? "stopped" : why_not_;
    return {};
}

}  // namespace tutti::heuristics
