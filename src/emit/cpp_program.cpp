// A program as C++. Each value becomes an array of the rank's part; pointwise values of a kernel, over the
// same elements, become one loop over rows, in which what only the loop reads is a variable:
//
//     for (Rows rows_(shape_, {strides(shape_, a0_), strides(shape_, a1_)}); rows_; ++rows_) {
//         const f32* const x0_ = a0_.at(rows_.begin(0)); const Size s0_ = rows_.step(0);
//         ...
//         for (Size j_ = 0; j_ < rows_.width(); ++j_) {
//             const f32 mul1 = f32(f32(0.9) * x0_[j_ * s0_]);
//
// Arrays have the values' names, and in a loop their elements have; everything else has a name that ends with
// an underscore, as no value's does.
// Overlaps are written kernel after kernel, which changes no value.

#include "emit/cpp_program.hpp"

#include "emit/cpp_expressions.hpp"
#include "emit/cpp_names.hpp"
#include "emit/step_writer.hpp"
#include "tensor/dimensions.hpp"
#include "tensor/infer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tutti::emit {
namespace {

using tensor::Kernel, tensor::Op, tensor::Program, tensor::Type, tensor::Value, tensor::ValueId;

class CppStep final : StepWriter {
  public:
    explicit CppStep(const Program& program) : StepWriter(program), names_(program.slots()) {
        for (const ValueId id : program.order()) names_[id.index()] = unique_.unique(program[id].name);
    }

    std::string text() {
        for (const ValueId id : program_.order()) {
            if (program_[id].op == Op::Input && is_read(id))
                line(fmt::format("const auto& {} = in.{};", name(id), name(id)));
        }
        write_kernels();
        return std::move(text_);
    }

    [[nodiscard]] const std::string& name(ValueId id) const { return names_[id.index()]; }

  private:
    void line(const std::string& text) { text_ += "    " + text + "\n"; }

    void write(const tensor::Overlap&, std::span<const tensor::KernelId> chain,
               const std::optional<PiecePlan>&) override {
        for (const tensor::KernelId kernel : chain) write(kernels_[kernel]);
    }

    void write(const Kernel& kernel) override {
        if (kernel.fused) line(fmt::format("// one kernel: {}", cpp_comment(kernel.name)));
        std::vector<ValueId> loop;
        for (const ValueId id : kernel.values) {
            const Value& value = program_[id];
            const bool joins = is_pointwise(value.op) &&
                               (loop.empty() || same_elements(program_[loop.front()].type, value.type));
            if (!joins) write_loop(std::exchange(loop, {}));
            if (is_pointwise(value.op)) {
                loop.push_back(id);
            } else {
                write_value(id);
            }
        }
        write_loop(loop);
    }

    /// The operand's part, as this value reads it.
    std::string read(const Value& value, std::size_t arg) {
        const ValueId from = value.args[arg];
        const Type& has = program_[from].type;
        const Type wants = value.op == Op::Slice ? value.type : read_type(program_, value, arg);
        if (is_scalar_constant(program_[from]))
            return fmt::format("Array<{}>({{}}, {})", cpp_dtype(has.dtype), cpp_constant(program_[from]));
        bool same = true;
        for (std::size_t d = 0; d < has.rank(); ++d)
            same = same && slicing_axes(has, d) == slicing_axes(wants, d);
        return same ? name(from)
                    : fmt::format("rank.cut({}, {}, {})", name(from), cpp_type(has), cpp_type(wants));
    }

