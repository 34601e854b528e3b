// Kernels as C++: one loop over elements, in which each step is a line. What is read once is loaded first and
// what leaves is stored last, so that an output may be the memory of a tensor; "ivdep" tells the compiler
// that elements of different turns are not the same. Tensors that are not dense are walked row by row.
//
//     for (Length i = begin; i < end; ++i) {
//         const Single x0 = t0[i];
//         const Single v0 = n.template binary<Mul>(x0, c0);
//         o0[i] = v0;
//     }

#include "emit/cpp_kernel.hpp"

#include "emit/element_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

extern "C" const char tutti_element_functions[];      // NOLINT: embed.cmake
extern "C" const char tutti_element_functions_end[];  // NOLINT

namespace tutti::emit {
namespace {

using tensor::DType, tensor::Loop, tensor::LoopOperand, tensor::LoopStep, tensor::Op;

// The text has its own numbers for types and operations.
static_assert(static_cast<int>(DType::F64) == element::F64 && static_cast<int>(DType::I64) == element::I64 &&
              static_cast<int>(DType::Bool) == element::Bool);
static_assert(static_cast<int>(Op::Neg) == element::Neg && static_cast<int>(Op::Not) == element::Not &&
              static_cast<int>(Op::Add) == element::Add && static_cast<int>(Op::Pow) == element::Pow &&
              static_cast<int>(Op::Lt) == element::Lt && static_cast<int>(Op::Or) == element::Or &&
              static_cast<int>(Op::Select) == element::Select && static_cast<int>(Op::Cast) == element::Cast);

constexpr std::array kDTypes{"F64", "F32", "BF16", "F16", "I64", "I32", "U32", "I8", "U8", "Bool"};
constexpr std::array kOps{"Neg", "Abs", "Sqrt", "Rsqrt", "Exp", "Log", "Tanh", "Erf",    "Sigmoid",
                          "Not", "Add", "Sub",  "Mul",   "Div", "Max", "Min",  "Pow",    "Lt",
                          "Le",  "Gt",  "Ge",   "Eq",    "Ne",  "And", "Or",   "Select", "Cast"};

std::string dtype_text(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }
std::string op_text(Op op) { return kOps[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::Neg)]; }

/// In what an element is stored: what the template calls float and double.
std::string_view stored(DType dtype) {
    return tensor::is_floating(dtype) && dtype != DType::F64 ? "Single" : "Full";
}

std::string number_text(double number) {
    if (std::isnan(number)) return "__builtin_nan(\"\")";
    if (std::isinf(number)) return number < 0 ? "-__builtin_inf()" : "__builtin_inf()";
    return fmt::format("{:a}", number);
}

class KernelText {
  public:
    KernelText(const Loop& loop, std::span<const KernelAccess> access) : loop_(loop), access_(access) {
        by_rows_ = std::ranges::any_of(
            access, [](KernelAccess a) { return a != KernelAccess::Dense && a != KernelAccess::Scalar; });
    }

    std::string text() {
        add("template <class N, class Single, class Full>");
        add("static void kernel(const N& n, const Call& call, Length begin, Length end) {{");
        add("if (begin >= end) return;");
        pointers();
        if (by_rows_) {
            rows();
        } else {
            element_loop("i", "begin", "end");
        }
        add("}}");
        return std::move(text_);
    }

  private:
    template <class... Args>
    void add(fmt::format_string<Args...> format, const Args&... args) {
        fmt::vformat_to(std::back_inserter(text_), fmt::string_view(format), fmt::make_format_args(args...));
        text_ += '\n';
    }

    void pointers() {
        for (std::size_t k = 0; k < loop_.tensors.size(); ++k) {
            const std::string_view type = stored(loop_.tensors[k].read.dtype);
            add("const {0}* t{1} = static_cast<const {0}*>(call.tensors[{1}]);", type, k);
            if (access_[k] == KernelAccess::Scalar) add("const {0} x{1} = *t{1};", type, k);
        }
        for (std::size_t k = 0; k < loop_.outputs.size(); ++k)
            add("{0}* o{1} = static_cast<{0}*>(call.outputs[{1}]);", stored(loop_.outputs[k].dtype), k);
        for (std::size_t k = 0; k < loop_.constants.size(); ++k) {
            const DType dtype = loop_.constants[k].dtype;
            add("const {0} c{1} = n.template constant<{2}, {0}>({3});", stored(dtype), k, dtype_text(dtype),
                number_text(loop_.constants[k].number));
        }
    }

