// Thread blocks. Each joined pair of lanes, and each lane that is not joined, has one. A local instruction
// goes to the block of the latest instruction that it comes after on its rank, else of the first that comes
// after it, so that what it waits for and what waits for it is mostly in its own block; else to the block
// that has least to do.

#include "compile/passes/layout.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::compile::passes {
namespace {

void place_locals(const Graph& graph, Layout& layout) {
    // Those that come after something, then, backwards, those that something comes after.
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (layout.block_of[i] != kNone) continue;
        for (const std::uint32_t b : graph.before(i)) {
            if (graph.instructions[b].rank == graph.instructions[i].rank && layout.block_of[b] != kNone) {
                layout.block_of[i] = layout.block_of[b];
            }
        }
    }
    for (std::uint32_t i = graph.size(); i-- > 0;) {
        if (layout.block_of[i] == kNone) continue;
        for (const std::uint32_t b : graph.before(i)) {
            if (graph.instructions[b].rank == graph.instructions[i].rank && layout.block_of[b] == kNone) {
                layout.block_of[b] = layout.block_of[i];
            }
        }
    }
    // The others depend on nothing: to the block of their rank that has least to do, unless it is the user's.
    std::vector<std::uint32_t> load(layout.blocks.size(), 0), least(graph.ranks(), kNone);
    for (const std::uint32_t block : layout.block_of) {
        if (block != kNone) ++load[block];
    }
    for (std::uint32_t b = 0; b < layout.blocks.size(); ++b) {
        std::uint32_t& chosen = least[layout.blocks[b].rank];
        if (layout.blocks[b].wanted >= 0) continue;
        if (chosen == kNone || load[b] < load[chosen]) chosen = b;
    }
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (layout.block_of[i] != kNone) continue;
        std::uint32_t& block = least[graph.instructions[i].rank];
        if (block == kNone) {
            block = static_cast<std::uint32_t>(layout.blocks.size());
            layout.blocks.push_back({.rank = graph.instructions[i].rank});
        }
        layout.block_of[i] = block;
    }
}

/// One thread block for all local instructions of a rank.
void set_locals_apart(const Graph& graph, Layout& layout) {
    std::vector<std::uint32_t> apart(graph.ranks(), kNone);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const Instruction& one = graph.instructions[i];
        if (one.kind != Instruction::Kind::Local) continue;
        if (apart[one.rank] == kNone) {
            apart[one.rank] = static_cast<std::uint32_t>(layout.blocks.size());
            layout.blocks.push_back({.rank = one.rank});
        }
        layout.block_of[i] = apart[one.rank];
    }
}

/// The user's thread blocks, made and checked one instruction at a time.
class Manual {
  public:
    Manual(const Graph& graph, const lang::Trace& trace, Layout& layout)
        : graph_(graph), trace_(trace), layout_(layout) {
        layout_.lane_of.assign(graph.size(), kNone);
        layout_.block_of.assign(graph.size(), kNone);
        for (std::uint32_t i = 0; i < graph.size(); ++i) {
            const Instruction& one = graph.instructions[i];
            if (one.sends()) add_message(i);
            if (one.kind == Instruction::Kind::Local && one.block >= 0) {
                layout_.block_of[i] = block(one.rank, one.block, i);
            }
        }
    }

  private:
    struct Known {
        std::uint32_t block = kNone;
        std::uint32_t first = kNone;                    ///< the instruction that made it
        std::uint32_t sends = kNone, receives = kNone;  ///< instructions that gave it its peers
        std::uint32_t channel = kNone;                  ///< and its channel
    };

    [[nodiscard]] std::string place(std::uint32_t i) const {
        return text_of(trace_.place_of(trace_.verbs[graph_.instructions[i].verb]));
    }
    [[noreturn]] void refuse(const std::string& what, std::uint32_t a, std::uint32_t b) const {
        throw InputError(fmt::format("{} (at {} and {})", what, place(a), place(b)), place(b));
    }

    std::uint32_t block(std::uint32_t rank, std::int32_t wanted, std::uint32_t i) {
        Known& known = blocks_[{rank, wanted}];
        if (known.block == kNone) {
            known.block = static_cast<std::uint32_t>(layout_.blocks.size());
            known.first = i;
            layout_.blocks.push_back({.rank = rank, .wanted = wanted});
        }
        return known.block;
    }

