#include "verify/demands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {
namespace {

/// Plain chunks with the same receivers are checked this many at a time, where a receiver's bits of
/// neighbouring chunks are adjacent. If some are missing, they are searched chunk by chunk.
constexpr std::size_t kTogether = 4096;

/// The end of the plain chunks from `begin` on that all name the same set of receivers.
std::size_t end_of_alike(const Instance& instance, const Tables& tables, std::size_t begin,
                         std::size_t at_most) {
    const auto receivers = instance.demand(ChunkId(begin)).receivers;
    std::size_t end = begin + 1;
    while (end < tables.chunks() && end - begin < at_most) {
        const Demand demand = instance.demand(ChunkId(end));
        if (demand.reduction || demand.receivers.data() != receivers.data()) break;
        ++end;
    }
    return end;
}

}  // namespace

void judge_demands(const Instance& instance, const Tables& tables, const Holdings& plain,
                   ReductionCounts& counted, ExactSums& exact, Report& report) {
    std::size_t good_until = 0;
    for (std::size_t c = 0; c < tables.chunks(); ++c) {
        const ChunkId chunk(c);
        const Demand demand = instance.demand(chunk);
        const std::uint32_t slot = tables.chunk(chunk).slot;
        if (demand.reduction) {
            if (!exact.is_open(chunk) && counted.is_complete(chunk)) continue;
            if (!exact.is_open(chunk)) {
                HandedOver none;
                counted.open({chunk}, none);
            }
        } else if (c >= good_until) {
            good_until = end_of_alike(instance, tables, c, plain.is_by_node() ? kTogether : 1);
            const bool all = std::ranges::all_of(demand.receivers, [&](NodeId receiver) {
                return plain.holds_all(receiver, slot, good_until - c);
            });
            if (all) {
                c = good_until - 1;
                continue;
            }
        }
        Value last;  // receivers mostly share one value, and counting a large one takes long
        std::size_t in_last = 0;
        for (const NodeId receiver : demand.receivers) {
            const std::size_t wanted = demand.reduction ? demand.holders.size() : 1;
            std::size_t found = 0;
            if (demand.reduction) {
                Value value = exact.value(receiver, chunk, Ticks::max());
                if (value != last) {
                    in_last = value ? value->bits.count() : 0;
                    last = std::move(value);
                }
                found = in_last;
            } else {
                found = plain.holds(receiver, slot) ? 1 : 0;
            }
            if (found == wanted) continue;
            report.add(found == 0 ? Rule::DemandUnmet : Rule::DemandWrong, [&] {
                Violation v;
                v.message = found == 0
                                ? fmt::format("NPU {} never gets chunk {}", receiver.value(), c)
                                : fmt::format("NPU {} ends with {} of the {} contributions to chunk {}",
                                              receiver.value(), found, wanted, c);
                v.chunk = chunk;
                v.node = receiver;
                return v;
            });
        }
    }
}

}  // namespace tutti::verify
