#include "emit/cpp_expressions.hpp"

#include "emit/cpp_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace tutti::emit {

using tensor::DType, tensor::Layout, tensor::Op, tensor::Program, tensor::Type, tensor::Value,
    tensor::ValueId;

namespace {

bool is_half(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

}  // namespace

std::string cpp_dtype(DType dtype) { return dtype == DType::Bool ? "truth" : std::string(name_of(dtype)); }

std::string cpp_shape(std::span<const std::int64_t> shape) {
    return fmt::format("{{{}}}", fmt::join(shape, ", "));
}

std::string cpp_layout(const Type& type) {
    std::vector<std::string> layout;
    for (const Layout on : type.layout) {
        layout.push_back(on.is_sliced()  ? fmt::format("{}", on.dim())
                         : on.is_local() ? "kLocal"
                         : on.is_root()  ? fmt::format("root({})", on.root())
                                         : "kReplicated");
    }
    return fmt::format("{{{}}}", fmt::join(layout, ", "));
}

std::string cpp_type(const Type& type) {
    return fmt::format("Type{{{}, {}}}", cpp_shape(type.shape), cpp_layout(type));
}

std::string cpp_axes(std::span<const tensor::AxisId> axes) {
    std::vector<std::size_t> numbers;
    for (const tensor::AxisId axis : axes) numbers.push_back(axis.index());
    std::ranges::sort(numbers);
    return fmt::format("{{{}}}", fmt::join(numbers, ", "));
}

std::string cpp_constant(const Value& constant) {
    const std::string type = cpp_dtype(constant.type.dtype);
    if (!is_floating(constant.type.dtype)) return fmt::format("{}({:.0f}LL)", type, constant.number);
    const std::string text = fmt::format("{}({})", type, cpp_number(constant.number));
    return is_half(constant.type.dtype) ? fmt::format("rounded_{}({})", type, text) : text;
}

namespace {

/// Of truth values, which are 0 and 1: what is not 0 is true. Nothing for what is no arithmetic.
std::string truth_expression(const Value& value, std::span<const std::string> args) {
    switch (value.op) {
        case Op::Add:
        case Op::Max:
        case Op::Or:
            return fmt::format("{} || {}", args[0], args[1]);
        case Op::Mul:
        case Op::Min:
        case Op::And:
            return fmt::format("{} && {}", args[0], args[1]);
        case Op::Sub:
            return fmt::format("{} != {}", args[0], args[1]);
        case Op::Div:
        case Op::Pow:
            return fmt::format("{} || !{}", args[0], args[1]);
        case Op::Neg:
        case Op::Abs:
            return args[0];
        default:
            return {};
    }
}

std::string expression(const Value& value, std::span<const std::string> args) {
    const DType dtype = value.type.dtype;
    if (dtype == DType::Bool) {
        if (const std::string text = truth_expression(value, args); !text.empty()) return text;
    }
    if (!is_floating(dtype) && (value.op == Op::Div || value.op == Op::Pow))
        return fmt::format("{}({}, {})", value.op == Op::Div ? "quotient" : "power", args[0], args[1]);
    if (value.op == Op::Abs && (dtype == DType::U32 || dtype == DType::U8)) return args[0];
    static const std::map<Op, std::string_view> kSymbols{
        {Op::Add, "+"}, {Op::Sub, "-"}, {Op::Mul, "*"}, {Op::Div, "/"}, {Op::Lt, "<"},
        {Op::Le, "<="}, {Op::Gt, ">"},  {Op::Ge, ">="}, {Op::Eq, "=="}, {Op::Ne, "!="}};
    if (const auto symbol = kSymbols.find(value.op); symbol != kSymbols.end())
        return fmt::format("{} {} {}", args[0], symbol->second, args[1]);
    switch (value.op) {
        case Op::Neg:
            return "-" + args[0];
        case Op::Not:
            return "!" + args[0];
        case Op::Rsqrt:
            return fmt::format("1 / std::sqrt({})", args[0]);
        case Op::Sigmoid:
            return fmt::format("1 / (1 + std::exp(-{}))", args[0]);
        case Op::Max:
            return fmt::format("reduced(Reduction::max, {}, {})", args[0], args[1]);
        case Op::Min:
            return fmt::format("reduced(Reduction::min, {}, {})", args[0], args[1]);
        case Op::Select:
            return fmt::format("{} ? {} : {}", args[0], args[1], args[2]);
        case Op::Cast:
            if (dtype == DType::Bool) return args[0] + " != 0";
            return is_half(dtype) ? fmt::format("{}({})", cpp_dtype(dtype), args[0]) : args[0];
        default:
            return fmt::format("std::{}({})", name_of(value.op), fmt::join(args, ", "));
    }
}

}  // namespace

std::string cpp_element(const Value& value, std::span<const std::string> args) {
    const DType dtype = value.type.dtype;
    const std::string type = cpp_dtype(dtype), text = expression(value, args);
    return is_half(dtype) ? fmt::format("rounded_{}({})", type, text) : fmt::format("{}({})", type, text);
}

bool is_scalar_constant(const Value& value) { return value.op == Op::Constant && value.type.rank() == 0; }

bool same_elements(const Type& a, const Type& b) { return a.shape == b.shape && a.layout == b.layout; }

}  // namespace tutti::emit
