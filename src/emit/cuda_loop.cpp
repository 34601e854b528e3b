// Loops as kernels of the GPU. A thread takes every so-manieth element; what only the loop reads is a
// variable, random numbers are made where they are used, by the number of their element in the whole tensor:
//
//     __global__ void step_kernel(const Size n_, const View<const f32> in_0_, f32* const to_w_new_) {
//         for (Size i_ = first_element(); i_ < n_; i_ += all_threads()) {
//             const f32 x_0_ = number(in_0_[i_]);
//             const f32 w_new = f32(x_0_ * f32(0.9));
//             to_w_new_[i_] = f32(w_new);
//
// Where reductions end the loop, blocks share each result (Sweep in gpu_arrays.hpp): every thread adds up
// what it made, the block adds up its threads, and a second kernel the blocks.

#include "emit/cpp_expressions.hpp"
#include "emit/cuda_step.hpp"
#include "tensor/dimensions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::emit {

using tensor::DType, tensor::Op, tensor::Reduction, tensor::Type, tensor::Value, tensor::ValueId;

namespace {

/// What a sum of nothing is: a number that the compiler of kernels takes.
std::string neutral_text(DType dtype, Reduction kind) {
    const std::string type = cpp_dtype(dtype);
    if (kind == Reduction::Sum || kind == Reduction::Prod)
        return fmt::format("{}({})", type, kind == Reduction::Sum ? 0 : 1);
    const bool is_max = kind == Reduction::Max;
    if (is_floating(dtype)) return fmt::format("{}({}HUGE_VAL)", type, is_max ? "-" : "");
    switch (dtype) {
        case DType::I64:
            return is_max ? "(-9223372036854775807LL - 1)" : "9223372036854775807LL";
        case DType::I32:
            return is_max ? "(-2147483647 - 1)" : "2147483647";
        case DType::U32:
            return is_max ? "0U" : "4294967295U";
        case DType::I8:
            return is_max ? "i8(-128)" : "i8(127)";
        case DType::Bool:
            return fmt::format("{}({})", type, is_max ? 0 : 1);
        default:
            return fmt::format("{}({})", type, is_max ? 0 : 255);
    }
}

}  // namespace

