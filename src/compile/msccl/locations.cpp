#include "compile/msccl/locations.hpp"

namespace tutti::compile::msccl {

Locations::Locations(const Draft& draft, std::uint32_t rank)
    : inputs_(draft.places.input_chunks(rank)),
      outputs_(draft.places.output_chunks(rank)),
      scratch_(draft.scratch[rank]) {
    if (!draft.options.in_place) return;
    aliased_ = true;
    const auto r = static_cast<std::int64_t>(rank);
    switch (draft.places.goal()) {
        case CollectiveKind::AllGather:
        case CollectiveKind::Gather:
            shift_ = -r * inputs_;
            break;
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::Scatter:
            shift_ = r * outputs_;
            break;
        default:
            break;
    }
}

std::size_t Locations::of(const plan::Address& address) const {
    std::int64_t place = (*address.offset).value();
    switch (address.buffer) {
        case plan::Buffer::Input:
            break;
        case plan::Buffer::Output:
            if (aliased_ && place + shift_ >= 0 && place + shift_ < inputs_) {
                place += shift_;
            } else {
                place += inputs_;
            }
            break;
        case plan::Buffer::Scratch:
            place += inputs_ + outputs_;
    }
    return static_cast<std::size_t>(place);
}

}  // namespace tutti::compile::msccl
