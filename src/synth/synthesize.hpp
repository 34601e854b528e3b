#pragma once

#include "core/instance.hpp"
#include "core/outcome.hpp"
#include "core/stop.hpp"

#include <functional>
#include <string>

namespace tutti::synth {

struct Request {
    std::string method = "auto";  ///< a name of methods()
    std::uint64_t seed = 1;
    unsigned threads = 1;
    Stop stop;
    /// Told, one line at a time, how the synthesis goes. May be empty.
    std::function<void(const std::string&)> story;
};

struct Result {
    Status status = Status::Unknown;
    std::string method;    ///< what made the schedule
    Schedule schedule;     ///< verified
    Bound bound;           ///< the best lower bound known
    bool stopped = false;  ///< the request ended the search, and a longer one may find more
    double seconds = 0;
};

/// The methods there are, with a sentence for each.
struct Method {
    std::string_view name;
    std::string_view help;
};
[[nodiscard]] std::span<const Method> methods();

/// Finds a schedule, verifies it and bounds how good it can be. Throws InfeasibleError when a receiver cannot
/// be reached, LimitError when the request stops it before there is a schedule, InternalError when the
/// schedule made does not verify, InputError for an unknown method.
[[nodiscard]] Result synthesize(const Instance& instance, const Request& request);

}  // namespace tutti::synth