    void write_loop(const std::vector<ValueId>& values) {
        if (values.empty()) return;
        const std::set<ValueId> loop(values.begin(), values.end());
        const Type& type = program_[values.front()].type;
        std::vector<std::string> arrays, types;
        std::map<std::string, std::size_t> number;
        std::map<std::pair<ValueId, std::size_t>, std::size_t> reads;
        for (const ValueId id : values) {
            const Value& value = program_[id];
            for (std::size_t k = 0; k < value.args.size(); ++k) {
                if (loop.contains(value.args[k]) || is_scalar_constant(program_[value.args[k]])) continue;
                const std::string array = read(value, k);
                const auto [known, is_new] = number.emplace(array, arrays.size());
                if (is_new)
                    arrays.push_back(array), types.push_back(cpp_dtype(program_[value.args[k]].type.dtype));
                reads[{id, k}] = known->second;
            }
        }
        std::vector<ValueId> outputs;
        for (const ValueId id : values) {
            if (!leaves(id, loop)) continue;
            outputs.push_back(id);
            line(fmt::format("Array<{}> {}(rank.local({}));", cpp_dtype(program_[id].type.dtype), name(id),
                             cpp_type(type)));
        }
        line("{");
        line(fmt::format("    const Shape shape_ = rank.local({});", cpp_type(type)));
        std::vector<std::string> steps;
        for (std::size_t k = 0; k < arrays.size(); ++k) {
            line(fmt::format("    const auto& a{}_ = {};", k, arrays[k]));
            steps.push_back(fmt::format("strides(shape_, a{}_)", k));
        }
        line(fmt::format("    for (Rows rows_(shape_, {{{}}}); rows_; ++rows_) {{", fmt::join(steps, ", ")));
        for (std::size_t k = 0; k < arrays.size(); ++k)
            line(
                fmt::format("        const {0}* const x{1}_ = a{1}_.at(rows_.begin({1})); const Size s{1}_ = "
                            "rows_.step({1});",
                            types[k], k));
        for (const ValueId id : outputs)
            line(fmt::format("        {}* const to_{}_ = {}.at(rows_.first());",
                             cpp_dtype(program_[id].type.dtype), name(id), name(id)));
        line("        for (Size j_ = 0; j_ < rows_.width(); ++j_) {");
        for (const ValueId id : values) {
            const Value& value = program_[id];
            std::vector<std::string> args;
            for (std::size_t k = 0; k < value.args.size(); ++k) {
                const Value& from = program_[value.args[k]];
                args.push_back(loop.contains(value.args[k]) ? name(value.args[k])
                               : is_scalar_constant(from)
                                   ? cpp_constant(from)
                                   : fmt::format("x{0}_[j_ * s{0}_]", reads.at({id, k})));
            }
            line(fmt::format("            const {} {} = {};", cpp_dtype(value.type.dtype), name(id),
                             cpp_element(value, args)));
        }
        for (const ValueId id : outputs) line(fmt::format("            to_{0}_[j_] = {0};", name(id)));
        line("        }");
        line("    }");
        line("}");
    }

    void write_value(ValueId id) {
        const Value& value = program_[id];
        if (value.op == Op::Input || is_scalar_constant(value)) return;
        const bool is_alias = value.op == Op::Update || value.op == Op::Stack || value.op == Op::Unstack;
        line(fmt::format("const auto{} {} = {};", is_alias ? "&" : "", name(id), made(value)));
    }

    std::string made(const Value& value) {
        const std::string dtype = cpp_dtype(value.type.dtype), type = cpp_type(value.type);
        switch (value.op) {
            case Op::Constant:
                return fmt::format("Array<{}>(rank.local({}), {})", dtype, type, cpp_constant(value));
            case Op::Uniform:
                return fmt::format("rank.uniform<{}>({}, {}ULL)", dtype, type,
                                   static_cast<std::uint64_t>(value.seed));
            case Op::Iota:
                return fmt::format("rank.iota<{}>({}, {})", dtype, type, value.dim);
            case Op::Update:
                return read(value, 1);
            case Op::Einsum: {
                std::vector<std::string> operands;
                for (std::size_t k = 0; k < value.args.size(); ++k) operands.push_back(read(value, k));
                return fmt::format("einsum<{}>(\"{}\", {})", dtype, value.spec, fmt::join(operands, ", "));
            }
            case Op::Reduce:
                return fmt::format("reduce({}, {}, Reduction::{}, {})", read(value, 0), cpp_shape(value.dims),
                                   name_of(value.reduction), value.keepdims);
            case Op::Transpose: {
                std::vector<std::int64_t> dims(value.perm.size());
                for (std::size_t d = 0; d < dims.size(); ++d)
                    dims[static_cast<std::size_t>(value.perm[d])] = static_cast<std::int64_t>(d);
                return fmt::format("arranged({}, rank.local({}), {})", read(value, 0), type, cpp_shape(dims));
            }
            case Op::Broadcast:
                return fmt::format(
                    "arranged({}, rank.local({}), {{{}}})", read(value, 0), type,
                    fmt::join(dims_after_broadcast(value, program_[value.args[0]].type.rank()), ", "));
            case Op::Reshape:
                return fmt::format("reshaped({}, rank.local({}))", read(value, 0), type);
            case Op::Slice:
            case Op::Stack:
            case Op::Unstack:
                return read(value, 0);
            default:
                return collective(value);
        }
    }

