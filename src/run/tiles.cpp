// The interpreter of fused kernels: no compiler is needed, and a tile of 1024 elements makes the cost of
// finding the loop for an operation invisible.

#include "run/tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti::run {

using tensor::DType, tensor::Op, tensor::Value;

namespace {

constexpr std::int64_t kTile = 1024;

/// A tile of one of the two types of storage.
struct Elements {
    const float* single = nullptr;
    const double* full = nullptr;
};
template <class T>
const T* pointer(const Elements& elements) {
    if constexpr (std::is_same_v<T, float>) {
        return elements.single;
    } else {
        return elements.full;
    }
}

template <class T, class Function>
void each(const T* x, T* out, std::int64_t count, Function function) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = function(x[i]);
}
template <class T, class Out, class Function>
void each(const T* x, const T* y, Out* out, std::int64_t count, Function function) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(function(x[i], y[i]));
}

template <class T>
void unary(Op op, const T* x, T* out, std::int64_t count) {
    switch (op) {
        case Op::Neg:
            return each(x, out, count, [](T a) { return -a; });
        case Op::Abs:
            return each(x, out, count, [](T a) { return std::abs(a); });
        case Op::Sqrt:
            return each(x, out, count, [](T a) { return std::sqrt(a); });
        case Op::Rsqrt:
            return each(x, out, count, [](T a) { return T{1} / std::sqrt(a); });
        case Op::Exp:
            return each(x, out, count, [](T a) { return std::exp(a); });
        case Op::Log:
            return each(x, out, count, [](T a) { return std::log(a); });
        case Op::Tanh:
            return each(x, out, count, [](T a) { return std::tanh(a); });
        case Op::Erf:
            return each(x, out, count, [](T a) { return std::erf(a); });
        case Op::Sigmoid:
            return each(x, out, count, [](T a) { return T{1} / (T{1} + std::exp(-a)); });
        default:  // not
            return each(x, out, count, [](T a) { return a == 0 ? T{1} : T{0}; });
    }
}

template <class T>
void arithmetic(const Value& value, const T* x, const T* y, T* out, std::int64_t count) {
    switch (value.op) {
        case Op::Add:
            return each(x, y, out, count, [](T a, T b) { return a + b; });
        case Op::Sub:
            return each(x, y, out, count, [](T a, T b) { return a - b; });
        case Op::Mul:
            return each(x, y, out, count, [](T a, T b) { return a * b; });
        case Op::Div:
            return each(x, y, out, count, [](T a, T b) { return a / b; });
        case Op::Max:
            return each(x, y, out, count, [](T a, T b) { return a > b || std::isnan(a) ? a : b; });
        case Op::Min:
            return each(x, y, out, count, [](T a, T b) { return a < b || std::isnan(a) ? a : b; });
        default:
            return each(x, y, out, count, [](T a, T b) { return std::pow(a, b); });
    }
}

template <class T>
void comparison(Op op, const T* x, const T* y, double* out, std::int64_t count) {
    switch (op) {
        case Op::Lt:
            return each(x, y, out, count, [](T a, T b) { return a < b; });
        case Op::Le:
            return each(x, y, out, count, [](T a, T b) { return a <= b; });
        case Op::Gt:
            return each(x, y, out, count, [](T a, T b) { return a > b; });
        case Op::Ge:
            return each(x, y, out, count, [](T a, T b) { return a >= b; });
        case Op::Eq:
            return each(x, y, out, count, [](T a, T b) { return a == b; });
        case Op::Ne:
            return each(x, y, out, count, [](T a, T b) { return a != b; });
        case Op::And:
            return each(x, y, out, count, [](T a, T b) { return a != 0 && b != 0; });
        default:
            return each(x, y, out, count, [](T a, T b) { return a != 0 || b != 0; });
    }
}

bool is_comparison(Op op) { return op >= Op::Lt && op <= Op::Or; }

template <class From, class To>
void cast(const From* x, To* out, std::int64_t count, bool truncates) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<To>(truncates ? std::trunc(x[i]) : x[i]);
}

/// One step on one tile.
class StepRun {
  public:
    StepRun(const TileStep& step, std::span<const std::int64_t> shape, Precision precision)
        : step_(step),
          precision_(precision),
          made_(step.value->type.dtype, precision, {kTile}),
          is_single_(made_.is_single()) {
        for (const TileOperand& operand : step.operands) {
            Source& source = sources_.emplace_back();
            if (operand.step) continue;
            const View& view = operand.view;
            source.is_single = view.tensor->is_single();
            source.contiguous = view.strides == row_major_strides(shape);
            source.scalar = std::ranges::all_of(view.strides, [](std::int64_t s) { return s == 0; });
            if (source.contiguous && !source.scalar) continue;
            source.tile = LocalTensor(operand.dtype, precision, {kTile});
            if (!source.scalar) continue;
            const double number = view.tensor->at(static_cast<std::size_t>(view.offset));
            for (std::size_t i = 0; i < static_cast<std::size_t>(kTile); ++i) source.tile.set(i, number);
        }
    }

