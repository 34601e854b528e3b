#include "verify/plan/packet_order.hpp"

#include "verify/plan/execution_order.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

// A packet place nearly always has one writer, and every reader comes after it. Writing it again is allowed
// with the same value (a rank packs its own chunk and then broadcasts it to all, itself included). Then a
// reader comes after the first write, whichever that is. A writer that reads the place itself is not the
// first. Of the others, one is first for a reader if it happens before all those that do not happen after
// that reader. If there is no such writer, the reader is ordered after none; a weak edge makes it run after
// one of them when values are computed. Whether all writers write the same value is checked with the values.

namespace tutti::verify {
namespace {

using plan::Edge;
using plan::EdgeKind;
using plan::OpId;

/// The most edges visited to find the first of several writers: some tenths of a second.
constexpr std::size_t kMostVisits = std::size_t{1} << 24U;

/// Successors of every op, by all edges that order memory.
struct Successors {
    explicit Successors(const plan::Program& program) : first(program.ops.size() + 1, 0) {
        for (const Edge& edge : program.edges) ++first[edge.from + 1];
        for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
        ends.resize(program.edges.size());
        std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
        for (const Edge& edge : program.edges) ends[next[edge.from]++] = edge.to;
    }

    /// Which of `targets` happen after `from`; nothing if the budget ran out.
    [[nodiscard]] std::optional<std::vector<bool>> reached(OpId from, std::span<const OpId> targets,
                                                           std::size_t& budget) {
        seen.assign(first.size() - 1, false);
        std::vector<OpId> queue{from};
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (std::uint32_t k = first[queue[i]]; k < first[queue[i] + 1]; ++k) {
                if (budget == 0) return std::nullopt;
                --budget;
                if (seen[ends[k]]) continue;
                seen[ends[k]] = true;
                queue.push_back(ends[k]);
            }
        }
        std::vector<bool> found;
        for (const OpId target : targets) found.push_back(seen[target]);
        return found;
    }

    std::vector<std::uint32_t> first;
    std::vector<OpId> ends;
    std::vector<bool> seen;
};

}  // namespace

void PacketOrder::note(OpId op, const PlaceIndex& places, std::uint32_t move, std::int64_t first,
                       std::int64_t count) {
    const plan::Program& program = steps_.program;
    const plan::Move& whole = program.moves[move];
    const auto add = [&](std::uint32_t range, bool writes) {
        if (!program.memories[program.ranges[range].memory].packets) return;
        const std::uint32_t begin = places.first(range) + static_cast<std::uint32_t>(first);
        for (std::uint32_t i = 0; i < count; ++i)
            accesses_.push_back({begin + i, op, writes, whole.raw_packets && !writes});
    };
    for (std::uint32_t i = 0; i < whole.reads; ++i) add(whole.first_read + i, false);
    for (std::uint32_t i = 0; i < whole.writes; ++i) add(whole.first_write() + i, true);
}

void PacketOrder::order(OrderedExecution& execution, const ExecutionProgress& progress) {
    std::ranges::sort(accesses_, {}, [](const Access& access) {
        return std::tuple(access.place, !access.writes, access.op);
    });
    for (std::size_t begin = 0; begin < accesses_.size();) {
        std::size_t end = begin;
        while (end < accesses_.size() && accesses_[end].place == accesses_[begin].place) ++end;
        order_place(std::span(accesses_).subspan(begin, end - begin), execution, progress);
        begin = end;
    }
    std::size_t budget = kMostVisits;
    while (!open_.empty() && settle(execution, budget)) {
    }
    for (const Open& open : open_) {
        execution.program.edges.push_back({open.first, open.reader, EdgeKind::Weak});
    }
    execution.program.edges.insert(execution.program.edges.end(), raw_.begin(), raw_.end());
}

void PacketOrder::order_place(std::span<const Access> accesses, OrderedExecution& execution,
                              const ExecutionProgress& progress) {
    std::vector<OpId> writers, readers, copiers;
    for (const Access& access : accesses) {
        auto& list = access.writes ? writers : access.raw ? copiers : readers;
        if (list.empty() || list.back() != access.op) list.push_back(access.op);
    }
    const std::uint32_t first_step = progress.first_writer[accesses.front().place];
    const auto first =
        std::ranges::find_if(writers, [&](OpId op) { return execution.step_of[op] == first_step; });
    const OpId first_writer = first == writers.end() ? plan::kNoOp : *first;
    for (const OpId copier : copiers) {
        if (first_writer != plan::kNoOp) raw_.push_back({first_writer, copier, EdgeKind::Weak});
    }
    if (readers.empty()) return;
    std::erase_if(writers, [&](OpId op) { return std::ranges::binary_search(readers, op); });
    if (writers.size() == 1) {
        for (const OpId reader : readers) {
            execution.program.edges.push_back({writers[0], reader, EdgeKind::Packet});
        }
        return;
    }
    if (first_writer == plan::kNoOp) return;
    for (const OpId reader : readers) {
        open_.push_back({reader, first_writer, static_cast<std::uint32_t>(writers_.size()),
                         static_cast<std::uint32_t>(writers.size())});
    }
    writers_.insert(writers_.end(), writers.begin(), writers.end());
}

bool PacketOrder::settle(OrderedExecution& execution, std::size_t& budget) {
    Successors successors(execution.program);
    const std::size_t before = open_.size();
    std::vector<Open> left;
    for (const Open& open : open_) {
        const auto writers = std::span(writers_).subspan(open.begin_writer, open.writers);
        const auto after_first = successors.reached(open.first, writers, budget);
        const auto after_reader = successors.reached(open.reader, writers, budget);
        bool settled = after_first && after_reader;
        for (std::size_t i = 0; settled && i < writers.size(); ++i) {
            settled = writers[i] == open.first || (*after_first)[i] || (*after_reader)[i];
        }
        if (settled) {
            execution.program.edges.push_back({open.first, open.reader, EdgeKind::Packet});
        } else {
            left.push_back(open);
        }
    }
    open_ = std::move(left);
    return open_.size() < before && budget > 0;
}

}  // namespace tutti::verify
