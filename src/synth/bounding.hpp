#pragma once

#include "bounds/bounds.hpp"
#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/search_options.hpp"
#include "core/stop.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace tutti::synth {

/// The lower bounds of an instance, by the one policy that all commands share (docs/bounds.md, "Which bounds
/// are computed"): cheap ones first, each only if no bound so far is enough, none whose program is too large,
/// none for which there is no time. Without a time limit the same instance has the same bound, whoever asks.
/// The certificate of the best one is checked (synth/judge); where that would take too long, the next one is
/// the best.
class Bounding {
  public:
    /// Precondition: every receiver can be reached. The instance must outlive this.
    explicit Bounding(const Instance& instance, const SearchOptions& options = {});

    /// The near-linear ones. To be called first, once.
    void begin(const Stop& stop);
    /// The others, until one reaches `enough`: the makespan of a schedule that is known. Where that was
    /// smaller before, or the time was over, it goes on from there.
    void go_on(std::optional<Ticks> enough, const Stop& stop);
    /// The same without those that may take long.
    void go_on_quickly(std::optional<Ticks> enough, const Stop& stop);

    /// The part of the time that is left which a search gives to bounds.
    [[nodiscard]] Stop share_of(const Stop& stop) const;

    /// The largest first; never empty after begin().
    [[nodiscard]] const std::vector<Bound>& bounds() const { return bounds_; }
    [[nodiscard]] const Bound& best() const { return bounds_.front(); }
    /// Checks the certificates of the others too.
    void check_all();
    /// What was left out, and why, in the order in which they are computed.
    [[nodiscard]] std::vector<SkippedBound> skipped() const;

  private:
    /// A bound that is not near-linear.
    struct Stage {
        std::string kind;
        void (Bounding::*run)(Stage&, const Stop&);
        bool is_quick = true;  ///< its work is bounded
        bool done = false;
        std::string why_not{};  ///< why it was skipped, or ended early
    };

    void run_stages(std::optional<Ticks> enough, bool only_quick, const Stop& stop);
    void cut(Stage& stage, const Stop& stop);
    void wave(Stage& stage, const Stop& stop);
    void trees(Stage& stage, const Stop& stop);
    void growth(Stage& stage, const Stop& stop);
    void sum(Stage& stage, const Stop& stop);
    void contributions(Stage& stage, const Stop& stop);
    void pairs(Stage& stage, const Stop& stop);
    void exits(Stage& stage, const Stop& stop);
    void deadlines(Stage& stage, const Stop& stop);
    void flow(Stage& stage, const Stop& stop);
    [[nodiscard]] bounds::Families& families();
    void flow_program(Stage& stage, const Stop& stop);
    void time_expanded(Stage& stage, const Stop& stop);
    /// Enters a bound that says something; none is too large to compute.
    void enter_if_any(Stage& stage, std::optional<Bound> bound);
    /// Keeps the better one of a kind.
    void enter(Bound bound);
    /// Bounds whose check gives up are dropped.
    void check_best();
    std::vector<Bound>::iterator drop(std::vector<Bound>::iterator bound);

    std::unique_ptr<const Instance> useful_;  ///< the instance without what its switches can do in vain
    const Instance& instance_;
    const SearchOptions options_;
    std::optional<bounds::Families> families_;  ///< only while they are needed: their tables are large
    std::vector<Bound> bounds_;
    std::vector<SkippedBound> cut_short_;  ///< of the near-linear ones
    std::vector<Stage> stages_;
};

/// All of it at once.
[[nodiscard]] Bounding bounds_of(const Instance& instance, std::optional<Ticks> enough = {},
                                 const Stop& stop = {}, const SearchOptions& options = {});

/// A checkable proof by linear duals of what a solver has proven: that no schedule is shorter than `value`;
/// searched for `time`. None if there is no such proof or it is not found in time.
[[nodiscard]] std::optional<Bound> checkable_proof(const Instance& instance, Ticks value, const Stop& stop,
                                                   Stop::Seconds time);

}  // namespace tutti::synth
