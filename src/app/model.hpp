#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "core/ticks.hpp"
#include "core/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::app {

enum class ModelEncoding { TimeIndexed, Symmetric, Intervals, Alone };
enum class ModelFormat { Mps, Smt2, CpSat };

struct ModelOptions {
    std::string instance{};                 ///< a path, or "-"
    std::optional<std::int64_t> horizon{};  ///< ticks; the best bound where not given
    ModelEncoding encoding = ModelEncoding::TimeIndexed;
    std::optional<ModelFormat> format{};  ///< by the output's suffix where not given
    std::string output{};                 ///< a path; "-" or empty: standard output
    friend bool operator==(const ModelOptions&, const ModelOptions&) = default;
};

/// The size of a model that was written.
struct WrittenModel {
    std::string instance{};
    Units units = Units::Abstract;
    ModelEncoding encoding = ModelEncoding::TimeIndexed;
    ModelFormat format = ModelFormat::Mps;
    Ticks horizon{};
    std::size_t variables = 0, constraints = 0;
    std::string doubt{};  ///< why "infeasible" would prove nothing; empty if it is a proof
    std::string file{};   ///< "-" is standard output
};

/// Writes the model that exact synthesis gives to solvers: is there a schedule by the horizon? Needs no
/// solver. Throws InputError where the encoding or format cannot express it, LimitError where the text would
/// be too large, InfeasibleError, BugError.
[[nodiscard]] WrittenModel model(const ModelOptions& options, const Watch& watch = {});

[[nodiscard]] std::string_view name_of(ModelEncoding encoding);
[[nodiscard]] std::string_view name_of(ModelFormat format);

/// `instance`, `encoding`, `format`, `horizon`, `variables`, `constraints`, `infeasible_is_proof`, `doubt`,
/// `file`.
[[nodiscard]] io::Json json_of(const WrittenModel& model);

}  // namespace tutti::app
