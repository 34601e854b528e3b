#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "tensor/mesh.hpp"
#include "tune/call.hpp"
#include "tune/call_estimate.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tutti::tune {

/// The instance that a call is on a network: one collective for each group, of chunks of
/// call / (ranks x chunks).
[[nodiscard]] InstanceParts call_instance(const tensor::Mesh& mesh, const TopologyParts& topology,
                                          const Call& call, std::uint64_t chunks);

/// A verified schedule of a call.
struct CallSchedule {
    std::shared_ptr<const Instance> instance{};  ///< null where there is nothing to send: groups of one rank
    Schedule schedule{};
    Ticks makespan{};
    Bound bound{};
    std::string method{};
    std::uint64_t chunks = 1;      ///< per share
    std::uint64_t wire_bytes = 0;  ///< over all links
    Ticks busy{};  ///< of the link that is busy longest: how soon the next such call can follow
    [[nodiscard]] double us() const { return static_cast<double>(makespan.count()) / 1e6; }
    [[nodiscard]] double busy_us() const { return static_cast<double>(busy.count()) / 1e6; }
};

/// What calls take on a network: each is synthesized once, for several numbers of chunks, of which the best
/// counts. Answers are kept.
class CallSchedules {
  public:
    using Say = std::function<void(const std::string&)>;

    /// Throws InputError where the topology is not in physical units or has not the mesh's NPUs. The topology
    /// must outlive this. Synthesis of one instance takes at most `seconds_each`.
    CallSchedules(const Topology& topology, tensor::Mesh mesh, Stop stop, Say say, double seconds_each = 0.3);

    /// By the heuristics alone. Throws LimitError when stopped before there is any schedule, InfeasibleError
    /// where the network joins the ranks not.
    [[nodiscard]] const CallSchedule& of(const Call& call);
    /// By all methods, for as many seconds; never worse than of(call).
    const CallSchedule& refined(const Call& call, double seconds);

    /// A guess, without synthesis: what is known, or the closed form, as far off as it is for the known call
    /// over the same axes that is most alike.
    [[nodiscard]] double estimated_us(const Call& call) const;
    [[nodiscard]] double estimated_busy_us(const Call& call) const;

    /// How many instances were synthesized.
    [[nodiscard]] std::size_t syntheses() const { return syntheses_; }
    [[nodiscard]] const tensor::Mesh& mesh() const { return mesh_; }
    [[nodiscard]] bool has(const Call& call) const { return answers_.contains(call); }

  private:
    [[nodiscard]] CallSchedule quickly(const Call& call, std::uint64_t chunks);
    [[nodiscard]] std::vector<std::uint64_t> chunks_worth_trying(const Call& call) const;
    [[nodiscard]] const Call* most_alike(const Call& call) const;
    [[nodiscard]] CallSchedule synthesized(InstanceParts parts, std::uint64_t chunks, const char* method,
                                           double seconds);

    const Topology& topology_;
    const tensor::Mesh mesh_;
    const CallEstimates estimates_;
    const Stop stop_;
    const Say say_;
    const double seconds_each_;
    std::size_t syntheses_ = 0;
    std::map<Call, CallSchedule> answers_;
    std::map<Call, bool> refined_;
};

}  // namespace tutti::tune