    void run(std::span<const std::int64_t> shape, std::span<const StepRun> earlier, std::int64_t begin,
             std::int64_t count) {
        std::vector<Elements> args;
        for (std::size_t k = 0; k < sources_.size(); ++k)
            args.push_back(read(shape, k, earlier, begin, count));
        if (step_.out != nullptr) {
            out_ = elements(*step_.out, begin);
        } else {
            out_ = elements(made_, 0);
        }
        if (is_single_) {
            compute(args, const_cast<float*>(out_.single), count);  // NOLINT: ours, as out or made_
        } else {
            compute(args, const_cast<double*>(out_.full), count);  // NOLINT
        }
    }

  private:
    struct Source {
        bool is_single = false, contiguous = false, scalar = false;
        LocalTensor tile{};
    };

    static Elements elements(const LocalTensor& tensor, std::int64_t begin) {
        if (const auto* single = std::get_if<0>(&tensor.data)) return {single->data() + begin, nullptr};
        return {nullptr, std::get<1>(tensor.data).data() + begin};
    }

    Elements read(std::span<const std::int64_t> shape, std::size_t k, std::span<const StepRun> earlier,
                  std::int64_t begin, std::int64_t count) {
        const TileOperand& operand = step_.operands[k];
        Source& source = sources_[k];
        if (operand.step) return earlier[*operand.step].out_;
        if (source.scalar) return elements(source.tile, 0);
        if (source.contiguous) return elements(*operand.view.tensor, operand.view.offset + begin);
        std::visit(
            [&](auto& tile) {
                using Data = std::decay_t<decltype(tile)>;
                copy(shape, operand.view, std::get<Data>(operand.view.tensor->data).data(), tile.data(),
                     begin, count);
            },
            source.tile.data);
        return elements(source.tile, 0);
    }

    /// Elements begin … begin + count - 1 of a view, row by row.
    template <class T>
    static void copy(std::span<const std::int64_t> shape, const View& view, const T* from, T* to,
                     std::int64_t begin, std::int64_t count) {
        const std::int64_t row = shape.back(), stride = view.strides.back();
        while (count > 0) {
            std::int64_t rest = begin / row, at = view.offset;
            const std::int64_t column = begin % row;
            for (std::size_t d = shape.size() - 1; d-- > 0;) {
                at += rest % shape[d] * view.strides[d];
                rest /= shape[d];
            }
            const std::int64_t length = std::min(row - column, count);
            for (std::int64_t i = 0; i < length; ++i) to[i] = from[at + (column + i) * stride];
            to += length;
            begin += length;
            count -= length;
        }
    }

    template <class T>
    void compute(std::span<const Elements> args, T* out, std::int64_t count) {
        const Value& value = *step_.value;
        if (value.op == Op::Cast) {
            const bool truncates = !tensor::is_floating(value.dtype) && value.dtype != DType::Bool;
            if (args[0].single != nullptr) {
                cast(args[0].single, out, count, truncates);
            } else {
                cast(args[0].full, out, count, truncates);
            }
        } else if (value.op == Op::Select) {
            const T *x = pointer<T>(args[1]), *y = pointer<T>(args[2]);
            for (std::int64_t i = 0; i < count; ++i) out[i] = args[0].full[i] != 0 ? x[i] : y[i];
        } else if (is_comparison(value.op)) {
            if constexpr (std::is_same_v<T, double>) {
                if (args[0].single != nullptr) {
                    comparison(value.op, args[0].single, args[1].single, out, count);
                } else {
                    comparison(value.op, args[0].full, args[1].full, out, count);
                }
            }
        } else if (args.size() == 1) {
            unary(value.op, pointer<T>(args[0]), out, count);
        } else {
            arithmetic(value, pointer<T>(args[0]), pointer<T>(args[1]), out, count);
        }
        const std::span<T> made(out, static_cast<std::size_t>(count));
        if constexpr (std::is_same_v<T, float>) {
            round_to(value.type.dtype, precision_, made);
        } else {
            round_to(value.type.dtype, made);
        }
    }

    const TileStep& step_;
    Precision precision_;
    LocalTensor made_;
    bool is_single_;
    Elements out_{};
    std::vector<Source> sources_;
};

}  // namespace

void run_tiles(std::span<const std::int64_t> shape, std::span<const TileStep> steps, Precision precision) {
    const std::int64_t elements = product(shape);
    if (elements == 0) return;
    std::vector<StepRun> loop;
    loop.reserve(steps.size());
    for (const TileStep& step : steps) loop.emplace_back(step, shape, precision);
    for (std::int64_t begin = 0; begin < elements; begin += kTile) {
        const std::int64_t count = std::min(kTile, elements - begin);
        for (std::size_t i = 0; i < loop.size(); ++i)
            loop[i].run(shape, std::span<const StepRun>(loop).first(i), begin, count);
    }
}

}  // namespace tutti::run
