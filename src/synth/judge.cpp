#include "synth/judge.hpp"

#include "verify/certificate.hpp"
#include "verify/schedule_verifier.hpp"
#include "verify/symmetric_verifier.hpp"

#include <fmt/format.h>

namespace tutti::synth {

Verdict judge(const Instance& instance, const Schedule& schedule, const Bound& bound,
              const std::string& who) {
    ScheduleSource source(schedule);
    return judge(instance, source, bound, who);
}

Verdict judge(const Instance& instance, SendSource& sends, const Bound& bound, const std::string& who) {
    Verdict verdict = verify::verify(instance, sends);
    judge(verdict, bound, who);
    return verdict;
}

Verdict judge(const Instance& instance, const symmetry::SymmetricSchedule& schedule, const Bound& bound,
              const std::string& who) {
    Verdict verdict = verify::verify(instance, schedule);
    judge(verdict, bound, who);
    return verdict;
}

void judge(const Verdict& verdict, const Bound& bound, const std::string& who) {
    if (!verdict.valid()) {
        const Violation& first = verdict.violations.front();
        throw InternalError(fmt::format("{} made a schedule that breaks V{} ({}): {}", who,
                                        number_of(first.rule), code_of(first.rule), first.message));
    }
    judge(verdict.makespan, bound, who);
}

void judge(Ticks makespan, const Bound& bound, const std::string& who) {
    if (makespan >= bound.value) return;
    throw InternalError(fmt::format("{} made a valid schedule of makespan {}, below the lower bound {} ({})",
                                    who, makespan.count(), bound.value.count(), bound.kind));
}

bool is_checkable(const Instance& instance, const Bound& bound) {
    // Paths and cuts look at each chunk and link a few times, the others search from every holder.
    constexpr std::size_t kMostWork = 20'000'000;
    const bool once = std::holds_alternative<PathCertificate>(bound.certificate) ||
                      std::holds_alternative<CutCertificate>(bound.certificate);
    const std::size_t searches =
        once ? 1 : std::min<std::size_t>(instance.chunks(), instance.topology().npus());
    return instance.topology().links().size() * searches <= kMostWork;
}

bool judge(const Instance& instance, const Bound& bound) {
    if (!is_checkable(instance, bound)) return true;
    const auto fault = verify::check_certificate(instance, bound);
    if (!fault) return true;
    if (*fault == verify::kTooLongToCheck) return false;
    throw InternalError(fmt::format("the certificate of the lower bound {} ({}) does not prove it: {}",
                                    bound.value.count(), bound.kind, *fault));
}

}  // namespace tutti::synth
