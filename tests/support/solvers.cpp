#include "tests/support/solvers.hpp"

#include "models/backends/registry.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

namespace tutti::test {

const models::Backend* linear_backend() {
    static const auto opened = [] {
        for (const models::BackendEntry& entry : models::backends()) {
            models::OpenedBackend backend = entry.open();
            if (backend && backend.backend->abilities().linear_programs) return backend;
        }
        return models::OpenedBackend{};
    }();
    if (!opened) MESSAGE("no backend for linear programs is built in");
    return opened.backend.get();
}

std::string answer_to(const models::Routing& routing, const models::Question& question,
                      models::Units64 horizon, const models::Backend& backend, bool presolve) {
    models::SolveLimits limits;
    limits.stop = Stop(Stop::Seconds(60));
    limits.presolve = presolve;
    const models::Answer answer = backend.solve(question.program, limits);
    if (answer.ended == models::Ended::Infeasible) return "none";
    if (!answer.has_solution()) return "no answer: " + answer.words;
    const Schedule schedule = schedule_of(routing, horizon, question.read(answer.values));
    const Verdict verdict = verify::verify(routing.instance(), schedule);
    if (!verdict.valid()) return "invalid: " + verdict.violations.front().message;
    return schedule.makespan <= routing.ticks(horizon) ? "found" : "too long";
}

}  // namespace tutti::test
