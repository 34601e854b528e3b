#pragma once

#include "run/element_type.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::run {

/// The loops over elements, for one type and operator. Each reads its sources once and writes its targets
/// once, with the widest vectors that the processor has; all widths give the same bits. An element is
/// ((source 0 + source 1) + source 2) + …: in the type itself, or for half types in f32 and rounded once, at
/// the end.
///
/// A target may be one of the sources; otherwise they do not overlap.
struct Kernels {
    /// target = first + second.
    void (*reduce_two)(std::byte* target, const std::byte* first, const std::byte* second,
                       std::size_t elements);
    /// All targets = the sum of all sources; there is at least one of both.
    void (*reduce)(std::byte* const* targets, std::size_t target_count, const std::byte* const* sources,
                   std::size_t source_count, std::size_t elements);
    /// target = target / ranks, for averages; integers are rounded towards 0.
    void (*divide)(std::byte* target, std::size_t elements, std::int64_t ranks);
};

[[nodiscard]] const Kernels& kernels_of(ElementType type, Operator op);

/// The tables that kernels.cpp chooses from: kernel_loops.hpp compiled for each kind of processor.
struct KernelTable {
    Kernels rows[kElementTypes][kOperators];
};
extern const KernelTable kPortableKernels;
extern const KernelTable kAvx2Kernels;  ///< only defined where there are such processors

}  // namespace tutti::run