    std::string collective(const Value& value) {
        const std::string from = cpp_type(program_[value.args[0]].type), to = cpp_type(value.type),
                          in = read(value, 0), axes = cpp_axes(value.axes);
        const std::size_t axis = value.axes.front().index();
        switch (value.op) {
            case Op::ReduceScatter:
                return fmt::format("rank.reduce_scatter({}, {}, {}, {}, Reduction::{})", in, from, to, axes,
                                   name_of(value.reduction));
            case Op::AllGather:
                return fmt::format("rank.moved({}, {}, {}, {})", in, from, to, axes);
            case Op::AllToAll:
                return program_[value.args[0]].type.on(value.axes.front()).is_local()
                           ? fmt::format("rank.exchanged({}, {}, {}, {})", in, axis, value.split,
                                         value.concat)
                           : fmt::format("rank.moved({}, {}, {}, {})", in, from, to, axes);
            case Op::BroadcastFrom:
                return fmt::format("rank.broadcast_from({}, {}, {})", in, axes, value.root);
            case Op::Shift:
                return fmt::format("rank.shifted({}, {}, {})", in, axis, value.by);
            default:  // to one rank, too: what the others compute with it reaches nobody
                return fmt::format("rank.all_reduce({}, {}, Reduction::{})", in, axes,
                                   name_of(value.reduction));
        }
    }

    CppNames unique_;
    std::vector<std::string> names_;
    std::string text_;
};

}  // namespace

std::string cpp_program(const Program& program) {
    CppStep step(program);
    const std::string body = step.text();
    std::string axes, inputs, outputs, returned, read, written;
    for (const tensor::Mesh::Axis& axis : program.mesh().axes())
        axes += fmt::format("{}{{{}, {}}}", axes.empty() ? "" : ", ", cpp_string(axis.name), axis.size);
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        if (value.op != Op::Input) continue;
        const std::string dtype = cpp_dtype(value.type.dtype);
        inputs += fmt::format("    Array<{}> {};\n", dtype, step.name(id));
        read += fmt::format("        in.{} = files.input<{}>(rank, {}, {});\n", step.name(id), dtype,
                            cpp_string(value.name), cpp_type(value.type));
    }
    for (const ValueId id : results_of(program)) {
        const Value& value = program[id];
        outputs += fmt::format("    Array<{}> {};\n", cpp_dtype(value.type.dtype), step.name(id));
        returned += is_scalar_constant(value)
                        ? fmt::format("    out.{} = Array<{}>(rank.local({}), {});\n", step.name(id),
                                      cpp_dtype(value.type.dtype), cpp_type(value.type), cpp_constant(value))
                        : fmt::format("    out.{0} = {0};\n", step.name(id));
        written += fmt::format("        files.output(rank, {}, {}, out.{});\n", cpp_string(value.name),
                               cpp_type(value.type), step.name(id));
    }
    return fmt::format(
        "// A tensor program: {}. Written by tutti (convert --to cpp).\n"
        "//\n"
        "//     c++ -std=c++20 -O3 -march=native -pthread THIS.cpp -o step     (-I PREFIX/include/tutti: "
        "where tutti is installed)\n"
        "//     ./step [FOLDER [CALLS]]     (rank_program.hpp says what is in the folder)\n\n"
        "#include \"emit/rank_program.hpp\"\n\n"
        "namespace {{\n\nusing namespace tutti::ranks;\n\n"
        "const Mesh kMesh{{{{{}}}}};\n\n"
        "struct Inputs {{\n{}}};\n\nstruct Outputs {{\n{}}};\n\n"
        "/// One call on this rank: its parts of the inputs to its parts of the outputs.\n"
        "[[maybe_unused]] Outputs step([[maybe_unused]] Rank& rank, [[maybe_unused]] const Inputs& in) "
        "{{\n{}    Outputs out;\n{}    return out;\n}}\n\n"
        "}}  // namespace\n\n"
        "int main(int argc, char** argv) {{\n"
        "    return tutti::ranks::main(argc, argv, kMesh, [](Rank& rank, const Files& files, const auto& "
        "timed) {{\n"
        "        Inputs in;\n{}        Outputs out;\n        timed([&] {{ out = step(rank, in); }});\n{}    "
        "}});\n}}\n",
        cpp_comment(program.name()), axes, inputs, outputs, body, returned, read, written);
}

}  // namespace tutti::emit
