#include "emit/cuda_program.hpp"

#include "emit/cpp_expressions.hpp"
#include "emit/cpp_names.hpp"
#include "emit/cuda_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::emit {

using tensor::Op, tensor::Program, tensor::Value, tensor::ValueId;

std::string cuda_program(const Program& program) {
    CudaStep step(program);
    const std::string body = step.text();
    std::string axes, inputs, outputs, returned, read, written;
    for (const tensor::Mesh::Axis& axis : program.mesh().axes())
        axes += fmt::format("{}{{{}, {}}}", axes.empty() ? "" : ", ", cpp_string(axis.name), axis.size);
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        if (value.op != Op::Input) continue;
        const std::string dtype = cuda_stored(value.type.dtype);
        inputs += fmt::format("    Array<{}> {};\n", dtype, step.name(id));
        read += fmt::format("        in.{} = rank.input<{}>(files, {}, {});\n", step.name(id), dtype,
                            cpp_string(value.name), cpp_type(value.type));
    }
    for (const ValueId id : results_of(program)) {
        const Value& value = program[id];
        const std::string dtype = cuda_stored(value.type.dtype), type = cpp_type(value.type);
        outputs += fmt::format("    Array<{}> {};\n", dtype, step.name(id));
        returned += is_scalar_constant(value) ? fmt::format("    out.{} = rank.filled<{}>({}, {});\n",
                                                            step.name(id), dtype, type, cpp_constant(value))
                                              : fmt::format("    out.{0} = {0};\n", step.name(id));
        written += fmt::format("        rank.output(files, {}, {}, out.{});\n", cpp_string(value.name), type,
                               step.name(id));
    }
    return fmt::format(
        "// A tensor program: {}. Written by tutti (convert --to cuda).\n"
        "//\n"
        "//     nvcc -std=c++20 -O3 -arch=native THIS.cu -o step -lnccl -lcublas     (-I "
        "PREFIX/include/tutti: "
        "where tutti is installed)\n"
        "//     mpirun -n {} ./step [FOLDER [CALLS]]     (rank_program.hpp says what is in the folder)\n\n"
        "#include \"emit/gpu_program.hpp\"\n\n"
        "namespace {{\n\nusing namespace tutti::gpu;\n\n"
        "const Mesh kMesh{{{{{}}}}};\n"
        "const std::vector<std::vector<std::size_t>> kGroups{{{}}};  // axes along which ranks "
        "communicate\n\n"
        "struct Inputs {{\n{}}};\n\nstruct Outputs {{\n{}}};\n\n{}"
        "/// One call on this rank: its parts of the inputs to its parts of the outputs, which are valid "
        "until "
        "the next call.\n"
        "Outputs step(Rank& rank, [[maybe_unused]] const Inputs& in) {{\n    rank.begin();\n{}"
        "    Outputs out;\n{}    return out;\n}}\n\n"
        "}}  // namespace\n\n"
        "int main(int argc, char** argv) {{\n"
        "    return tutti::gpu::main(argc, argv, kMesh, kGroups, [](Rank& rank, const Files& files, const "
        "auto& timed) {{\n"
        "        Inputs in;\n{}        Outputs out;\n        timed([&] {{ out = step(rank, in); }});\n{}    "
        "}});\n}}\n",
        cpp_comment(program.name()), program.mesh().ranks(), axes, fmt::join(step.groups(), ", "), inputs,
        outputs, step.kernels(), body, returned, read, written);
}

}  // namespace tutti::emit
