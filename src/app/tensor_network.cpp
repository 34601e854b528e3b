#include "app/tensor_network.hpp"

#include "core/error.hpp"
#include "io/topology_file.hpp"
#include "tensor/kernels.hpp"

#include <algorithm>
#include <array>

namespace tutti::app {
namespace {

using tensor::ValueId;

/// A schedule of one call is mostly there at once; heuristics that could go on get so long.
constexpr double kSecondsOfCall = 0.3;

Topology all_linked(const LinkOptions::Link& link, const tensor::Mesh& mesh) {
    TopologyParts parts;
    parts.npus = 2;  // one alone has no link that would tell the units
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank)
        parts.npus = std::max(parts.npus, mesh.device(rank) + 1);
    const Wire wire{.alpha = alpha_of(decimal_from(link.latency_us * 1000)),
                    .beta = {},
                    .bandwidth = decimal_from(link.GBps)};
    for (std::uint32_t from = 0; from < parts.npus; ++from) {
        for (std::uint32_t to = 0; to < parts.npus; ++to) {
            if (from != to) parts.links.push_back({NodeId(from), NodeId(to), wire});
        }
    }
    return Topology(std::move(parts));
}

tune::Call call_of(const tensor::Program& program, const std::vector<ValueId>& collectives,
                   std::int64_t pieces) {
    tune::Call call = tune::call_of(program, program[collectives.front()]);
    call.bytes = 0;
    for (const ValueId id : collectives)
        call.bytes += (tune::call_of(program, program[id]).bytes + pieces - 1) / pieces;
    return call;
}

}  // namespace

TensorNetwork::TensorNetwork(const LinkOptions& options, const tensor::Mesh& mesh, Stop stop,
                             tune::CallSchedules::Say say)
    : topology_(options.topology.empty() ? all_linked(*options.between_all, mesh)
                                         : io::read_topology_file(options.topology)) {
    try {
        calls_.emplace(topology_, mesh, stop, std::move(say), kSecondsOfCall);
    } catch (const InputError& error) {
        throw error.file().empty() && !options.topology.empty() ? error.in_file(options.topology) : error;
    }
}

run::ProgramNetwork program_network(const tensor::Program& program, const Topology& topology,
                                    tune::CallSchedules& calls) {
    run::ProgramNetwork network{.topology = &topology};
    network.schedule_of = [&calls, &program](const std::vector<ValueId>& collectives, std::int64_t pieces) {
        const tune::CallSchedule& made = calls.of(call_of(program, collectives, pieces));
        return run::NetworkCall{made.instance, &made.schedule};
    };
    // As many pieces as cost no more than a tenth in latencies.
    network.pieces_of = [&calls, &program](const tensor::Kernel& kernel) -> std::int64_t {
        constexpr std::array<std::int64_t, 3> kPieces{8, 4, 2};
        constexpr double kWorth = 1.1;
        const auto us_in = [&](std::int64_t pieces) {
            double us = 0;
            for (const ValueId id : kernel.values) {
                if (is_collective(program[id].op))
                    us += calls.of(call_of(program, {id}, pieces)).us() * static_cast<double>(pieces);
            }
            return us;
        };
        const double whole = us_in(1);
        for (const std::int64_t pieces : kPieces) {
            if (us_in(pieces) <= kWorth * whole) return pieces;
        }
        return 1;
    };
    return network;
}

}  // namespace tutti::app
