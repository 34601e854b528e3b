#pragma once

#include "core/topology.hpp"
#include "tensor/mesh.hpp"
#include "tune/call.hpp"

namespace tutti::tune {

/// What calls take by closed forms: so many latencies, and what a rank sends at the rate of all its links, of
/// the rank that has the slowest. A guess by which a search chooses what it looks at first.
class CallEstimates {
  public:
    CallEstimates(const Topology& topology, const tensor::Mesh& mesh);
    [[nodiscard]] double us(const Call& call) const;
    /// Of these, how long its links are busy: without the latencies.
    [[nodiscard]] double busy_us(const Call& call) const;

  private:
    const tensor::Mesh mesh_;
    double latency_us_ = 0, us_per_byte_ = 0;
};

}  // namespace tutti::tune
