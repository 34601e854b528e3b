#include "batch/known_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;

void learn(Known& known, const io::ResultLine& result) {
    if (result.status == Status::Infeasible) known.infeasible = true;
    if (!result.error.empty() || !result.verified) return;
    if (result.makespan && (!known.best || *result.makespan < *known.best)) known.best = result.makespan;
    if (result.lower_bound && (!known.bound || *result.lower_bound > *known.bound))
        known.bound = result.lower_bound;
}

void append(std::vector<io::SoluEntry>& entries, const std::string& name, const Known& known) {
    using io::SoluTag;
    if (known.infeasible) {
        entries.push_back({SoluTag::Infeasible, name, {}});
    } else if (known.optimal()) {
        entries.push_back({SoluTag::Optimal, name, known.best});
    } else {
        if (known.best) entries.push_back({SoluTag::Best, name, known.best});
        if (known.bound) entries.push_back({SoluTag::BestDual, name, known.bound});
        if (!known.best && !known.bound) entries.push_back({SoluTag::Unknown, name, {}});
    }
}

}  // namespace

fs::path solu_path(const fs::path& folder) {
    std::error_code error;
    fs::path whole = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
    if (error) whole = folder;
    const std::string name = whole.filename().string() + ".solu";
    const fs::path inside = folder / name;
    const fs::path beside = (folder.empty() ? fs::path("..") : folder / "..") / name;
    return !fs::exists(inside, error) && fs::exists(beside, error) ? beside.lexically_normal() : inside;
}

KnownValues known_values(const std::vector<io::SoluEntry>& entries) {
    KnownValues values;
    for (const io::SoluEntry& entry : entries) {
        Known& known = values[entry.name];
        switch (entry.tag) {
            case io::SoluTag::Optimal:
                known.best = known.bound = entry.value;
                break;
            case io::SoluTag::Best:
                known.best = entry.value;
                break;
            case io::SoluTag::BestDual:
                known.bound = entry.value;
                break;
            case io::SoluTag::Infeasible:
                known.infeasible = true;
                break;
            case io::SoluTag::Unknown:
                break;
        }
    }
    return values;
}

std::optional<std::string> contradiction(const io::ResultLine& result, const Known& known) {
    const std::string_view proven = known.optimal() ? "optimum" : "bound";
    if (result.makespan && known.infeasible)
        return "a schedule of an instance known as infeasible: one of them is wrong";
    if (result.status == Status::Infeasible && known.best)
        return "infeasible, but a makespan is known: one of them is wrong";
    if (result.makespan && known.bound && *result.makespan < *known.bound) {
        return fmt::format("better than the proven {}: makespan {} is below {}; one of them is wrong", proven,
                           result.makespan->count(), known.bound->count());
    }
    if (result.lower_bound && known.best && *result.lower_bound > *known.best) {
        return fmt::format("the lower bound {} is above the known makespan {}; one of them is wrong",
                           result.lower_bound->count(), known.best->count());
    }
    return std::nullopt;
}

std::vector<io::SoluEntry> updated(const std::vector<io::SoluEntry>& entries,
                                   const std::vector<NamedResult>& results) {
    KnownValues values = known_values(entries);
    std::vector<std::string> order;
    std::set<std::string> seen;
    for (const io::SoluEntry& entry : entries) {
        if (seen.insert(entry.name).second) order.push_back(entry.name);
    }
    const auto old = static_cast<std::ptrdiff_t>(order.size());
    for (const auto& [name, line] : results) {
        const bool adds = line->status == Status::Infeasible || (line->error.empty() && line->verified);
        if (!adds || contradiction(*line, values[name])) continue;
        if (seen.insert(name).second) order.push_back(name);
        learn(values[name], *line);
    }
    std::sort(order.begin() + old, order.end());
    std::vector<io::SoluEntry> merged;
    for (const std::string& name : order) append(merged, name, values[name]);
    return merged;
}

}  // namespace tutti::batch
