#include "run/layout.hpp"

#include <algorithm>

namespace tutti::run {

Layout::Layout(const Executable& executable, std::int64_t count) : executable_(&executable), count_(count) {
    std::int64_t largest = 1;
    for (const ExecutableMemory& memory : executable.memories) {
        block_ = std::max(block_, memory.block);
        if (memory.buffer != plan::Buffer::Scratch) largest = std::max(largest, memory.places);
    }
    const std::int64_t places = block_ > 0 ? block_ : largest;
    stride_ = (count + places - 1) / places;
    whole_ = stride_ == 0 ? places : count / stride_;
    const std::int64_t rest = block_ > 0 && stride_ > 0 ? count % stride_ : 0;
    if (rest > 0) stretches_.push_back({0, rest});
    if (stride_ > 0) stretches_.push_back({rest, stride_});
}

std::int64_t Layout::length(std::uint32_t memory, std::int64_t place) const {
    const std::int64_t block = executable_->memories[memory].block;
    if (block == 0) return stride_;
    return std::clamp<std::int64_t>(count_ - place % block * stride_, 0, stride_);
}

std::int64_t Layout::first(std::uint32_t memory, std::int64_t place) const {
    const std::int64_t block = executable_->memories[memory].block;
    if (block == 0) return place * stride_;
    return place / block * count_ + std::min(place % block * stride_, count_);
}

std::int64_t Layout::elements(std::uint32_t memory) const {
    return first(memory, executable_->memories[memory].places);
}

std::int64_t Layout::spare_elements(std::uint32_t memory) const {
    const ExecutableMemory& here = executable_->memories[memory];
    if (here.block == 0 || whole_ >= here.block) return 0;
    return (here.places + here.block - 1) / here.block * (here.block - whole_) * stride_;
}

std::int64_t Layout::spare_first(std::uint32_t memory, std::int64_t place) const {
    const std::int64_t block = executable_->memories[memory].block;
    return (place / block * (block - whole_) + (place % block - whole_)) * stride_;
}

}  // namespace tutti::run
