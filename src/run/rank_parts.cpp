#include "run/rank_parts.hpp"

#include "core/error.hpp"
#include "run/exchange.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace tutti::run {

using tensor::Op, tensor::Program, tensor::Value, tensor::ValueId, verify::RealNumbers;

namespace {

/// Calls `body(whole, own)` for every element that the rank holds: its number in the whole tensor and in the
/// rank's part.
void for_each_held(const Program& program, const Value& value, std::span<const std::int64_t> at,
                   const std::function<void(std::size_t, std::size_t)>& body) {
    const std::vector<tensor::Interval> box = held_box(program.mesh(), value.type, at);
    const std::vector<std::int64_t> strides = row_major_strides(value.type.shape);
    std::int64_t first = 0;
    for (std::size_t d = 0; d < box.size(); ++d) first += box[d].begin * strides[d];
    std::size_t own = 0;
    for_each_offset<1>(
        sizes_of(box), {std::span<const std::int64_t>(strides)}, {first},
        [&](const std::array<std::int64_t, 1>& whole) { body(static_cast<std::size_t>(whole[0]), own++); });
}

verify::RankValue rank_value(const Program& program, const Value& value, const std::string& name,
                             const std::vector<RankTensors>& outputs) {
    verify::RankValue result{name, value.type, {}};
    for (std::size_t rank = 0; rank < outputs.size(); ++rank) {
        std::vector<verify::Element>& elements =
            result.of_rank.emplace_back(static_cast<std::size_t>(value.type.elements()), verify::kPoison);
        const auto found = outputs[rank].find(value.name);
        if (found == outputs[rank].end()) continue;
        const std::vector<std::int64_t> at = program.mesh().coordinates(static_cast<std::int64_t>(rank));
        for_each_held(program, value, at, [&](std::size_t whole, std::size_t own) {
            const auto* const field = std::get_if<std::vector<Field>>(&found->second.data);
            elements[whole] = field != nullptr ? (*field)[own].bits : RealNumbers::of(found->second.at(own));
        });
    }
    return result;
}

}  // namespace

std::vector<RankTensors> rank_inputs(const Program& program, const verify::Arrays& arrays,
                                     Precision precision) {
    std::vector<RankTensors> ranks(static_cast<std::size_t>(program.mesh().ranks()));
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        if (value.op != Op::Input) continue;
        const auto found = arrays.find(value.name);
        if (found == arrays.end()) throw InputError(fmt::format("there is no input '{}'", value.name));
        if (found->second.shape != verify::array_shape(program.mesh(), value.type))
            throw InputError(fmt::format("input '{}' has another shape", value.name));
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            const std::vector<std::int64_t> at = program.mesh().coordinates(static_cast<std::int64_t>(rank));
            if (!tensor::holds(value.type, at)) continue;
            LocalTensor part(value.dtype, precision, sizes_of(held_box(program.mesh(), value.type, at)));
            const std::size_t block = verify::block_offset(program.mesh(), value.type, at);
            for_each_held(program, value, at, [&](std::size_t whole, std::size_t own) {
                const verify::Element element = found->second.elements[block + whole];
                if (precision == Precision::Field) {
                    std::get<std::vector<Field>>(part.data)[own] = {element};
                } else {
                    part.set(own, RealNumbers::number(element));
                }
            });
            round_to(value.dtype, precision, part);
            ranks[rank][value.name] = std::move(part);
        }
    }
    return ranks;
}

verify::RankResults rank_results(const Program& program, const std::vector<RankTensors>& outputs) {
    verify::RankResults results;
    for (const ValueId id : program.outputs())
        results.outputs.push_back(rank_value(program, program[id], program[id].name, outputs));
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        if (value.op == Op::Update)
            results.states.push_back(rank_value(program, value, program[value.args[0]].name, outputs));
    }
    return results;
}

}  // namespace tutti::run