void CudaStep::write_loop(std::span<const ValueId> loop, std::span<const ValueId> totals,
                          const std::string& kernel) {
    std::set<ValueId> members(loop.begin(), loop.end());
    members.insert(totals.begin(), totals.end());
    struct Operand {
        std::string dtype{}, element{};  ///< its type as computed, and what it is for element i_
    };
    std::vector<Operand> operands;
    std::vector<std::string> parameters, arguments;
    std::map<std::string, std::size_t> known;
    std::map<std::pair<ValueId, std::size_t>, std::size_t> reads;
    for (const ValueId id : loop) {
        const Value& value = program_[id];
        for (std::size_t k = 0; k < value.args.size(); ++k) {
            const Value& from = program_[value.args[k]];
            if (members.contains(value.args[k]) || is_scalar_constant(from)) continue;
            const bool is_made = is_made_in_loop(id, k);
            const Type wants = read_type(program_, value, k);
            const std::string number = from.op == Op::Iota ? fmt::format(", {}", from.dim) : std::string();
            const std::string argument =
                is_made ? fmt::format("rank.numbering({}{})", cpp_type(wants), number) : read(id, k);
            const auto [found, is_new] = known.emplace(
                is_made ? fmt::format("{} {}", names_[value.args[k].index()], argument) : argument,
                operands.size());
            reads[{id, k}] = found->second;
            if (!is_new) continue;
            const std::string in = fmt::format("in_{}_", operands.size()), dtype = cpp_dtype(wants.dtype);
            arguments.push_back(argument);
            parameters.push_back(is_made
                                     ? fmt::format("const Numbering {}", in)
                                     : fmt::format("const View<const {}> {}", cuda_stored(wants.dtype), in));
            const std::string drawn = from.op == Op::Uniform
                                          ? fmt::format("philox(static_cast<std::uint64_t>({}[i_]), {}ULL)",
                                                        in, static_cast<std::uint64_t>(from.seed))
                                          : fmt::format("{}[i_]", in);
            const bool is_half = wants.dtype == DType::F16 || wants.dtype == DType::BF16;
            operands.push_back({dtype, !is_made  ? fmt::format("number({}[i_])", in)
                                       : is_half ? fmt::format("rounded_{0}({0}({1}))", dtype, drawn)
                                                 : fmt::format("{}({})", dtype, drawn)});
        }
    }
    std::string body;
    const auto add = [&](const std::string& text) { body += "        " + text + "\n"; };
    for (std::size_t k = 0; k < operands.size(); ++k)
        add(fmt::format("const {} x_{}_ = {};", operands[k].dtype, k, operands[k].element));
    for (const ValueId id : loop) {
        const Value& value = program_[id];
        std::vector<std::string> args;
        for (std::size_t k = 0; k < value.args.size(); ++k) {
            const Value& from = program_[value.args[k]];
            args.push_back(members.contains(value.args[k]) ? name(value.args[k])
                           : is_scalar_constant(from)      ? cpp_constant(from)
                                                           : fmt::format("x_{}_", reads.at({id, k})));
        }
        add(fmt::format("const {} {} = {};", cpp_dtype(value.type.dtype), name(id),
                        cpp_element(value, args)));
    }
    for (const ValueId id : loop) {
        if (!leaves(id, members)) continue;
        const std::string stored = cuda_stored(program_[id].type.dtype);
        add(fmt::format("to_{0}_[i_] = {1}({0});", name(id), stored));
        parameters.push_back(fmt::format("{}* const to_{}_", stored, name(id)));
        arguments.push_back(fmt::format("Made{{{}}}", array(id)));
        line(fmt::format("{}{} = rank.made<{}>(rank.local({}));",
                         is_in_chain(id) ? "" : fmt::format("Array<{}> ", stored), array(id), stored,
                         type(id)));
    }
    std::string before, behind;
    for (const ValueId id : totals) {
        const Value& value = program_[id];
        const std::string dtype = cpp_dtype(value.type.dtype), stored = cuda_stored(value.type.dtype);
        before += fmt::format("        {} {} = {};\n", dtype, name(id),
                              neutral_text(value.type.dtype, value.reduction));
        add(fmt::format("{0} = reduced(Reduction::{1}, {0}, {2});", name(id), name_of(value.reduction),
                        name(value.args[0])));
        behind += fmt::format("        sweep_.leave(Reduction::{}, {}, result_, all_{}_);\n",
                              name_of(value.reduction), name(id), name(id));
        parameters.push_back(fmt::format("{}* const all_{}_", dtype, name(id)));
        arguments.push_back(fmt::format("Total{{{}, Reduction::{}}}", array(id), name_of(value.reduction)));
        line(fmt::format("{}{} = rank.made<{}>(rank.local({}));",
                         is_in_chain(id) ? "" : fmt::format("Array<{}> ", stored), array(id), stored,
                         type(id)));
    }
    const std::string function = unique_.unique(kernel + "_kernel"), shape = type(loop.front());
    if (totals.empty()) {
        kernels_text_ += fmt::format(
            "__global__ void {}(const Size n_, {}) {{\n"
            "    for (Size i_ = first_element(); i_ < n_; i_ += all_threads()) {{\n{}    }}\n}}\n\n",
            function, fmt::join(parameters, ", "), body);
        line(fmt::format("rank.loop({}, rank.local({}), {});", function, shape, fmt::join(arguments, ", ")));
        return;
    }
    std::string inner;
    for (std::size_t begin = 0; begin < body.size();) {  // one loop further in
        const std::size_t end = body.find('\n', begin) + 1;
        inner += "    " + body.substr(begin, end - begin);
        begin = end;
    }
    kernels_text_ += fmt::format(
        "__global__ void {}(const Sweep sweep_, {}) {{\n"
        "    for (Size result_ = sweep_.first(); result_ < sweep_.results; result_ += sweep_.step()) {{\n{}"
        "        for (Size k_ = sweep_.begin(); k_ < sweep_.reduced.elements; k_ += sweep_.stride()) {{\n"
        "            const Size i_ = sweep_.kept.at(result_) + sweep_.reduced.at(k_);\n{}"
        "        }}\n{}    }}\n}}\n\n",
        function, fmt::join(parameters, ", "), before, inner, behind);
    line(fmt::format("rank.sweep({}, rank.local({}), {}, {});", function, shape,
                     cpp_shape(program_[totals.front()].dims), fmt::join(arguments, ", ")));
}

}  // namespace tutti::emit
