#pragma once

#include "core/outcome.hpp"
#include "io/result_jsonl.hpp"
#include "io/solu.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::batch {

/// What the .solu files say of one instance.
struct Known {
    std::optional<Ticks> best;   ///< a makespan that was reached
    std::optional<Ticks> bound;  ///< proven; equal to `best` where the optimum is known
    bool infeasible = false;

    [[nodiscard]] bool optimal() const { return best && bound && *best == *bound; }
    friend bool operator==(const Known&, const Known&) = default;
};

using KnownValues = std::map<std::string, Known>;  ///< by the instance's name

/// The .solu file of the instances in a folder: <folder>/<folder's name>.solu, or the same file beside the
/// folder. Where there is neither, the first of the two.
[[nodiscard]] std::filesystem::path solu_path(const std::filesystem::path& folder);

[[nodiscard]] KnownValues known_values(const std::vector<io::SoluEntry>& entries);

/// What cannot be true besides what is known: a makespan below a proven bound, a bound above a makespan that
/// was reached, a schedule of the infeasible. Then a model, a bound, the verifier or the file is wrong.
[[nodiscard]] std::optional<std::string> contradiction(const io::ResultLine& result, const Known& known);

/// A result under the name that the .solu file has for its instance.
struct NamedResult {
    std::string name;
    const io::ResultLine* line;
};

/// The entries with what the results add: smaller makespans, larger bounds, optima where they meet. Entries
/// keep their order, new ones follow by name. Results with an error other than infeasibility add nothing.
[[nodiscard]] std::vector<io::SoluEntry> updated(const std::vector<io::SoluEntry>& entries,
                                                 const std::vector<NamedResult>& results);

}  // namespace tutti::batch
