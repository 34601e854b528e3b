#pragma once

#include "plan/call_sizes.hpp"
#include "plan/msccl_plan.hpp"
#include "plan/program.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::verify {

/// The memories of a GPU's buffers. In place, input and output share a memory, with a shift that depends on
/// the collective and the rank.
class MscclLayout {
  public:
    /// `root`: of gather and scatter, whose in-place alias exists there only.
    MscclLayout(const std::vector<const plan::Gpu*>& gpus, const plan::CallSizes& sizes, bool in_place,
                std::optional<Rank> root);

    /// The memory and first place that an address means. Precondition: it fits.
    [[nodiscard]] plan::Range resolve(Rank gpu, const plan::Address& address) const;
    /// How many chunks of the buffer may be used: limited by the collective and by the declaration, with
    /// aliases resolved.
    [[nodiscard]] std::int64_t room(Rank gpu, plan::Buffer buffer) const;

    void describe_to(plan::Program& program) const;

  private:
    struct Buffers {
        plan::Range at[plan::kBuffers];
        std::int64_t room[plan::kBuffers];
        std::int64_t output = 0;  ///< chunks of its output
    };
    void lay_out(Rank rank, const plan::Gpu& gpu, const plan::CallSizes& sizes, bool in_place,
                 std::optional<Rank> root);

    std::vector<Buffers> ranks_;
    std::vector<plan::Memory> memories_;
};

}  // namespace tutti::verify
