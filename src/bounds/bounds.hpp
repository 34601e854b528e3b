#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/stop.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace tutti::bounds {

class Traffic;

/// Lower bounds that need no solver, with their certificates (docs/bounds.md), the largest first. Never
/// empty. Work is limited: on very large instances the bounds are smaller than they could be, never wrong.
/// Precondition of both: every receiver can be reached.

/// The families one at a time, for who decides which are worth their time (synth/bounding). What they share
/// is computed once.
class Families {
  public:
    /// The instance must outlive this.
    explicit Families(const Instance& instance);
    Families(Families&&) noexcept;
    ~Families();

    /// As simple_bounds().
    [[nodiscard]] std::vector<Bound> simple(const Stop& stop);
    /// The worst cut: about a second at the most, whatever the instance.
    [[nodiscard]] Bound cut(const Stop& stop);
    /// Two waves over the border of a part: a few tenths of a second at the most.
    [[nodiscard]] Bound wave(const Stop& stop);
    /// All messages over links of certain lengths: about a second at the most. None: it would take longer.
    [[nodiscard]] std::optional<Bound> trees(const Stop& stop);
    /// How fast what one NPU has can be in many places: half a second at the most. None: it would take
    /// longer.
    [[nodiscard]] std::optional<Bound> growth(const Stop& stop);
    /// Start, way and time left of all chunks together: some tenths of a second at the most. None: it would
    /// take longer.
    [[nodiscard]] std::optional<Bound> sum(const Stop& stop);
    /// How much messages of a reduction can carry by when: some tenths of a second at the most. None: it
    /// would take longer.
    [[nodiscard]] std::optional<Bound> contributions(const Stop& stop);
    /// What sends between the sides of a cut can carry and reach by when: some tenths of a second at the
    /// most. None: it would take longer.
    [[nodiscard]] std::optional<Bound> pairs(const Stop& stop);
    [[nodiscard]] std::optional<Bound> exits(const Stop& stop);
    /// What cannot start early enough ends late, one by one: some tenths of a second at the most. None: it
    /// would take longer.
    [[nodiscard]] std::optional<Bound> deadlines(const Stop& stop);
    /// The dual of a multicommodity flow, by multiplicative weights: about half a second at the most.
    [[nodiscard]] Bound flow(const Stop& stop);

  private:
    std::unique_ptr<const Instance> useful_;  ///< the instance without what its switches can do in vain
    std::unique_ptr<Traffic> traffic_;
    std::vector<std::vector<bool>> worst_cut_;  ///< none or one: per node, whether it is inside
};

/// The fast ones: latency, ingress, egress, volume, and for all-to-alls the regular cuts. Near-linear.
[[nodiscard]] std::vector<Bound> simple_bounds(const Instance& instance, const Stop& stop = {});

/// Those, and all the others of Families.
[[nodiscard]] std::vector<Bound> all_bounds(const Instance& instance, const Stop& stop = {});

}  // namespace tutti::bounds
