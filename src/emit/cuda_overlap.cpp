// An overlap as a loop over pieces. In turn t, level l works on piece t - l: what it uses of earlier levels'
// collectives was put into the stream of messages a turn before, so that they run while this stream computes
// the next piece. Only the order of calls does that: arrays carry the events that the streams wait for.
//
// A piece of a tensor is a tensor whose cut dimension has one size, that of the piece, in each of the finest
// parts (Pieces in gpu_program.hpp): the text for a piece is the text for the whole with another size.

#include "emit/cpp_expressions.hpp"
#include "emit/cuda_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace tutti::emit {

using tensor::KernelId, tensor::ValueId;

void CudaStep::write(const tensor::Overlap& overlap, std::span<const KernelId> chain,
                     const std::optional<PiecePlan>& plan) {
    std::vector<std::string> names;
    for (const std::string& name : overlap.chain) names.push_back(cpp_comment(name));
    line(fmt::format("// overlapped: {}, in {} pieces", fmt::join(names, ", "), overlap.pieces));
    if (!plan) {
        line("// (in one: no dimension goes through all of them)");
        for (const KernelId kernel : chain) write_values(kernels_[kernel].values, kernels_[kernel].name);
        return;
    }
    for (const KernelId kernel : chain) {  // what no kernel makes is there before the pieces
        for (const ValueId id : kernels_[kernel].values)
            if (kind_of(program_[id].op) == tensor::OpKind::Source) write_value(id);
    }
    for (const ValueId id : plan->before) write_values({&id, 1}, program_[id].name);
    pieces_ = &*plan;
    for (const auto& [id, level] : plan->level) {
        const std::string dtype = cuda_stored(program_[id].type.dtype);
        line(fmt::format("std::vector<Array<{}>> {}_pieces_({});", dtype, name(id), plan->pieces));
        if (leaves(id, *pieces_))
            line(fmt::format("Array<{}> {} = rank.made<{}>(rank.local({}));", dtype, name(id), dtype,
                             cpp_type(program_[id].type)));
    }
    line("{");
    indent_ += "    ";
    line(fmt::format("const Pieces cut_{{{}, {}, {}, {}}};", cpp_axes(plan->axes), plan->part, plan->piece,
                     plan->pieces));
    line(fmt::format("for (Size turn_ = 0; turn_ < {}; ++turn_) {{",
                     plan->pieces + static_cast<std::int64_t>(plan->levels.size()) - 1));
    indent_ += "    ";
    for (std::size_t level = 0; level < plan->levels.size(); ++level) write_level(level);
    indent_.resize(indent_.size() - 4);
    line("}");
    indent_.resize(indent_.size() - 4);
    line("}");
    pieces_ = nullptr;
}

void CudaStep::write_level(std::size_t level) {
    line(level == 0
             ? fmt::format("if (const Size p_ = turn_; p_ < {}) {{", pieces_->pieces)
             : fmt::format("if (const Size p_ = turn_ - {}; p_ >= 0 && p_ < {}) {{", level, pieces_->pieces));
    indent_ += "    ";
    line("[[maybe_unused]] const Size length_ = cut_.length(p_);");
    const std::vector<ValueId>& values = pieces_->levels[level];
    for (std::size_t i = 0; i < values.size();) {
        const KernelId kernel = kernels_.of(values[i]);
        std::size_t end = i;
        while (end < values.size() && kernels_.of(values[end]) == kernel) ++end;
        const std::span<const ValueId> run(values.data() + i, end - i);
        write_values(run, kernels_[kernel].name);
        for (const ValueId id : run) {
            if (leaves(id, *pieces_))
                line(fmt::format("rank.put({}, {}, {}, {}, cut_, p_);", name(id), array(id),
                                 cpp_type(program_[id].type), pieces_->dim.at(id)));
        }
        i = end;
    }
    indent_.resize(indent_.size() - 4);
    line("}");
}

}  // namespace tutti::emit