    void add_message(std::uint32_t send) {
        const std::uint32_t receive = graph_.instructions[send].match;
        const Instruction& s = graph_.instructions[send];
        const std::int32_t channel = std::max(s.channel, 0);
        const auto [found, fresh] =
            lanes_.try_emplace({s.rank, s.peer, channel}, static_cast<std::uint32_t>(layout_.lanes.size()));
        const std::uint32_t lane = found->second;
        if (fresh) {
            layout_.lanes.push_back({.from = s.rank, .to = s.peer, .wanted_channel = channel});
            firsts_.push_back(send);
        }
        ++layout_.lanes[lane].messages;
        layout_.lane_of[send] = layout_.lane_of[receive] = lane;
        attach(send, lane, true);
        attach(receive, lane, false);
    }
    void attach(std::uint32_t i, std::uint32_t lane, bool sends) {
        const Instruction& one = graph_.instructions[i];
        // Without a number, a block of the connection alone.
        const std::int32_t wanted =
            one.block >= 0 ? one.block : -2 - static_cast<std::int32_t>(2 * lane + (sends ? 0 : 1));
        const std::uint32_t number = block(one.rank, wanted, i);
        Known& known = blocks_[{one.rank, wanted}];
        Block& made = layout_.blocks[number];
        std::uint32_t& end = sends ? made.out : made.in;
        std::uint32_t& who = sends ? known.sends : known.receives;
        const auto name = [&] { return fmt::format("thread block {} of rank {}", wanted, one.rank); };
        if (end != kNone && end != lane) {
            const Lane& a = layout_.lanes[end];
            const Lane& b = layout_.lanes[lane];
            if (a.wanted_channel != b.wanted_channel) {
                refuse(fmt::format("{} uses channel {} and channel {}", name(), a.wanted_channel,
                                   b.wanted_channel),
                       who, i);
            }
            refuse(fmt::format("{} {} rank {} and rank {}", name(), sends ? "sends to" : "receives from",
                               sends ? a.to : a.from, sends ? b.to : b.from),
                   who, i);
        }
        end = lane;
        if (who == kNone) who = i;
        const std::int32_t channel = layout_.lanes[lane].wanted_channel;
        if (known.channel == kNone) known.channel = i;
        const std::int32_t first_channel = layout_.lanes[layout_.lane_of[known.channel]].wanted_channel;
        if (first_channel != channel) {
            refuse(fmt::format("{} uses channel {} and channel {}", name(), first_channel, channel),
                   known.channel, i);
        }
        // The connection has one thread block at each end.
        const auto [at, fresh] = ends_.try_emplace({lane, sends}, i);
        if (!fresh && block_at_[{lane, sends}] != number) {
            const auto told = [](std::int32_t block) {
                return block >= 0 ? std::to_string(block) : std::string("one without a number");
            };
            refuse(fmt::format("the connection from rank {} to rank {} on channel {} would {} in two thread "
                               "blocks, {} and {}",
                               layout_.lanes[lane].from, layout_.lanes[lane].to, channel,
                               sends ? "begin" : "end", told(layout_.blocks[block_at_[{lane, sends}]].wanted),
                               told(wanted)),
                   at->second, i);
        }
        block_at_[{lane, sends}] = number;
        layout_.block_of[i] = number;
    }

    const Graph& graph_;
    const lang::Trace& trace_;
    Layout& layout_;
    std::map<std::pair<std::uint32_t, std::int32_t>, Known> blocks_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t> lanes_;
    std::vector<std::uint32_t> firsts_;
    std::map<std::pair<std::uint32_t, bool>, std::uint32_t> ends_, block_at_;
};

}  // namespace

void form_blocks(const Graph& graph, const Choice& choice, Layout& layout) {
    layout.blocks.clear();
    layout.block_of.assign(graph.size(), kNone);
    std::vector<std::uint32_t> sending(layout.lanes.size()), receiving(layout.lanes.size());
    const auto add = [&](std::uint32_t rank, std::uint32_t in, std::uint32_t out) {
        const auto number = static_cast<std::uint32_t>(layout.blocks.size());
        layout.blocks.push_back({.rank = rank, .in = in, .out = out});
        if (in != kNone) receiving[in] = number;
        if (out != kNone) sending[out] = number;
    };
    for (std::uint32_t l = 0; l < layout.lanes.size(); ++l) {
        const Lane& lane = layout.lanes[l];
        if (lane.messages == 0) continue;
        add(lane.to, l, lane.onward);
        if (lane.inbound == kNone) add(lane.from, kNone, l);
    }
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const std::uint32_t lane = layout.lane_of[i];
        if (lane == kNone) continue;
        layout.block_of[i] = graph.instructions[i].sends() ? sending[lane] : receiving[lane];
    }
    if (choice.locals_apart) {
        set_locals_apart(graph, layout);
    } else {
        place_locals(graph, layout);
    }
}

void take_manual_blocks(const Graph& graph, const lang::Trace& trace, const Choice& choice,
                        const Clock& clock, Layout& layout) {
    layout = {};
    layout.fused.assign(graph.size(), kNone);
    layout.is_fused.assign(graph.size(), false);
    const Manual manual(graph, trace, layout);
    if (choice.fuse) {
        const std::vector<std::uint32_t> feeders = feeders_of(graph);
        for (std::uint32_t q = 0; q < graph.size(); ++q) {
            const std::uint32_t p = feeders[q];
            if (p == kNone || layout.block_of[p] != layout.block_of[q]) continue;
            std::uint32_t& fused = layout.fused[p];
            if (fused == kNone || clock.height[q] > clock.height[fused]) {
                if (fused != kNone) layout.is_fused[fused] = false;
                fused = q;
                layout.is_fused[q] = true;
            }
        }
    }
    place_locals(graph, layout);
}

}  // namespace tutti::compile::passes
