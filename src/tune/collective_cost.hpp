#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "tensor/mesh.hpp"
#include "tensor/program.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tutti::tune {

/// A call of a collective, made by all groups of its axes at once. Two calls that compare equal take equally
/// long.
struct Call {
    tensor::Op op = tensor::Op::AllReduce;
    std::vector<tensor::AxisId> axes{};
    std::int64_t bytes = 0;   ///< what a rank hands to it; of an all_gather what it ends with
    std::int64_t pieces = 1;  ///< so many of it under one schedule, each of these bytes
    Ticks each{};             ///< of pieces: the first is there after this time, and each after as much more
    std::int64_t root = 0, by = 0;  ///< of reduce_to and broadcast_from; of shift
    friend auto operator<=>(const Call&, const Call&) = default;
};

/// The call that a value makes. Precondition: it is a collective.
[[nodiscard]] Call call_of(const tensor::Program& program, const tensor::Value& value);

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
    [[nodiscard]] double us() const { return static_cast<double>(makespan.count()) / 1e6; }
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

    /// How many instances were synthesized.
    [[nodiscard]] std::size_t syntheses() const { return syntheses_; }
    [[nodiscard]] const tensor::Mesh& mesh() const { return mesh_; }
    [[nodiscard]] bool has(const Call& call) const { return answers_.contains(call); }

  private:
    [[nodiscard]] CallSchedule quickly(const Call& call, std::uint64_t chunks);
    [[nodiscard]] std::vector<std::uint64_t> chunks_worth_trying(const Call& call) const;
    [[nodiscard]] CallSchedule synthesized(InstanceParts parts, std::uint64_t chunks, const char* method,
                                           double seconds);

    const Topology& topology_;
    const tensor::Mesh mesh_;
    const Stop stop_;
    const Say say_;
    const double seconds_each_;
    std::size_t syntheses_ = 0;
    std::map<Call, CallSchedule> answers_;
    std::map<Call, bool> refined_;
};

/// "all_reduce over data, 64 MiB".
[[nodiscard]] std::string words_of(const tensor::Mesh& mesh, const Call& call);

}  // namespace tutti::tune
