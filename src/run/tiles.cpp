// The interpreter of fused kernels: no compiler is needed. A tile of 128 elements of one value after the
// other: what one step makes is still in the nearest cache when the next one reads it, and finding the loop
// of an operation costs nothing beside it. Everything that can be decided once is: a step knows its function
// and, through a table of pointers, where its operands will be.

#include "run/kernel_code.hpp"
#include "run/tile_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tutti::run {

using emit::KernelAccess, tensor::DType, tensor::Loop, tensor::LoopConstant, tensor::LoopOperand,
    tensor::LoopStep, tensor::Op;

namespace {

constexpr std::int64_t kTile = 128;

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
        for (std::int64_t i = 0; i < length; ++i) to[i] = first[i * stride];
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

class TileCode final : public KernelCode {
  public:
    TileCode(const Loop& loop, const LoopShape& shape, const Arithmetic& arithmetic)
        : arithmetic_(arithmetic), shape_(joined_dims(shape)), outputs_(loop.outputs.size()) {
        const std::size_t places = loop.constants.size() + loop.tensors.size() + loop.steps.size();
        places_.resize(places);
        scratch_.resize(places * static_cast<std::size_t>(kTile));
        for (const LoopConstant& constant : loop.constants) add_constant(constant);
        for (std::size_t k = 0; k < loop.tensors.size(); ++k) {
            tensors_.push_back({access_of(shape_, k), storage_of(loop.tensors[k].read.dtype, precision()),
                                loop.constants.size() + k});
        }
        for (std::size_t k = 0; k < loop.outputs.size(); ++k)
            outputs_[k] = bytes_of(storage_of(loop.outputs[k].dtype, precision()));
        for (const LoopStep& step : loop.steps) add_step(loop, step);
    }

    void run(std::span<const void* const> tensors, std::span<void* const> outputs, std::int64_t begin,
             std::int64_t end) override {
        for (std::size_t k = 0; k < tensors_.size(); ++k) {
            Tensor& tensor = tensors_[k];
            tensor.in_place = std::ranges::find(outputs, tensors[k]) != outputs.end();
            if (tensor.access != KernelAccess::Scalar || begin >= end) continue;
            copy(tensor, tensors[k], 0, kTile);
            places_[tensor.place] = scratch(tensor.place);
        }
        for (std::int64_t at = begin; at < end; at += kTile)
            run_tile(tensors, outputs, at, std::min(kTile, end - at));
    }

  private:
    struct Tensor {
        KernelAccess access;
        Storage storage;
        std::size_t place;  ///< in places_
        bool in_place = false;
    };
    struct Step {
        TileFunction function = nullptr;  ///< none: a cast in the field
        RoundFunction round = nullptr;
        std::array<std::size_t, 3> operands{};  ///< places
        std::size_t place = 0;
        std::optional<std::size_t> output{};
        DType from{}, to{};
    };

    [[nodiscard]] Precision precision() const { return arithmetic_.precision; }
    [[nodiscard]] void* scratch(std::size_t place) {
        return scratch_.data() + place * static_cast<std::size_t>(kTile);
    }

    void add_constant(const LoopConstant& constant) {
        const std::size_t place = constants_++;
        LocalTensor tile(constant.dtype, precision(), {kTile});
        fill(tile, constant.number, constant.dtype, arithmetic_);
        std::memcpy(scratch(place), tile.first(),
                    static_cast<std::size_t>(kTile) * bytes_of(storage_of(constant.dtype, precision())));
        places_[place] = scratch(place);
    }

    void add_step(const Loop& loop, const LoopStep& step) {
        const std::size_t steps_begin = loop.constants.size() + loop.tensors.size();
        Step made{
            .place = steps_begin + steps_.size(), .output = step.output, .from = step.from, .to = step.to};
        for (std::size_t k = 0; k < step.operands.size(); ++k) {
            const LoopOperand& operand = step.operands[k];
            const std::size_t first = operand.kind == LoopOperand::Kind::Constant ? 0
                                      : operand.kind == LoopOperand::Kind::Tensor ? loop.constants.size()
                                                                                  : steps_begin;
            made.operands[k] = first + operand.index;
        }
        const auto from = static_cast<std::size_t>(storage_of(step.from, precision())),
                   to = static_cast<std::size_t>(storage_of(step.to, precision())),
                   dtype = static_cast<std::size_t>(step.to);
        if (precision() == Precision::Field) {
            made.function = step.op == Op::Cast ? nullptr : field_step(step.op);
        } else {
            const TileTable& table = tile_table();
            const bool truncates = !tensor::is_floating(step.to) && step.to != DType::Bool;
            made.function = step.op == Op::Cast
                                ? table.casts[from][to][truncates ? 1 : 0]
                                : table.steps[from][static_cast<std::size_t>(step.op) - kFirstPointwise];
            made.round = to == 0 ? table.round_single[dtype] : table.round_full[dtype];
        }
        steps_.push_back(made);
    }

    /// Elements of a tensor that are not where a step can read them.
    void copy(const Tensor& tensor, const void* from, std::int64_t begin, std::int64_t count) {
        const std::size_t number = tensor.place - constants_;
        const auto gather_as = [&]<class T>(T) {
            gather(shape_, shape_.strides[number], static_cast<const T*>(from),
                   static_cast<T*>(scratch(tensor.place)), begin, count);
        };
        if (tensor.access == KernelAccess::Dense) {
            const std::size_t size = bytes_of(tensor.storage);
            std::memcpy(scratch(tensor.place), static_cast<const std::byte*>(from) + offset(begin, size),
                        offset(count, size));
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
            if (tensor.access == KernelAccess::Dense && !tensor.in_place) {
                places_[tensor.place] =
                    static_cast<const std::byte*>(tensors[k]) + offset(begin, bytes_of(tensor.storage));
            } else {
                copy(tensor, tensors[k], begin, count);
                places_[tensor.place] = scratch(tensor.place);
            }
        }
        for (const Step& step : steps_) {
            void* out = step.output ? static_cast<std::byte*>(outputs[*step.output]) +
                                          offset(begin, outputs_[*step.output])
                                    : scratch(step.place);
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
    std::vector<Tensor> tensors_;
    std::vector<std::size_t> outputs_;  ///< bytes of an element, by number
    std::vector<Step> steps_;
    std::size_t constants_ = 0;
    std::vector<const void*> places_;  ///< where the current tile is, of constants, tensors and steps
    std::vector<double> scratch_;      ///< a tile for each of these
};

}  // namespace

std::unique_ptr<KernelCode> tile_code(const Loop& loop, const LoopShape& shape,
                                      const Arithmetic& arithmetic) {
    return std::make_unique<TileCode>(loop, shape, arithmetic);
}

}  // namespace tutti::run
