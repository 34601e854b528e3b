#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "tensor/program.hpp"
#include "tensor/refusal.hpp"
#include "verify/tensor/equivalence.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

/// A tensor program and what was made of it.
struct TensorJudgeOptions {
    std::string program{};
    std::string other{};  ///< a schedule or a program; empty: the program itself
    bool field = false;   ///< run both, too
    std::map<std::string, std::vector<std::int64_t>> sizes{};  ///< to run at, each with each
    std::map<std::string, std::int64_t> mesh{};                ///< ranks of axes, to run at
    friend bool operator==(const TensorJudgeOptions&, const TensorJudgeOptions&) = default;
};

/// A run in the field, or in f64.
struct JudgedRun {
    std::string numbers{};  ///< "field", "f64"
    verify::RunReport report{};
};

struct JudgedTensor {
    std::string file{}, other{};
    std::optional<tensor::Refusal> refused{};  ///< a program or a step; there is nothing else then
    std::string program{};                     ///< its name
    std::size_t values = 0, kernels = 0, steps = 0;
    std::vector<std::string> axes{};  ///< of the mesh
    verify::Equivalence verdict{};
    std::optional<std::size_t> step{};  ///< the first one whose result is not equivalent
    std::vector<JudgedRun> runs{};      ///< no more after one with a difference

    [[nodiscard]] bool fine() const;
};

/// The files as a program and a schedule or another program, if one of them is a program: it may be named in
/// any place. Throws InputError for more than two.
[[nodiscard]] std::optional<TensorJudgeOptions> tensor_files(const std::vector<std::string>& files);

/// Throws InputError for what is no JSON, an unknown name in `sizes` or `mesh`; LimitError for runs that are
/// too large.
[[nodiscard]] JudgedTensor judge_tensor(const TensorJudgeOptions& options, const Watch& watch = {});

/// "data=3, N=7": where a run was.
[[nodiscard]] std::string sizes_text(const JudgedTensor& judged, const verify::RunReport& report);
[[nodiscard]] io::Json json_of(const JudgedTensor& judged);

}  // namespace tutti::app
