#include "models/backends/claim.hpp"

#include <fmt/format.h>

namespace tutti::models {

Answer checked(std::string_view solver, const Program& program, Claim claim) {
    Answer answer{.ended = claim.ended, .words = std::move(claim.words)};
    if (!program.objective().empty()) answer.bound = claim.bound;
    if (!answer.has_solution()) return answer;
    const auto refuse = [&](const std::string& reason) {
        return Answer{.words = fmt::format("{} says \"{}\", but {}", solver, answer.words, reason)};
    };
    if (const auto broken = program.broken_by(claim.values)) return refuse("its values break " + *broken);
    answer.objective = program.objective_of(claim.values);
    if (!answer.objective) return refuse("the objective of its values does not fit into 64 bits");
    answer.values = std::move(claim.values);
    if (program.objective().empty()) answer.ended = Ended::Optimal;
    if (answer.ended == Ended::Optimal) answer.bound = answer.objective;
    if (answer.bound && *answer.bound > *answer.objective) {
        return refuse(
            fmt::format("its bound {} is above its objective {}", *answer.bound, *answer.objective));
    }
    return answer;
}

}  // namespace tutti::models
