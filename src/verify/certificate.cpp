#include "verify/certificate.hpp"

#include "core/expects.hpp"
#include "core/useful_rules.hpp"
#include "verify/certificate_checks.hpp"

namespace tutti::verify {
namespace {

struct CertificateCheck {
    const Instance& instance;
    Ticks value;

    Objection operator()(const std::monostate&) const {
        return "there is no certificate, which proves no bound above 0";
    }
    Objection operator()(const PathCertificate& path) const { return check_path(instance, path, value); }
    Objection operator()(const CutCertificate& cut) const { return check_cut(instance, cut, value); }
    Objection operator()(const VolumeCertificate& volume) const {
        return check_volume(instance, volume, value);
    }
    Objection operator()(const LengthsCertificate& lengths) const {
        return check_lengths(instance, lengths, value);
    }
    Objection operator()(const TimedLengthsCertificate& timed) const {
        return check_timed_lengths(instance, timed, value);
    }
    Objection operator()(const SmallTimesCertificate& small) const {
        return check_small_times(instance, small, value);
    }
    Objection operator()(const WaveCertificate& wave) const { return check_wave(instance, wave, value); }
    Objection operator()(const TreesCertificate& trees) const { return check_trees(instance, trees, value); }
    Objection operator()(const GrowthCertificate& growth) const {
        return check_growth(instance, growth, value);
    }
    Objection operator()(const SumCertificate& sum) const { return check_sum(instance, sum, value); }
    Objection operator()(const ContributionsCertificate& contributions) const {
        return check_contributions(instance, contributions, value);
    }
    Objection operator()(const SharedContributionsCertificate& shared) const {
        return check_shared_contributions(instance, shared, value);
    }
    Objection operator()(const PairsCertificate& pairs) const { return check_pairs(instance, pairs, value); }
    Objection operator()(const ExitsCertificate& exits) const { return check_exits(instance, exits, value); }
    Objection operator()(const DeadlinesCertificate& deadlines) const {
        return check_deadlines(instance, deadlines, value);
    }
    Objection operator()(const SolverProof& proof) const { return check_solver_proof(proof, value); }
};

}  // namespace

std::optional<std::string> check_certificate(const Instance& instance, const Bound& bound) {
    // No makespan is negative, so 0 needs no proof.
    if (bound.value <= Ticks(0)) return std::nullopt;
    const auto useful = with_useful_rules(instance);
    return std::visit(CertificateCheck{useful ? *useful : instance, bound.value}, bound.certificate);
}

Objection check_solver_proof(const SolverProof& proof, Ticks value) {
    expects(value > Ticks(0));
    if (proof.solver.empty() || proof.parameters.empty() || proof.encoding.empty()) {
        return "a solver's proof must name the solver, its parameters and the encoding";
    }
    if (proof.horizon < Ticks(0) || proof.horizon >= value || proof.horizon + Ticks(1) != value) {
        return "the solver's horizon is not the bound - 1";
    }
    return std::nullopt;
}

}  // namespace tutti::verify
