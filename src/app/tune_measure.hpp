#pragma once

#include "app/watch.hpp"
#include "core/topology.hpp"
#include "tensor/program.hpp"
#include "tune/collective_cost.hpp"
#include "verify/tensor/arrays.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

/// What forms of a program take on this machine: a thread for each rank, messages on emulated links.
class TuneMeasure {
  public:
    static constexpr std::size_t kCalls = 5;

    /// All must outlive it. Inputs are drawn, unless they are too large: then nothing is measured.
    TuneMeasure(const tensor::Program& original, const Topology& topology, tune::CallSchedules& calls,
                const Watch& watch);

    /// Microseconds of a call, the median of some; nothing where it cannot be told, for a reason that why()
    /// has. Throws LimitError when interrupted.
    [[nodiscard]] std::optional<double> us(const tensor::Program& form);
    /// Why something was not measured; empty: everything was.
    [[nodiscard]] const std::string& why() const { return why_; }

  private:
    const Topology& topology_;
    tune::CallSchedules& calls_;
    const Watch& watch_;
    verify::Arrays inputs_;
    std::string why_{};
};

}  // namespace tutti::app
