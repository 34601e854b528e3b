#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"

#include <optional>
#include <string>

// One check per kind of certificate: none if it proves that no schedule has a makespan below `value`, else
// why not. Precondition of all: value > 0.

namespace tutti::verify {

using Objection = std::optional<std::string>;

[[nodiscard]] Objection check_path(const Instance& instance, const PathCertificate& path, Ticks value);
[[nodiscard]] Objection check_cut(const Instance& instance, const CutCertificate& cut, Ticks value);
[[nodiscard]] Objection check_volume(const Instance& instance, const VolumeCertificate& volume, Ticks value);
[[nodiscard]] Objection check_lengths(const Instance& instance, const LengthsCertificate& lengths,
                                      Ticks value);
[[nodiscard]] Objection check_timed_lengths(const Instance& instance, const TimedLengthsCertificate& timed,
                                            Ticks value);
[[nodiscard]] Objection check_small_times(const Instance& instance, const SmallTimesCertificate& small,
                                          Ticks value);
[[nodiscard]] Objection check_wave(const Instance& instance, const WaveCertificate& wave, Ticks value);
[[nodiscard]] Objection check_trees(const Instance& instance, const TreesCertificate& trees, Ticks value);
[[nodiscard]] Objection check_growth(const Instance& instance, const GrowthCertificate& growth, Ticks value);
[[nodiscard]] Objection check_sum(const Instance& instance, const SumCertificate& sum, Ticks value);
[[nodiscard]] Objection check_contributions(const Instance& instance,
                                            const ContributionsCertificate& contributions, Ticks value);
[[nodiscard]] Objection check_shared_contributions(const Instance& instance,
                                                   const SharedContributionsCertificate& shared, Ticks value);
[[nodiscard]] Objection check_pairs(const Instance& instance, const PairsCertificate& pairs, Ticks value);
[[nodiscard]] Objection check_exits(const Instance& instance, const ExitsCertificate& exits, Ticks value);
[[nodiscard]] Objection check_deadlines(const Instance& instance, const DeadlinesCertificate& deadlines,
                                        Ticks value);
[[nodiscard]] Objection check_solver_proof(const SolverProof& proof, Ticks value);

}  // namespace tutti::verify
