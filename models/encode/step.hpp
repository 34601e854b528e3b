#pragma once

#include "models/program.hpp"

#include "core/stop.hpp"

#include "core/instance.hpp"

#include <limits>
#include <vector>

namespace tutti::models {

/// How many chunks may go from one node to another in one round, over all parallel links together.
struct StepArc {
    NodeId src, dst;
    std::int64_t capacity = 1;
};

/// Chunks that are alike: same holders, same receivers. `count` of them for every unit of C.
struct StepClass {
    std::vector<NodeId> holders;    ///< sorted
    std::vector<NodeId> receivers;  ///< sorted, without the holders
    std::int64_t count = 1;
};

/// A collective that only copies, on a network that works in rounds: what SCCL asks about. A reduction is one
/// of these too, on the reversed network.
struct StepProblem {
    std::size_t nodes = 0;
    std::vector<StepArc> arcs;  ///< one for each pair of nodes at most; none from or to who may not carry
    std::vector<StepClass> classes;
};

/// S steps, R rounds, C times the chunks of the problem.
struct StepPoint {
    int steps = 1;
    int rounds = 1;
    int chunks = 1;
    friend bool operator==(const StepPoint&, const StepPoint&) = default;
};

/// In this step (from 1 on) that chunk of that class crosses that arc.
struct StepSend {
    std::size_t chunk_class = 0;
    std::int64_t index = 0;  ///< among the chunks of the class
    std::size_t arc = 0;
    int step = 1;
};

struct StepPlan {
    std::vector<int> rounds;  ///< of each step
    std::vector<StepSend> sends;
};

/// A permutation of the nodes that maps arcs to arcs of the same capacity and classes to classes of the same
/// count.
struct StepSymmetry {
    std::vector<std::size_t> nodes, arcs, classes;
};

inline constexpr int kNever = std::numeric_limits<int>::max() / 4;

/// The fewest steps in which something held by `from` can be at each node; kNever where it cannot get.
/// Backwards: the fewest steps from each node to one of `from`.
[[nodiscard]] std::vector<int> hops(const StepProblem& problem, std::span<const NodeId> from, bool backwards);

/// The question "is there an algorithm of S steps, R rounds and C chunks?" as a program, and its solutions as
/// plans. models/README.md has the constraints S1…S9. Precondition: no receiver is farther than S hops.
class StepModel {
  public:
    /// With a group (see free_symmetries): only algorithms that are invariant under it, so that "infeasible"
    /// proves nothing.
    StepModel(const StepProblem& problem, const StepPoint& point, std::vector<StepSymmetry> group = {},
              const Stop& stop = {});

    /// Whether the stop came while it was written: the program is only a part of it.
    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] const Program& program() const { return program_; }
    /// Sends that serve no receiver are left out. Precondition: the values solve the program.
    [[nodiscard]] StepPlan plan(std::span<const std::int64_t> values) const;

  private:
    /// Polls the stop.
    [[nodiscard]] bool goes_on() {
        stopped_ = stopped_ || stop_.requested();
        return !stopped_;
    }

    /// A send of one chunk, or of so many interchangeable ones.
    struct Flow {
        Var var;
        std::size_t arc;
        int step;
    };
    /// One chunk that is copied on its way.
    struct Multicast {
        std::size_t chunk_class;
        std::int64_t index;
        std::vector<Flow> sends;
    };
    /// Unicast chunks with one source, or with one destination, that are alike until they have arrived.
    struct Commodity {
        std::vector<std::size_t> classes;
        std::vector<std::int64_t> supply, demand;  ///< per node
        std::vector<Flow> sends;                   ///< by step
    };

    /// Where each of the group's images of (arc, step) is loaded by the variable.
    void add_load(std::size_t arc, int step, Var var);
    /// Sends a send of the plan and all its images.
    void add_images(const StepSend& send, StepPlan& plan) const;
    void add_rounds();
    void add_multicast(std::size_t chunk_class);
    void add_commodities();
    void add_commodity(Commodity commodity, std::size_t number);
    void order(const std::vector<std::vector<Literal>>& first_arrival);
    void add_capacities();
    void plan_multicast(const Multicast& multicast, std::span<const std::int64_t> values,
                        StepPlan& plan) const;
    void plan_commodity(const Commodity& commodity, std::span<const std::int64_t> values,
                        StepPlan& plan) const;

    const StepProblem& problem_;
    StepPoint point_;
    std::vector<StepSymmetry> group_;
    Stop stop_;
    bool stopped_ = false;
    Program program_;
    std::vector<Var> rounds_;
    std::vector<Multicast> multicasts_;
    std::vector<Commodity> commodities_;
    std::vector<std::vector<Term>> load_;  ///< per arc and step
};

}  // namespace tutti::models
