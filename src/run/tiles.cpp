// The interpreter of fused kernels: no compiler is needed. A tile of some hundred elements goes through one
// pass (tile_plan) after the other: what one makes is still in the nearest cache when the next one reads it,
// and finding the loop of an operation costs little beside it. Everything that can be decided once is: a step
// knows its function and, through a table of pointers, where its operands will be.
//
// Adam in f32, times by those of the compiled kernel, on a Zen 5, 4 096, 64k, 262k, 1M and 4M elements: 15
// passes with AVX2 and a tile for every value and number, 128 elements each, 6.1, 6.1, -, -, 3.8; 10 passes
// with AVX-512, which share tiles that begin with a line, 1024 elements: 2.2, 2.0, 2.4, 2.5, 2.2; 128
// elements: 3.2, 3.1, 2.8, 1.6, 1.4; 2048: 2.2, 2.0, 2.5, 3.2, 3.0. Asking for the elements of the next tile
// gained nothing.

#include "run/kernel_code.hpp"
#include "run/tile_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace tutti::run {

using emit::KernelAccess, tensor::DType, tensor::Loop, tensor::LoopConstant;

namespace {

/// What passes read and write of a tile stays in the nearest cache. Where tensors are in memory, short tiles
/// go through them evenly, as the processor looks ahead.
constexpr std::int64_t kTile = 1024, kShortTile = 128;
constexpr std::int64_t kMostInCaches = std::int64_t{16} << 20U;
constexpr std::size_t kLine = 64 / sizeof(double);
/// In doubles: tiles begin with a line, and not all in the same set of the cache.
constexpr std::size_t kTileRoom = static_cast<std::size_t>(kTile) + 17 * kLine;

/// Elements begin … begin + count - 1 of a tensor, row by row.
template <class T>
void gather(const LoopShape& shape, std::span<const std::int64_t> strides, const T* from, T* to,
            std::int64_t begin, std::int64_t count) {
    const std::int64_t row = shape.sizes.back(), stride = strides.back();
    while (count > 0) {
        std::int64_t rest = begin / row, at = 0;
        const std::int64_t column = begin % row;
        for (std::size_t d = shape.sizes.size() - 1; d-- > 0;) {
            at += rest % shape.sizes[d] * strides[d];
            rest /= shape.sizes[d];
        }
        const std::int64_t length = std::min(row - column, count);
        const T* first = from + at + column * stride;
        if (stride == 1) {
            std::copy_n(first, length, to);
        } else {
            for (std::int64_t i = 0; i < length; ++i) to[i] = first[i * stride];
        }
        to += length;
        begin += length;
        count -= length;
    }
}

void cast_in_field(DType from, DType to, const Field* x, Field* out, std::int64_t count,
                   const emit::element::Fields& numbers) {
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = numbers.cast(static_cast<int>(from), static_cast<int>(to), x[i]);
}

std::vector<bool> scalars_of(const LoopShape& shape) {
    std::vector<bool> scalars;
    for (std::size_t k = 0; k < shape.strides.size(); ++k)
        scalars.push_back(access_of(shape, k) == KernelAccess::Scalar);
    return scalars;
}

class TileCode final : public KernelCode {
  public:
    TileCode(const Loop& loop, const LoopShape& shape, const Arithmetic& arithmetic, const TileTable& table)
        : arithmetic_(arithmetic),
          shape_(joined_dims(shape)),
          plan_(tile_plan(loop, scalars_of(shape_), arithmetic.precision, table)) {
        places_.resize(plan_.place_of_tensor(plan_.tensors) + loop.steps.size());
        scratch_.resize((plan_.slots + plan_.place_of_tensor(plan_.tensors)) * kTileRoom + kLine);
        const std::size_t past = reinterpret_cast<std::uintptr_t>(scratch_.data()) / sizeof(double) % kLine;
        first_tile_ = scratch_.data() + (kLine - past) % kLine;
        for (std::size_t k = 0; k < plan_.constants.size(); ++k) add_constant(k);
        for (std::size_t k = 0; k < loop.tensors.size(); ++k) {
            const DType dtype = loop.tensors[k].read.dtype;
            tensors_.push_back({access_of(shape_, k), storage_of(dtype, arithmetic.precision)});
        }
        for (const tensor::LoopOutput& output : loop.outputs)
            outputs_.push_back(bytes_of(storage_of(output.dtype, arithmetic.precision)));
        std::size_t bytes = 0;  // of an element
        for (const Tensor& tensor : tensors_) {
            if (tensor.access == KernelAccess::Dense) bytes += bytes_of(tensor.storage);
        }
        for (const std::size_t output : outputs_) bytes += output;
        if (product(shape_.sizes) >
            kMostInCaches / static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)))
            tile_ = kShortTile;
    }

    void run(std::span<const void* const> tensors, std::span<void* const> outputs, std::int64_t begin,
             std::int64_t end) override {
        if (begin >= end) return;
        for (std::size_t k = 0; k < tensors_.size(); ++k) {
            const std::size_t place = plan_.place_of_tensor(k);
            tensors_[k].is_overwritten = is_overwritten(k, tensors[k], outputs);
            if (tensors_[k].access != KernelAccess::Scalar) continue;
            copy(k, tensors[k], 0, plan_.as_tile[place] ? std::min(tile_, end - begin) : 1);
            places_[place] = tile(plan_.slots + place);
        }
        for (std::int64_t at = begin; at < end; at += tile_)
            run_tile(tensors, outputs, at, std::min(tile_, end - at));
    }

  private:
    struct Tensor {
        KernelAccess access;
        Storage storage;
        bool is_overwritten = false;  ///< by an output, before it is read for the last time
    };

    /// Slots of results, then tiles of constants and tensors by their place.
    [[nodiscard]] void* tile(std::size_t number) { return first_tile_ + number * kTileRoom; }

    void add_constant(std::size_t place) {
        const LoopConstant& constant = plan_.constants[place];
        LocalTensor filled(constant.dtype, arithmetic_.precision, {kTile});
        fill(filled, constant.number, constant.dtype, arithmetic_);
        places_[place] = tile(plan_.slots + place);
        std::memcpy(tile(plan_.slots + place), filled.first(),
                    offset(kTile, bytes_of(storage_of(constant.dtype, arithmetic_.precision))));
    }

    /// A step reads elements before it writes those at the same places.
    [[nodiscard]] bool is_overwritten(std::size_t tensor, const void* first,
                                      std::span<void* const> outputs) const {
        for (std::size_t k = 0; k < outputs.size(); ++k) {
            if (outputs[k] == first && plan_.written[k] < plan_.read[tensor]) return true;
        }
        return false;
    }

    /// Elements of a tensor that are not where a step can read them.
    void copy(std::size_t number, const void* from, std::int64_t begin, std::int64_t count) {
        const Tensor& tensor = tensors_[number];
        void* const to = tile(plan_.slots + plan_.place_of_tensor(number));
        const auto gather_as = [&]<class T>(T) {
            gather(shape_, shape_.strides[number], static_cast<const T*>(from), static_cast<T*>(to), begin,
                   count);
        };
        if (tensor.access == KernelAccess::Dense) {
            const std::size_t size = bytes_of(tensor.storage);
            std::memcpy(to, static_cast<const std::byte*>(from) + offset(begin, size), offset(count, size));
        } else if (tensor.storage == Storage::Single) {
            gather_as(float{});
        } else if (tensor.storage == Storage::Full) {
            gather_as(double{});
        } else {
            gather_as(Field{});
        }
    }

    [[nodiscard]] static std::size_t offset(std::int64_t elements, std::size_t size) {
        return static_cast<std::size_t>(elements) * size;
    }

    void run_tile(std::span<const void* const> tensors, std::span<void* const> outputs, std::int64_t begin,
                  std::int64_t count) {
        for (std::size_t k = 0; k < tensors_.size(); ++k) {
            const Tensor& tensor = tensors_[k];
            if (tensor.access == KernelAccess::Scalar) continue;
            const std::size_t place = plan_.place_of_tensor(k);
            if (tensor.access == KernelAccess::Dense && !tensor.is_overwritten) {
                places_[place] =
                    static_cast<const std::byte*>(tensors[k]) + offset(begin, bytes_of(tensor.storage));
            } else {
                copy(k, tensors[k], begin, count);
                places_[place] = tile(plan_.slots + place);
            }
        }
        for (const TileStep& step : plan_.steps) {
            void* const out = step.output ? static_cast<std::byte*>(outputs[*step.output]) +
                                                offset(begin, outputs_[*step.output])
                                          : tile(step.slot);
            const std::array<const void*, 3> operands{places_[step.operands[0]], places_[step.operands[1]],
                                                      places_[step.operands[2]]};
            if (step.function != nullptr) {
                step.function(operands.data(), out, count, arithmetic_.salt);
                if (step.round != nullptr) step.round(out, count);
            } else {
                cast_in_field(step.from, step.to, static_cast<const Field*>(operands[0]),
                              static_cast<Field*>(out), count, {arithmetic_.salt});
            }
            places_[step.place] = out;
        }
    }

    Arithmetic arithmetic_;
    LoopShape shape_;
    TilePlan plan_;
    std::int64_t tile_ = kTile;  ///< elements
    std::vector<Tensor> tensors_;
    std::vector<std::size_t> outputs_;  ///< bytes of an element, by number
    std::vector<const void*> places_;   ///< where the current tile is, of constants, tensors and steps
    std::vector<double> scratch_;
    double* first_tile_ = nullptr;  ///< in it
};

}  // namespace

std::unique_ptr<KernelCode> tile_code(const Loop& loop, const LoopShape& shape, const Arithmetic& arithmetic,
                                      const TileTable& table) {
    return std::make_unique<TileCode>(loop, shape, arithmetic, table);
}

}  // namespace tutti::run
