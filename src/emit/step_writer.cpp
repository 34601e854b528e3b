#include "emit/step_writer.hpp"

#include <algorithm>

namespace tutti::emit {

using tensor::KernelId, tensor::Op, tensor::Program, tensor::ValueId;

std::vector<ValueId> results_of(const Program& program) {
    std::vector<ValueId> results;
    const auto add = [&](ValueId id) {
        if (std::ranges::find(results, id) == results.end()) results.push_back(id);
    };
    std::ranges::for_each(program.outputs(), add);
    for (const ValueId id : program.order()) {
        if (program[id].op == Op::Update) add(id);
    }
    return results;
}

StepWriter::StepWriter(const Program& program)
    : program_(program), kernels_(program), users_(program), written_(kernels_.all().size()) {
    for (const tensor::Overlap& overlap : program.overlaps())
        for (const std::string& kernel : overlap.chain) chain_.emplace(kernel, &overlap);
}

void StepWriter::write_kernels() {
    for (std::size_t i = 0; i < kernels_.all().size(); ++i) write_kernel(KernelId(i));
}

void StepWriter::write_kernel(KernelId id) {
    if (written_[id.index()]) return;
    const auto found = chain_.find(kernels_[id].name);
    if (found == chain_.end()) {
        written_[id.index()] = true;
        write_operands(id);
        write(kernels_[id]);
        return;
    }
    const tensor::Overlap& overlap = *found->second;
    std::vector<KernelId> chain;
    for (const std::string& name : overlap.chain) chain.push_back(*kernels_.find(name));
    for (const KernelId kernel : chain) written_[kernel.index()] = true;
    for (const KernelId kernel : chain) write_operands(kernel);
    write(overlap, chain, piece_plan(program_, kernels_, overlap));
}

void StepWriter::write_operands(KernelId id) {
    for (const ValueId value : kernels_[id].values)
        for (const ValueId arg : program_[value].args) write_kernel(kernels_.of(arg));
}

bool StepWriter::is_output(ValueId id) const {
    return std::ranges::find(program_.outputs(), id) != program_.outputs().end();
}

bool StepWriter::leaves(ValueId id, const std::set<ValueId>& among) const {
    return is_output(id) ||
           std::ranges::any_of(users_[id], [&](ValueId user) { return !among.contains(user); });
}

bool StepWriter::leaves(ValueId id, const PiecePlan& pieces) const {
    return is_output(id) || program_[id].op == Op::Update ||
           std::ranges::any_of(users_[id], [&](ValueId user) { return !pieces.has(user); });
}

bool StepWriter::is_read(ValueId input) const {
    return is_output(input) || std::ranges::any_of(users_[input], [&](ValueId user) {
               return program_[user].op != Op::Update || program_[user].args[1] == input;
           });
}

}  // namespace tutti::emit
