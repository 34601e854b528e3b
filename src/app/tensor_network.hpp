#pragma once

#include "core/topology.hpp"
#include "run/program_tasks.hpp"
#include "tensor/program.hpp"
#include "tune/collective_cost.hpp"

#include <memory>
#include <optional>
#include <string>

namespace tutti::app {

/// Links that a tensor program's messages take: of a topology, or alike ones between all ranks.
struct LinkOptions {
    std::string topology{};  ///< a file; empty: none
    struct Link {
        double latency_us = 0, GBps = 0;
        friend bool operator==(const Link&, const Link&) = default;
    };
    std::optional<Link> between_all{};
    [[nodiscard]] bool any() const { return !topology.empty() || between_all.has_value(); }
    friend bool operator==(const LinkOptions&, const LinkOptions&) = default;
};

/// For a run of the program on this topology with these schedules of its calls, and more that are synthesized
/// for it. All must outlive it.
[[nodiscard]] run::ProgramNetwork program_network(const tensor::Program& program, const Topology& topology,
                                                  tune::CallSchedules& calls);

/// The emulated network of a program: its topology, and the schedules of its collectives there, which are
/// synthesized as the tuner does, so that what is predicted and what is run are the same.
class TensorNetwork {
  public:
    /// Throws InputError where the topology is not in physical units or has not the mesh's NPUs.
    TensorNetwork(const LinkOptions& options, const tensor::Mesh& mesh, Stop stop,
                  tune::CallSchedules::Say say);
    TensorNetwork(const TensorNetwork&) = delete;
    TensorNetwork& operator=(const TensorNetwork&) = delete;

    [[nodiscard]] tune::CallSchedules& calls() { return *calls_; }
    /// For a run of the program, which must outlive it, as this must.
    [[nodiscard]] run::ProgramNetwork of(const tensor::Program& program) {
        return program_network(program, topology_, *calls_);
    }

  private:
    Topology topology_;
    std::optional<tune::CallSchedules> calls_;
};

}  // namespace tutti::app
