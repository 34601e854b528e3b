#include "run/kernel_coder.hpp"

#include <algorithm>
#include <utility>

namespace tutti::run {
namespace {

/// Steps of elements from which on a kernel is compiled for one run: then it saves about as much as it costs;
/// and from which on it is looked for.
constexpr std::int64_t kWorthCompiling = std::int64_t{1} << 24U, kWorthLooking = std::int64_t{1} << 18U;

class CompiledCode final : public KernelCode {
  public:
    CompiledCode(std::shared_ptr<const CompiledKernel> kernel, const LoopShape& shape, std::uint64_t salt)
        : kernel_(std::move(kernel)), sizes_(shape.sizes.begin(), shape.sizes.end()), salt_(salt) {
        for (const std::vector<std::int64_t>& strides : shape.strides)
            strides_.emplace_back(strides.begin(), strides.end());
        for (const std::vector<long long>& strides : strides_) stride_lists_.push_back(strides.data());
    }

    void run(std::span<const void* const> tensors, std::span<void* const> outputs, std::int64_t begin,
             std::int64_t end) override {
        const emit::KernelCall call{tensors.data(),
                                    outputs.data(),
                                    sizes_.data(),
                                    stride_lists_.data(),
                                    static_cast<long long>(sizes_.size()),
                                    salt_};
        kernel_->function()(&call, begin, end);
    }

  private:
    std::shared_ptr<const CompiledKernel> kernel_;
    std::vector<long long> sizes_;
    std::vector<std::vector<long long>> strides_;  ///< by tensor
    std::vector<const long long*> stride_lists_;
    std::uint64_t salt_;
};

emit::KernelNumbers numbers_of(Precision precision) { return static_cast<emit::KernelNumbers>(precision); }
static_assert(static_cast<int>(Precision::Declared) == static_cast<int>(emit::KernelNumbers::Declared) &&
              static_cast<int>(Precision::F64) == static_cast<int>(emit::KernelNumbers::F64) &&
              static_cast<int>(Precision::Field) == static_cast<int>(emit::KernelNumbers::Field));

}  // namespace

std::unique_ptr<KernelCode> KernelCoder::code(const tensor::Loop& loop, const LoopShape& shape,
                                              const Arithmetic& arithmetic) {
    const std::int64_t work = product(shape.sizes) * std::ssize(loop.steps);
    const bool looks = mode_ == KernelMode::Compiled || (mode_ == KernelMode::Auto && work >= kWorthLooking);
    if (looks && work > 0) {
        const LoopShape joined = joined_dims(shape);
        std::vector<emit::KernelAccess> access;
        for (std::size_t k = 0; k < joined.strides.size(); ++k) access.push_back(access_of(joined, k));
        const std::string text = emit::cpp_kernel(loop, access, numbers_of(arithmetic.precision));
        const bool compiles = mode_ == KernelMode::Compiled || work >= kWorthCompiling;
        if (auto kernel = compiles ? compiler_.kernel(text) : compiler_.known(text))
            return std::make_unique<CompiledCode>(std::move(kernel), joined, arithmetic.salt);
    }
    return tile_code(loop, shape, arithmetic);
}

}  // namespace tutti::run
