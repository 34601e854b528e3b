#pragma once

#include "verify/numbered_send.hpp"
#include "verify/report.hpp"

namespace tutti::verify {

// The messages for the rules that concern one send.

/// V1, V2, V3: whether chunk and link exist and the start is in range.
[[nodiscard]] bool names_are_known(const NumberedSend& numbered, const Instance& instance, Report& report);
/// V4.
void report_out_of_order(const NumberedSend& numbered, Ticks now, Report& report);
/// V6.
void report_not_held(const NumberedSend& numbered, NodeId npu, Report& report);
/// V7.
void report_before_release(const NumberedSend& numbered, NodeId npu, Ticks release, Report& report);
/// V8: reports the ends of the link that may not carry the chunk.
void judge_forwarding(const NumberedSend& numbered, const Instance& instance, Report& report);
/// V10.
void report_switch_reduce(const NumberedSend& numbered, NodeId node, Report& report);
/// V13 at an NPU.
void report_double_count(const Arrival& arrival, NodeId npu, Report& report);
/// V14: these arrivals of one chunk reach one node at one tick.
void report_race(std::span<const Arrival* const> arrivals, const Topology& topology, Report& report);

}  // namespace tutti::verify
