// Z3 through its C++ API, linked. Its exceptions end in this file.

#include "models/backends/library_file.hpp"
#include "models/backends/openers.hpp"

#include <dlfcn.h>
#include <z3++.h>

#include <sstream>

namespace tutti::models {
namespace {

class Z3Backend final : public Backend {
  public:
    [[nodiscard]] SolverLibrary library() const override {
        unsigned major = 0, minor = 0, build = 0, revision = 0;
        Z3_get_version(&major, &minor, &build, &revision);
        std::ostringstream version;
        version << major << '.' << minor << '.' << build << '.' << revision;
        return {version.str(), library_file(RTLD_DEFAULT, "Z3_get_version")};
    }

    [[nodiscard]] ToyAnswer solve_toy() const override {
        try {
            return maximised_toy();
        } catch (const z3::exception& failure) {
            return {.status = failure.msg()};
        }
    }

  private:
    [[nodiscard]] static ToyAnswer maximised_toy() {
        z3::context context;
        const z3::expr x = context.int_const("x"), y = context.int_const("y");
        const auto weighted = [&](std::int64_t a, std::int64_t b) {
            return context.int_val(a) * x + context.int_val(b) * y;
        };
        z3::optimize optimize(context);
        for (const z3::expr& variable : {x, y}) {
            optimize.add(variable >= context.int_val(kToy.lower) && variable <= context.int_val(kToy.upper));
        }
        for (const ToyRow& row : kToy.rows) {
            optimize.add(weighted(row.x, row.y) <= context.int_val(row.at_most));
        }
        const z3::expr objective = weighted(kToy.x, kToy.y);
        optimize.maximize(objective);

        // Z3 answers "sat" only once the objective is proven best: an optimize that is cut short says
        // "unknown".
        const z3::check_result result = optimize.check();
        std::ostringstream status;
        status << result;
        ToyAnswer answer{.status = status.str()};
        if (result == z3::sat) {
            answer.optimal = optimize.get_model().eval(objective, true).is_numeral_i64(answer.objective);
        }
        return answer;
    }
};

}  // namespace

OpenedBackend open_z3() { return {std::make_unique<Z3Backend>(), {}}; }

}  // namespace tutti::models
