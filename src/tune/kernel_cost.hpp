#pragma once

#include "tensor/device.hpp"
#include "tensor/kernels.hpp"
#include "tensor/program.hpp"

#include <vector>

namespace tutti::tune {

/// What computing takes on a device: a roofline. A kernel takes as long as the slowest of its matrix
/// products, its pointwise operations and its memory traffic, which run beside each other. Bytes that are
/// read: tensors from outside the kernel, once for each value that reads them, at most as many elements as a
/// pointwise value has itself; written: values that leave, once. Parts count their nominal size. Where the
/// device has a cache, as large a part of all bytes is in it as of what the program keeps at a time.
class KernelCosts {
  public:
    /// All of them must outlive this.
    KernelCosts(const tensor::Program& program, const tensor::Users& users, const tensor::Device& device);

    /// Microseconds of what these values of a kernel compute, without the launch and without communication.
    /// Throws InputError where the device has no rate for a type.
    [[nodiscard]] double compute_us(const tensor::Kernel& kernel) const;

  private:
    [[nodiscard]] double matmul_us(const tensor::Value& einsum) const;
    [[nodiscard]] double pointwise_us(const tensor::Value& value) const;
    [[nodiscard]] double memory_us(double bytes, tensor::DType dtype) const;
    [[nodiscard]] bool is_read_outside(tensor::ValueId id, const tensor::Kernel& kernel) const;
    [[nodiscard]] double kept_bytes() const;

    const tensor::Program& program_;
    const tensor::Users& users_;
    const tensor::Device& device_;
    std::vector<bool> is_output_;  ///< by value
    double in_cache_ = 0;          ///< the part of all bytes
};

}  // namespace tutti::tune
