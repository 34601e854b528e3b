// HiGHS through its C API, linked. Never its C++ API: the wheel is built with the old std::string ABI, so
// that calls with strings would link to nothing, or worse.

#include "models/backends/library_file.hpp"
#include "models/backends/openers.hpp"

#include <dlfcn.h>
#include <interfaces/highs_c_api.h>

#include <cmath>
#include <vector>

namespace tutti::models {
namespace {

struct Destroy {
    void operator()(void* highs) const { Highs_destroy(highs); }
};
using Highs = std::unique_ptr<void, Destroy>;

constexpr HighsInt kColumns = 2;

/// The toy in compressed rows, as Highs_passMip wants it.
[[nodiscard]] HighsInt pass_toy(void* highs) {
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    const std::vector<double> cost{number(kToy.x), number(kToy.y)};
    const std::vector<double> lower(kColumns, number(kToy.lower)), upper(kColumns, number(kToy.upper));
    const std::vector<HighsInt> integrality(kColumns, kHighsVarTypeInteger);
    std::vector<double> row_lower, row_upper, value;
    std::vector<HighsInt> start, index;
    for (const ToyRow& row : kToy.rows) {
        start.push_back(static_cast<HighsInt>(index.size()));
        index.insert(index.end(), {0, 1});
        value.insert(value.end(), {number(row.x), number(row.y)});
        row_lower.push_back(-Highs_getInfinity(highs));
        row_upper.push_back(number(row.at_most));
    }
    return Highs_passMip(
        highs, kColumns, static_cast<HighsInt>(start.size()), static_cast<HighsInt>(index.size()),
        kHighsMatrixFormatRowwise, kHighsObjSenseMaximize, 0.0, cost.data(), lower.data(), upper.data(),
        row_lower.data(), row_upper.data(), start.data(), index.data(), value.data(), integrality.data());
}

[[nodiscard]] std::string word_for(HighsInt model_status) {
    switch (model_status) {
        case kHighsModelStatusOptimal:
            return "optimal";
        case kHighsModelStatusInfeasible:
            return "infeasible";
        case kHighsModelStatusUnbounded:
            return "unbounded";
        case kHighsModelStatusTimeLimit:
            return "time limit";
        default:
            return "model status " + std::to_string(model_status);
    }
}

class HighsBackend final : public Backend {
  public:
    [[nodiscard]] SolverLibrary library() const override {
        return {Highs_version(), library_file(RTLD_DEFAULT, "Highs_version")};
    }

    [[nodiscard]] ToyAnswer solve_toy() const override {
        const Highs highs(Highs_create());
        if (Highs_setBoolOptionValue(highs.get(), "output_flag", 0) == kHighsStatusError ||
            pass_toy(highs.get()) == kHighsStatusError || Highs_run(highs.get()) == kHighsStatusError) {
            return {.status = "error"};
        }
        const HighsInt status = Highs_getModelStatus(highs.get());
        return {.optimal = status == kHighsModelStatusOptimal,
                .objective = std::llround(Highs_getObjectiveValue(highs.get())),
                .status = word_for(status)};
    }
};

}  // namespace

OpenedBackend open_highs() { return {std::make_unique<HighsBackend>(), {}}; }

}  // namespace tutti::models
