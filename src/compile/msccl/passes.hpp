#pragma once

#include "compile/msccl/draft.hpp"

#include <variant>

/// The passes, in the order of pipeline.cpp; each file opens with what it does and why that is right.
namespace tutti::compile::msccl {

/// Where each message is read and written, and what becomes of it; own copies and scratch.
void find_addresses(Draft& draft);
/// Messages to transfers: up to `most` messages of consecutive chunks become one where that delays no step.
void form_transfers(Draft& draft, std::int32_t most);
/// Transfers to connections.
void form_lanes(Draft& draft, const Room& room);
/// Which thread blocks both receive and send, and what they do in one step.
void fuse(Draft& draft, bool fuse, bool pack);
/// Removes unused scratch.
void pack_scratch(Draft& draft);
/// Connections to channels.
[[nodiscard]] std::optional<Excess> choose_channels(Draft& draft);
/// Thread blocks, steps and what they wait for: the plan.
[[nodiscard]] std::variant<plan::MscclPlan, Excess> form_steps(const Draft& draft);

}  // namespace tutti::compile::msccl
