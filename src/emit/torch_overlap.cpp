// An overlap as a loop over pieces. In turn t, level l works on piece t - l: what it uses of earlier levels'
// collectives was issued a turn before, so that they run while the level before it works on the next piece.
// Within the chain, the dimension that is cut has parts of one size, padded: a piece has the same size on
// every rank, and its collectives need no padding of their own.

#include "emit/torch_step.hpp"
#include "tensor/dimensions.hpp"
#include "tensor/infer.hpp"
#include "tensor/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::emit {

using tensor::AxisId, tensor::KernelId, tensor::Type, tensor::Value, tensor::ValueId;

bool TorchStep::is_cut(ValueId id, std::size_t dim) const {
    return pieces_ != nullptr && pieces_->has(id) && pieces_->dim.at(id) == dim;
}

std::span<const AxisId> TorchStep::finer(std::span<const AxisId> axes) const {
    return std::span(pieces_->axes).subspan(axes.size());
}

/// The level that can read a piece of the value.
std::size_t TorchStep::first_read(ValueId id) const {
    return pieces_->level.at(id) + (is_collective(program_[id].op) ? 1 : 0);
}

/// Whether its pieces are in a list: they are read by later levels, or behind the loop.
bool TorchStep::is_kept(ValueId id) const {
    return leaves(id, *pieces_) || std::ranges::any_of(users_[id], [&](ValueId user) {
               return pieces_->level.at(user) > first_read(id);
           });
}

void TorchStep::write(const tensor::Overlap& overlap, std::span<const KernelId> chain,
                      const std::optional<PiecePlan>& plan) {
    std::vector<std::string> names;
    for (const std::string& name : overlap.chain) names.push_back(python_string(name));
    line(fmt::format("# overlapped: {}, in {} pieces", fmt::join(names, ", "), overlap.pieces));
    if (!plan) {
        line("# (in one: no dimension goes through all of them)");
        for (const KernelId kernel : chain) {
            for (const ValueId id : kernels_[kernel].values) write_value(id);
        }
        return;
    }
    for (const ValueId id : plan->before) write_value(id);
    write_loop(*plan);
}

void TorchStep::write_loop(const PiecePlan& plan) {
    pieces_ = &plan;
    std::size_t levels = plan.levels.size();
    for (const auto& [id, level] : plan.level) {
        levels = std::max(levels, first_read(id) + 1);
        piece_names_[id] = python_.unique(program_[id].name + "_piece");
        if (is_collective(program_[id].op)) line_ahead(fmt::format("_calls_{} = []", piece_names_[id]));
        if (is_kept(id)) line_ahead(fmt::format("_all_{} = []", piece_names_[id]));
    }
    const auto turns = static_cast<std::size_t>(plan.pieces) + levels - 1;
    loop_ = fmt::format("    for turn in range({}):\n", turns);
    for (std::size_t level = 0; level < levels; ++level) write_level(level);
    body_ += std::exchange(loop_, {});
    for (const std::vector<ValueId>& level : plan.levels) {
        for (const ValueId id : level) {
            if (leaves(id, *pieces_)) write_whole(id);
        }
    }
    piece_names_.clear();
    pieces_ = nullptr;
}

void TorchStep::write_level(std::size_t level) {
    level_ = level;
    loop_ += level == 0 ? fmt::format("        if turn < {}:\n", pieces_->pieces)
                        : fmt::format("        if {} <= turn < {}:\n", level,
                                      static_cast<std::int64_t>(level) + pieces_->pieces);
    line(level == 0 ? "piece = turn" : fmt::format("piece = turn - {}", level));
    if (pieces_->part % pieces_->piece == 0) {
        line(fmt::format("length = {}", pieces_->piece));
    } else {
        line(fmt::format("length = min({0}, {1} - {0} * piece)", pieces_->piece, pieces_->part));
    }
    const auto keep = [&](ValueId id) {
        const std::string& name = piece_names_.at(id);
        if (is_kept(id)) line(fmt::format("_all_{0}.append({0})", name));
    };
    if (level > 0) {
        for (const ValueId id : pieces_->levels[level - 1]) {
            if (!is_collective(program_[id].op)) continue;
            const std::string& name = piece_names_.at(id);
            line(fmt::format("{} = {}", name, finished(id, "_calls_" + name + "[piece]", false)));
            keep(id);
        }
    }
    if (level == pieces_->levels.size()) return;
    for (const ValueId id : pieces_->levels[level]) {
        write_value(id);
        if (!is_collective(program_[id].op)) keep(id);
    }
}

