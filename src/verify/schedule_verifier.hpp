#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/verdict.hpp"

namespace tutti::verify {

struct Options {
    std::size_t max_violations = 20;  ///< how many violations the verdict spells out; all are counted
};

/// Judges a schedule by the rules V1…V17 of README.md in one sweep over its sends, in order of time.
/// Memory is one bit per node and plain chunk, four bytes per NPU and chunk of a reduction (contribution sets
/// only where counting does not suffice), and the sends in flight; the schedule itself is never held.
/// Time O(1) per ordinary send: from a stream, decoding included, some 30 million sends a second of an
/// all-gather on meshes and tori of 1024 to 4096 NPUs, 14 of an all-to-all, 13 of an all-reduce, through
/// storing switches too. Otherwise O(log(in flight) + contributions merged).
[[nodiscard]] Verdict verify(const Instance& instance, SendSource& sends, const Options& options = {});

/// The same for a schedule in memory, in any order; neither copied nor sorted if it is in order of start.
[[nodiscard]] Verdict verify(const Instance& instance, const Schedule& schedule, const Options& options = {});

}  // namespace tutti::verify
