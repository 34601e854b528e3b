// Connections and messages: which thread block sends what to which. The k-th send of a connection matches the
// k-th receive.

#include "verify/plan/msccl_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tutti::verify {
namespace {

using plan::Place;
using plan::Step;
using plan::StepType;

/// A thread block at one end of a connection.
struct End {
    Rank from, to;
    OptionalId<plan::ChannelId> channel;
    bool receives;
    std::uint32_t block;
    std::uint32_t messages;

    [[nodiscard]] auto connection() const { return std::tuple(from, to, channel); }
    [[nodiscard]] auto key() const { return std::tuple(from, to, channel, receives); }
};

class MessageMatcher {
  public:
    MessageMatcher(const PlanReading& reading, MscclStructure& structure, Findings& violations,
                   Findings& warnings)
        : reading_(reading), structure_(structure), violations_(violations), warnings_(warnings) {}

    /// As many receives as sends, and one thread block at each end.
    void check_connections() {
        std::vector<End> all = ends();
        for (std::size_t i = 0; i < all.size();) {
            std::size_t sent = 0, received = 0, end = i;
            for (; end < all.size() && all[end].connection() == all[i].connection(); ++end) {
                (all[end].receives ? received : sent) += all[end].messages;
            }
            if (sent != received) report_unmatched(std::span(all).subspan(i, end - i), sent, received);
            i = end;
        }
        for (std::size_t i = 1; i < all.size(); ++i) {
            if (all[i - 1].key() == all[i].key()) report_shared(all[i - 1], all[i]);
        }
        std::erase_if(all, [](const End& end) { return end.messages == 0; });
        structure_.connections.reserve(all.size() / 2);
        for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
            if (!violations_.empty()) return;
            structure_.connections.push_back({all[i].block, all[i + 1].block});
        }
    }

    void match_messages() {
        for (const MscclStructure::Connection& connection : structure_.connections) {
            const auto sent = communicating(connection.sender, plan::sends);
            const auto received = communicating(connection.receiver, plan::receives);
            const MscclStructure::Block &from = structure_.blocks[connection.sender],
                                        &to = structure_.blocks[connection.receiver];
            for (std::size_t k = 0; k < sent.size(); ++k) {
                check_pair(sent[k], received[k], from.block->steps[sent[k] - from.first],
                           to.block->steps[received[k] - to.first], k);
            }
        }
    }

  private:
    [[nodiscard]] std::vector<End> ends() const {
        std::size_t all = 0;
        for (const MscclStructure::Block& each : structure_.blocks) {
            all += (each.block->send_peer ? 1U : 0U) + (each.block->recv_peer ? 1U : 0U);
        }
        std::vector<End> ends;
        ends.reserve(all);
        for (std::uint32_t i = 0; i < structure_.blocks.size(); ++i) {
            const auto& [block, gpu, first] = structure_.blocks[i];
            std::uint32_t sent = 0, received = 0;
            for (const Step& step : block->steps) {
                if (sends(step.type)) ++sent;
                if (receives(step.type)) ++received;
            }
            if (block->send_peer) ends.push_back({gpu, *block->send_peer, block->channel, false, i, sent});
            if (block->recv_peer) ends.push_back({*block->recv_peer, gpu, block->channel, true, i, received});
        }
        std::ranges::sort(ends, {}, [](const End& end) { return std::pair(end.key(), end.block); });
        return ends;
    }

    void report_unmatched(std::span<const End> ends, std::size_t sent, std::size_t received) {
        const bool more_sent = sent > received;
        // The first step that finds no partner, if the connection has one thread block at that end.
        Place place;
        std::string step;
        for (const End& end : ends) {
            if (end.receives == more_sent || end.messages == 0) continue;
            const auto steps = communicating(end.block, end.receives ? plan::receives : plan::sends);
            const std::size_t partners = std::min(sent, received);
            if (partners >= steps.size()) continue;
            place = structure_.place(steps[partners]);
            step = fmt::format(": {} {}", structure_.named(steps[partners]),
                               more_sent ? "is never received" : "waits for ever");
            break;
        }
        violations_.add("unmatched",
                        fmt::format("gpu {} sends {} messages to gpu {} on channel {}, which receives {}{}",
                                    ends.front().from, sent, ends.front().to,
                                    plan::file_number(ends.front().channel), received, step),
                        place);
    }

    void report_shared(const End& one, const End& two) {
        const auto &first = structure_.blocks[one.block], &second = structure_.blocks[two.block];
        const std::string message = fmt::format(
            "thread blocks {} and {} of gpu {} both {} gpu {} on channel {}; a connection has one at each "
            "end",
            first.block->id, second.block->id, first.gpu, two.receives ? "receive from" : "send to",
            two.receives ? two.from : two.to, plan::file_number(two.channel));
        if (one.messages > 0 && two.messages > 0) {
            violations_.add("connection", message, structure_.place(second), {structure_.place(first)});
        } else {
            warnings_.add("idle-connection", message + " (one of them never does)", structure_.place(second),
                          {structure_.place(first)});
        }
    }

    [[nodiscard]] std::vector<plan::OpId> communicating(std::uint32_t block, bool (*does)(StepType)) const {
        const MscclStructure::Block& at = structure_.blocks[block];
        std::vector<plan::OpId> steps;
        for (std::size_t i = 0; i < at.block->steps.size(); ++i) {
            if (does(at.block->steps[i].type)) steps.push_back(at.first + static_cast<plan::OpId>(i));
        }
        return steps;
    }

    void check_pair(plan::OpId send, plan::OpId receive, const Step& from, const Step& to, std::size_t k) {
        if (from.count != to.count) {
            violations_.add(
                "count-mismatch",
                fmt::format("message {} of this connection: {} sends {} chunks, {} expects {}", k,
                            structure_.named(send), from.count, structure_.named(receive), to.count),
                structure_.place(receive), {structure_.place(send)});
        }
        if (!reading_.strict_descriptors) return;
        const bool source_agrees = !uses_source(from.type) || uses_source(to.type) || from.src == to.src;
        const bool destination_agrees =
            uses_destination(from.type) || !uses_destination(to.type) || from.dst == to.dst;
        if (source_agrees && destination_agrees) return;
        violations_.add("descriptor",
                        fmt::format("{} and {} describe their message differently", structure_.named(send),
                                    structure_.named(receive)),
                        structure_.place(receive), {structure_.place(send)});
    }

    const PlanReading& reading_;
    MscclStructure& structure_;
    Findings& violations_;
    Findings& warnings_;
};

}  // namespace

std::vector<std::uint32_t> MscclStructure::sending_blocks() const {
    std::vector<std::uint32_t> sending(blocks.size(), kNoBlock);
    for (const Connection& connection : connections) sending[connection.receiver] = connection.sender;
    return sending;
}

void find_connections(const PlanReading& reading, MscclStructure& structure, Findings& violations,
                      Findings& warnings) {
    MessageMatcher(reading, structure, violations, warnings).check_connections();
}

void match_messages(const PlanReading& reading, MscclStructure& structure, Findings& violations,
                    Findings& warnings) {
    MessageMatcher(reading, structure, violations, warnings).match_messages();
}

}  // namespace tutti::verify
