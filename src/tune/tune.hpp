#pragma once

#include "core/stop.hpp"
#include "tensor/device.hpp"
#include "tensor/program.hpp"
#include "tensor/schedule.hpp"
#include "tune/predict.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tutti::tune {

struct TuneRequest {
    std::vector<std::int64_t> pieces{8};       ///< that overlaps are tried with
    std::optional<double> most_state_bytes{};  ///< of a rank; schedules that need more are left out
    std::size_t top = 10;                      ///< so many of the best are returned
    Stop stop{};
    std::function<void(const std::string&)> say{};
    double seconds_refine = 5;  ///< of a synthesis for the winner
};

/// A schedule, and what it is predicted to take.
struct Tuned {
    std::vector<tensor::Step> steps{};
    tensor::Program program;  ///< transformed
    Prediction prediction{};
};

struct TuneResult {
    std::vector<Tuned> schedules{};                   ///< the best first; none where all need too much memory
    Prediction unscheduled{};                         ///< the program as written
    std::size_t programs = 0;                         ///< reached by the moves of the standard space
    std::size_t tried = 0;                            ///< schedules that were predicted
    std::optional<std::int64_t> least_state_bytes{};  ///< of a rank, of all that were predicted
    bool stopped = false;                             ///< a longer search may find more
};

/// Finds the best schedules of a program: all programs of the standard space (explore.hpp), each in its forms
/// predicted with the calls' synthesized schedules, likely ones first; the best few again with the solvers'
/// schedules and with one schedule for all pieces of an overlap. Throws LimitError when stopped before the
/// program as written was predicted, Refusal, InputError.
[[nodiscard]] TuneResult tune(const tensor::Program& program, const tensor::Device& device,
                              CallSchedules& calls, const TuneRequest& request);

}  // namespace tutti::tune