void TorchStep::write_whole(ValueId id) {
    const Value& value = program_[id];
    const std::size_t dim = pieces_->dim.at(id);
    const std::vector<AxisId> axes = slicing_axes(value.type, dim);
    const std::span<const AxisId> left = finer(axes);
    const std::string pieces = "_all_" + piece_names_.at(id);
    const bool divides = value.type.shape[dim] % program_.mesh().group_size(pieces_->axes) == 0;
    std::string text = left.empty()
                           ? fmt::format("torch.cat({}, {})", pieces, dim)
                           : fmt::format("_whole({}, {}, {})", pieces, dim, program_.mesh().group_size(left));
    const std::string size = extent(value.type, dim).size;
    const std::int64_t nominal = part_size(program_.mesh(), value.type, dim);
    if (!divides && left.empty()) text += fmt::format(".narrow({}, 0, {})", dim, size);
    if (!divides && !left.empty())
        text = fmt::format("_unspread({}, {}, {}, {}, {})", text, dim, cuts(nominal, left), nominal, size);
    line_ahead(fmt::format("{} = {}", names_[id.index()], text));
}

std::string TorchStep::chunk(const std::string& text, std::size_t dim, std::span<const AxisId> axes) const {
    if (axes.empty()) return text;
    std::string at;
    for (const AxisId axis : axes) {
        at = at.empty() ? place(axis)
                        : fmt::format("({}) * {} + {}", at, program_.mesh().size(axis), place(axis));
    }
    return fmt::format("_chunk({}, {}, {}, {})", text, dim, program_.mesh().group_size(axes), at);
}

std::string TorchStep::read_piece(ValueId id, std::size_t arg, const Type& type) {
    const Value& value = program_[id];
    const ValueId from = value.args[arg];
    if (pieces_->has(from)) {
        const std::size_t dim = pieces_->dim.at(from);
        const std::string& name = piece_names_.at(from);
        const std::string text = first_read(from) == level_ ? name : "_all_" + name + "[piece]";
        const std::vector<AxisId> has = slicing_axes(program_[from].type, dim),
                                  wants = slicing_axes(type, dim);
        return chunk(cut(text, program_[from].type, type, dim), dim, std::span(wants).subspan(has.size()));
    }
    const std::vector<std::size_t> dims = dims_in_result(program_, value, arg);
    const auto found = std::ranges::find(dims, pieces_->dim.at(id));
    if (found == dims.end()) return whole(from, type);
    const auto dim = static_cast<std::size_t>(found - dims.begin());
    const std::span<const AxisId> left = finer(slicing_axes(type, dim));
    std::string text = whole(from, type);
    const std::int64_t nominal = part_size(program_.mesh(), type, dim);
    if (type.shape[dim] % program_.mesh().group_size(pieces_->axes) != 0) {
        text = left.empty() ? fmt::format("_pad({}, {}, {})", text, dim, nominal)
                            : fmt::format("_spread({}, {}, {})", text, dim, cuts(nominal, left));
        text = made_ahead(text, program_[from].name + "_padded");
    }
    const std::string begin = fmt::format("{} * piece", pieces_->piece);
    if (left.empty()) return fmt::format("{}.narrow({}, {}, length)", text, dim, begin);
    return fmt::format("_piece({}, {}, {}, {}, length)", text, dim, program_.mesh().group_size(left), begin);
}

}  // namespace tutti::emit
