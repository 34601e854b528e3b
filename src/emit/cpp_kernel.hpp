#pragma once

#include "tensor/loop.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tutti::emit {

/// Where a loop finds the elements of a tensor, along its last dimension and over the others.
enum class KernelAccess : std::uint8_t {
    Dense,   ///< element i is the i-th
    Scalar,  ///< one for all elements
    Row,     ///< rows begin anywhere; in a row elements are next to each other
    RowOne,  ///< one for each row
    Strided  ///< rows begin anywhere; in a row elements are equally far apart
};

/// In which numbers a kernel computes (run::Precision).
enum class KernelNumbers : std::uint8_t { Declared, F64, Field };

/// The name of the function that a kernel's text defines, and what it takes: `extern "C" void
/// tutti_kernel(const KernelCall*, long long begin, long long end)`.
inline constexpr std::string_view kKernelFunction = "tutti_kernel";
struct KernelCall {
    const void* const* tensors;  ///< where element 0 of each is
    void* const* outputs;
    const long long* sizes;           ///< of the loop's dimensions
    const long long* const* strides;  ///< by tensor, in elements
    long long dims;
    unsigned long long salt;  ///< of the field
};

/// A C++20 source with the loop as a function: it includes nothing, so that it compiles in less than a tenth
/// of a second. The text is a template over its numbers; what differs between real numbers and the field is
/// the last line. `access`: by tensor. Every element is computed by element_functions.hpp, hence with the
/// bits of the interpreter, if it is compiled with cpp_kernel_flags(). `begin` and `end` are elements.
[[nodiscard]] std::string cpp_kernel(const tensor::Loop& loop, std::span<const KernelAccess> access,
                                     KernelNumbers numbers);

/// What keeps every bit, and lets loops be vectorised.
[[nodiscard]] std::span<const std::string_view> cpp_kernel_flags();

/// element_functions.hpp, as text.
[[nodiscard]] std::string_view element_functions_text();

}  // namespace tutti::emit
