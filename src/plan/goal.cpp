#include "plan/goal.hpp"

#include <array>
#include <string>
#include <utility>

namespace tutti::plan {
namespace {

constexpr std::array<std::string_view, 11> kNames{"allreduce", "allgather", "reduce_scatter", "alltoall",
                                                  "broadcast", "reduce",    "gather",         "scatter",
                                                  "alltonext", "sendrecv",  "custom"};

/// Spellings compare without underscores, dashes and case.
std::string folded(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (c == '_' || c == '-') continue;
        text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text;
}

}  // namespace

std::optional<Goal> goal_of(std::string_view name) {
    const std::string wanted = folded(name);
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (folded(kNames[i]) == wanted) return static_cast<Goal>(i);
    }
    for (const char* silent : {"none", "test", "send", "recv", "alltoallv"}) {
        if (wanted == silent) return Goal::None;
    }
    return std::nullopt;
}

std::string_view name_of(Goal goal) { return kNames[static_cast<std::size_t>(goal)]; }

bool has_root(Goal goal) {
    return goal == Goal::Broadcast || goal == Goal::Reduce || goal == Goal::Gather || goal == Goal::Scatter;
}

std::vector<std::string_view> goal_names() { return {kNames.begin(), kNames.end()}; }

}  // namespace tutti::plan