    /// Row by row of the last dimension; a row's elements have numbers from its beginning on.
    void rows() {
        add("const Length width = call.sizes[call.dims - 1];");
        add("while (begin < end) {{");
        add("const Length first = begin - begin % width, rest = end - first;");
        add("const Length stop = rest < width ? rest : width;");
        for (std::size_t k = 0; k < access_.size(); ++k) {
            if (walks(k)) add("Length at{} = 0;", k);
        }
        add("for (Length d = call.dims - 2, row = first / width; d >= 0; --d) {{");
        add("const Length index = row % call.sizes[d];");
        add("row /= call.sizes[d];");
        for (std::size_t k = 0; k < access_.size(); ++k) {
            if (walks(k)) add("at{0} += index * call.strides[{0}][d];", k);
        }
        add("}}");
        for (std::size_t k = 0; k < access_.size(); ++k) {
            const std::string_view type = stored(loop_.tensors[k].read.dtype);
            if (access_[k] == KernelAccess::Dense) add("const {0}* r{1} = t{1} + first;", type, k);
            if (walks(k)) add("const {0}* r{1} = t{1} + at{1};", type, k);
            if (access_[k] == KernelAccess::RowOne) add("const {0} x{1} = *r{1};", type, k);
            if (access_[k] == KernelAccess::Strided)
                add("const Length step{0} = call.strides[{0}][call.dims - 1];", k);
        }
        for (std::size_t k = 0; k < loop_.outputs.size(); ++k)
            add("{0}* p{1} = o{1} + first;", stored(loop_.outputs[k].dtype), k);
        element_loop("j", "begin - first", "stop");
        add("begin = first + stop;");
        add("}}");
    }

    [[nodiscard]] bool walks(std::size_t k) const {
        return access_[k] != KernelAccess::Dense && access_[k] != KernelAccess::Scalar;
    }

    void element_loop(std::string_view index, std::string_view begin, std::string_view end) {
        text_ += "#pragma GCC ivdep\n";
        add("for (Length {0} = {1}; {0} < {2}; ++{0}) {{", index, begin, end);
        for (std::size_t k = 0; k < loop_.tensors.size(); ++k) {
            if (access_[k] == KernelAccess::Scalar || access_[k] == KernelAccess::RowOne) continue;
            add("const {} x{} = {}{}[{}{}];", stored(loop_.tensors[k].read.dtype), k, by_rows_ ? "r" : "t", k,
                index, access_[k] == KernelAccess::Strided ? fmt::format(" * step{}", k) : "");
        }
        for (std::size_t k = 0; k < loop_.steps.size(); ++k) {
            const LoopStep& step = loop_.steps[k];
            add("const {} v{} = {};", stored(step.to), k, rounded(step.to, computed(step)));
        }
        for (std::size_t k = 0; k < loop_.steps.size(); ++k) {
            if (loop_.steps[k].output)
                add("{}{}[{}] = v{};", by_rows_ ? "p" : "o", *loop_.steps[k].output, index, k);
        }
        add("}}");
    }

    [[nodiscard]] static std::string operand(const LoopOperand& operand) {
        constexpr std::array kPrefixes{'v', 'x', 'c'};
        return fmt::format("{}{}", kPrefixes[static_cast<std::size_t>(operand.kind)], operand.index);
    }

    [[nodiscard]] static std::string computed(const LoopStep& step) {
        const std::string x = operand(step.operands[0]);
        if (step.op == Op::Cast)
            return fmt::format("n.template cast<{}, {}, {}>({})", dtype_text(step.from), dtype_text(step.to),
                               stored(step.to), x);
        if (step.operands.size() == 1) return fmt::format("n.template unary<{}>({})", op_text(step.op), x);
        const std::string y = operand(step.operands[1]);
        if (step.op == Op::Select)
            return fmt::format("n.select({}, {}, {})", x, y, operand(step.operands[2]));
        return fmt::format("n.template binary<{}>({}, {})", op_text(step.op), x, y);
    }

    [[nodiscard]] static std::string rounded(DType dtype, std::string expression) {
        if (dtype == DType::F64 || dtype == DType::F32) return expression;
        return fmt::format("n.template rounded<{}>({})", dtype_text(dtype), expression);
    }

    const Loop& loop_;
    std::span<const KernelAccess> access_;
    bool by_rows_ = false;
    std::string text_;
};

constexpr std::string_view kCallText = R"(
using namespace tutti::emit::element;
using Length = long long;
struct Call {
    const void* const* tensors;
    void* const* outputs;
    const Length* sizes;
    const Length* const* strides;
    Length dims;
    Word salt;
};
)";

}  // namespace

std::string_view element_functions_text() {
    return {tutti_element_functions,
            static_cast<std::size_t>(tutti_element_functions_end - tutti_element_functions)};
}

std::string cpp_kernel(const Loop& loop, std::span<const KernelAccess> access, KernelNumbers numbers) {
    constexpr std::array kArguments{"Reals, float, double>(Reals{}", "Reals, double, double>(Reals{}",
                                    "Fields, Field, Field>(Fields{call->salt}"};
    return fmt::format(
        "#define TUTTI_KERNEL\n{}{}\n{}\nextern \"C\" void {}(const Call* call, Length begin, "
        "Length end) {{ kernel<{}, *call, begin, end); }}\n",
        element_functions_text(), kCallText, KernelText(loop, access).text(), kKernelFunction,
        kArguments[static_cast<std::size_t>(numbers)]);
}

std::span<const std::string_view> cpp_kernel_flags() {
    static constexpr std::array<std::string_view, 12> kFlags{"-std=c++20",
                                                             "-O3",
                                                             "-march=native",
                                                             "-fno-math-errno",
                                                             "-fno-trapping-math",
                                                             "-ffp-contract=off",
                                                             "-fno-builtin",
                                                             "-fno-exceptions",
                                                             "-fno-rtti",
                                                             "-fno-asynchronous-unwind-tables",
                                                             "-fPIC",
                                                             "-w"};
    return kFlags;
}

}  // namespace tutti::emit
