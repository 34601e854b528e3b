#include "run/rank_memory.hpp"

#include "run/exchange.hpp"
#include "run/rank_kernels.hpp"

#include <cstring>

namespace tutti::run {

using tensor::Type, tensor::Value, tensor::ValueId;

namespace {

/// A tensor without elements has no address.
void copy(std::byte* to, const LocalTensor& tensor) {
    if (tensor.elements() > 0)
        std::memcpy(to, tensor.first(),
                    static_cast<std::size_t>(tensor.elements()) * bytes_of(tensor.storage()));
}

}  // namespace

std::byte* RankMemory::address(ValueId id, std::int64_t rank) const {
    return of_rank(rank) + (is_generated(program_[id]) ? plan_.generated().at({id, program_[id].type.layout})
                                                       : plan_.offset(id, rank));
}

MemoryView RankMemory::view(ValueId id, std::int64_t rank) const { return view(id, program_[id].type, rank); }

MemoryView RankMemory::view(ValueId id, const Type& read, std::int64_t rank) const {
    const Value& value = program_[id];
    const std::vector<std::int64_t> at = program_.mesh().coordinates(rank);
    const std::vector<tensor::Interval> wants = held_box(program_.mesh(), read, at);
    MemoryView view{.storage = storage(value.type), .shape = sizes_of(wants)};
    if (is_generated(value)) {
        view.first = of_rank(rank) + plan_.generated().at({id, read.layout});
        view.strides = row_major_strides(view.shape);
        return view;
    }
    const std::vector<tensor::Interval> has = held_box(program_.mesh(), value.type, at);
    view.strides = row_major_strides(sizes_of(has));
    view.first = address(id, rank);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < has.size(); ++d) {
        if (wants[d].size() == 0) return view;
        offset += (wants[d].begin - has[d].begin) * view.strides[d];
    }
    view.first = view.at(offset);
    return view;
}

void RankMemory::prepare(std::int64_t rank) const {
    std::memset(of_rank(rank), 0xFF, plan_.bytes());  // not a number; in the field, poison
    const std::vector<std::int64_t> at = program_.mesh().coordinates(rank);
    for (const auto& [key, offset] : plan_.generated()) {
        Type type = program_[key.first].type;
        type.layout = key.second;
        const LocalTensor made =
            generated(program_[key.first], held_box(program_.mesh(), type, at), arithmetic_);
        copy(of_rank(rank) + offset, made);
    }
}

void RankMemory::put(ValueId id, std::int64_t rank, const LocalTensor& tensor) const {
    copy(address(id, rank), tensor);
}

LocalTensor RankMemory::get(ValueId id, std::int64_t rank) const {
    const Value& value = program_[id];
    const std::vector<tensor::Interval> box =
        held_box(program_.mesh(), value.type, program_.mesh().coordinates(rank));
    if (is_generated(value)) return generated(value, box, arithmetic_);
    LocalTensor result(value.type.dtype, arithmetic_.precision, sizes_of(box));
    if (result.elements() > 0)
        std::memcpy(result.first(), address(id, rank),
                    static_cast<std::size_t>(result.elements()) * bytes_of(result.storage()));
    return result;
}

}  // namespace tutti::run
