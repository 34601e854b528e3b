#pragma once

#include "plan/sccl_plan.hpp"
#include "plan/send_program.hpp"
#include "verify/plan/findings.hpp"

#include <vector>

namespace tutti::verify {

/// When a send reads its source, when its data can be forwarded, and when it has really arrived. In steps,
/// epochs, or millionths of the unit of time (plan::kFinePerTime).
struct Flight {
    std::int64_t start = 0, usable = 0, arrival = 0;
};

/// The flights of a program whose clock is Steps, Times or Epochs; `network`: for SCCL and TACCL, may be
/// null. Reports sends over missing links (`link`), and warns where times do not fit the links: transfers
/// that overlap (`bandwidth`), a second phase that begins before the first has ended (`early`), latencies
/// that the file does not give (`lacks`).
[[nodiscard]] std::vector<Flight> flights_of(const plan::SendProgram& program, const plan::ScclPlan* network,
                                             Findings& violations, Findings& warnings);

/// "gpu 2, step 3.1": the place of a send.
[[nodiscard]] plan::Place place_of(const plan::NodeSend& send);
/// "in step 3", "at time 2756", "in epoch 4".
[[nodiscard]] std::string when_text(const plan::SendProgram& program, const plan::NodeSend& send);
/// "node 2 sends address 5 to node 3 in step 1".
[[nodiscard]] std::string send_text(const plan::SendProgram& program, const plan::NodeSend& send);

}  // namespace tutti::verify
