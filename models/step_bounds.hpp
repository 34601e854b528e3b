#pragma once

#include "models/encode/step.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::models {

/// An exact fraction in lowest terms; den > 0.
struct Ratio {
    std::int64_t num = 0, den = 1;
    [[nodiscard]] static Ratio of(std::int64_t num, std::int64_t den);
    friend bool operator==(Ratio, Ratio) = default;
    friend bool operator<(Ratio a, Ratio b) { return a.num * b.den < b.num * a.den; }
};

/// A cut: for each unit of C, `demand` chunks must enter the set `inside`, none of them in the first `before`
/// steps nor in the last `after`; at most `capacity` can enter in one round. As each of those steps takes a
/// round or more, R >= before + after + C * demand / capacity.
struct StepCut {
    std::vector<NodeId> inside;
    std::int64_t demand = 0, capacity = 1;
    int before = 0, after = 0;
};

/// The largest network whose cuts are all enumerated, and the largest supported.
inline constexpr std::size_t kAllCutsNodes = 16;
inline constexpr std::size_t kMostStepNodes = 64;

/// What can be said of all algorithms of a problem without a solver: distances and cuts.
/// All cuts up to kAllCutsNodes nodes; beyond, balls around each node, intervals of node numbers, and their
/// complements.
class StepBounds {
  public:
    /// Precondition: at most kMostStepNodes nodes, and every receiver can be reached.
    explicit StepBounds(const StepProblem& problem);

    [[nodiscard]] int fewest_steps() const { return fewest_steps_; }
    /// No algorithm has a smaller R/C, whatever its steps.
    [[nodiscard]] Ratio least_ratio() const;
    /// Why there is no such algorithm, in words; none if distances and cuts allow it.
    [[nodiscard]] std::optional<std::string> refutation(const StepPoint& point) const;

  private:
    void try_cut(std::uint64_t inside);

    const StepProblem& problem_;
    int fewest_steps_ = 0;
    std::vector<std::uint64_t> holders_, receivers_;  ///< per class, as sets of nodes
    std::vector<std::vector<std::uint64_t>>
        within_;                      ///< per class: whom it can have reached after so many steps
    std::vector<std::uint64_t> out_;  ///< per node: where its arcs lead
    std::vector<StepCut> cuts_;       ///< the best for each before + after
};

}  // namespace tutti::models
