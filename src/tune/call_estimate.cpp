#include "tune/call_estimate.hpp"

#include <algorithm>
#include <limits>

namespace tutti::tune {
namespace {

using tensor::Op;

/// Large, so that rounding to ticks is nothing.
constexpr Bytes kProbe{1'000'000};
constexpr double kTicksPerUs = 1e6;

/// Of a call's bytes, how many a rank sends.
double sent_share(Op op, double ranks) {
    switch (op) {
        case Op::AllReduce:
            return 2 * (ranks - 1) / ranks;
        case Op::ReduceScatter:
        case Op::AllGather:
        case Op::AllToAll:
            return (ranks - 1) / ranks;
        default:
            return 1;
    }
}

}  // namespace

CallEstimates::CallEstimates(const Topology& topology, const tensor::Mesh& mesh) : mesh_(mesh) {
    double slowest = std::numeric_limits<double>::infinity();
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        if (mesh.device(rank) >= topology.npus()) continue;
        double bytes_per_us = 0;
        for (const LinkId id : topology.out_links(NodeId(mesh.device(rank)))) {
            bytes_per_us += static_cast<double>(kProbe.count) * kTicksPerUs /
                            static_cast<double>(topology.beta(id, kProbe).count());
            latency_us_ = std::max(latency_us_,
                                   static_cast<double>(topology.link(id).wire.alpha.count()) / kTicksPerUs);
        }
        slowest = std::min(slowest, bytes_per_us);
    }
    if (slowest > 0) us_per_byte_ = 1 / slowest;
}

double CallEstimates::us(const Call& call) const {
    if (mesh_.group_size(call.axes) < 2) return 0;
    return (call.op == Op::AllReduce ? 2 : 1) * latency_us_ + busy_us(call);
}

double CallEstimates::busy_us(const Call& call) const {
    const auto ranks = static_cast<double>(mesh_.group_size(call.axes));
    if (ranks < 2) return 0;
    return sent_share(call.op, ranks) * static_cast<double>(call.bytes) * us_per_byte_;
}

}  // namespace tutti::tune
