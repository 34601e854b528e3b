#pragma once

#include "tensor/kernels.hpp"
#include "tensor/program.hpp"
#include "tensor/schedule.hpp"

#include <span>

namespace tutti::rewrite {

// One function for each kind of step, in a file of its name. Each checks its conditions and returns a new
// program, or throws tensor::Refusal with a code of docs/tensor-programs.md. Linear in the program.

/// An all_reduce X becomes `X.rs` and `X.ag`, `X.reduce` and `X.broadcast`, or `X.inner` and X.
[[nodiscard]] tensor::Program split(const tensor::Program& program, const tensor::Split& step);
/// Values behind a gather run on slices, those behind a broadcast on the root; what is used outside gets a
/// gather (`o.ag`, `o.broadcast`), a partial reduction an all_reduce (`r.ar`).
[[nodiscard]] tensor::Program reorder(const tensor::Program& program, const tensor::Reorder& step);
/// A replicated X becomes `X.ag`, the gather of `X.slice`.
[[nodiscard]] tensor::Program distribute(const tensor::Program& program, const tensor::Distribute& step);
/// A state is stored sliced, and the gather of its next value goes.
[[nodiscard]] tensor::Program as_slice(const tensor::Program& program, const tensor::AsSlice& step);
/// Values become one kernel.
[[nodiscard]] tensor::Program fuse(const tensor::Program& program, const tensor::Fuse& step);
/// Collectives become one call over several buffers.
[[nodiscard]] tensor::Program coalesce(const tensor::Program& program, const tensor::Coalesce& step);
/// Kernels work on pieces, each when the one before has made its piece.
[[nodiscard]] tensor::Program overlap(const tensor::Program& program, const tensor::OverlapStep& step);

/// The conditions of overlap() on at least two kernels, without a new program.
void check_overlap(const tensor::Program& program, const tensor::Kernels& kernels,
                   std::span<const tensor::KernelId> chain);

/// The program without what nobody needs, and without gathers of which every rank takes its part again: as
/// every transformation leaves it. A kernel is made of what is then there.
[[nodiscard]] tensor::Program tidied(const tensor::Program& program);

}  // namespace tutti::rewrite
