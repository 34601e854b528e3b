#pragma once

#include "lang/program.hpp"
#include "plan/execution_plan.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::lang {

/// What is asked of an algorithm of the library.
struct AlgorithmRequest {
    CollectiveKind kind = CollectiveKind::AllReduce;
    std::uint32_t ranks = 0;
    std::optional<bool> in_place{};  ///< not given: in place where the algorithm can do that
    std::uint32_t root = 0;
    std::map<std::string, std::int64_t> parameters{};  ///< by name; others have their defaults
    friend bool operator==(const AlgorithmRequest&, const AlgorithmRequest&) = default;
};

/// Which values of a parameter are worth trying when the best program for a network is looked for.
enum class Knob : std::uint8_t {
    None,     ///< it says what is wanted or where, not how
    Any,      ///< all
    Fours,    ///< powers of 4
    Divisors  ///< of the ranks, but 1 and all of them
};

/// A number that an algorithm takes.
struct Parameter {
    std::string_view name, about;
    std::int64_t normal, least, most;
    Knob knob = Knob::Fours;
    /// The values other than the default that are worth trying.
    [[nodiscard]] std::vector<std::int64_t> worth_trying(std::uint32_t ranks) const;
};

/// The request with every parameter at a value, and in_place given.
class Settings {
  public:
    Settings(const AlgorithmRequest& request, std::span<const Parameter> parameters);
    const AlgorithmRequest& request;
    [[nodiscard]] std::uint32_t operator[](std::string_view name) const;

  private:
    std::map<std::string, std::int64_t, std::less<>> values_;
};

/// A hand-written collective. Each is one file of library/, which begins with what it does and where it is
/// from.
struct Algorithm {
    std::string_view name, about, source;
    std::vector<CollectiveKind> kinds;
    std::vector<Parameter> parameters;
    /// Why it cannot serve these ranks and parameters; empty: it can.
    std::string (*why_not)(const Settings&);
    /// Chunks of each rank's share.
    std::uint32_t (*chunks)(const Settings&);
    void (*write)(Program&, const Settings&) = nullptr;
    /// Another shape than that of the collective asked for; null: none.
    void (*reshape)(Shape&, const Settings&) = nullptr;
    /// Instead of `write`, where verbs cannot say what it does: the plan itself.
    plan::ExecutionPlan (*plan)(const Settings&) = nullptr;
};

/// All that are programs, by name.
[[nodiscard]] const std::vector<Algorithm>& algorithms();
/// Those that write plans of MSCCL++ themselves.
[[nodiscard]] const std::vector<Algorithm>& plan_algorithms();
/// Programs, then plans.
[[nodiscard]] std::vector<const Algorithm*> all_algorithms();
/// Of either kind. Throws InputError with the names.
[[nodiscard]] const Algorithm& algorithm_named(std::string_view name);
/// Why the algorithm cannot serve the request; empty: it can.
[[nodiscard]] std::string why_not(const Algorithm& algorithm, const AlgorithmRequest& request);
/// What the program would be of; of a program. Precondition: why_not is empty.
[[nodiscard]] Shape shape_of(const Algorithm& algorithm, const AlgorithmRequest& request);
/// The program; or the plan, of those that write plans. Throws InputError where why_not says why.
[[nodiscard]] Trace program_of(const Algorithm& algorithm, const AlgorithmRequest& request);
[[nodiscard]] plan::ExecutionPlan plan_of(const Algorithm& algorithm, const AlgorithmRequest& request);

}  // namespace tutti::lang
