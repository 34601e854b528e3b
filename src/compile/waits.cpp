#include "compile/waits.hpp"

#include <algorithm>
#include <functional>

namespace tutti::compile {

/// The latest first, because they know most.
std::vector<Waits::Moment> Waits::touched(std::uint32_t block, std::span<const std::size_t> reads,
                                          std::span<const std::size_t> writes) const {
    std::vector<Moment> moments;
    const auto add = [&](const Moment& moment) {
        if (moment.step.block != block) moments.push_back(moment);
    };
    for (const std::size_t at : reads) {
        if (places_[at].written) add(places_[at].writer);
    }
    for (const std::size_t at : writes) {
        if (places_[at].written) add(places_[at].writer);
        std::ranges::for_each(places_[at].readers, add);
    }
    std::ranges::sort(moments, std::greater{}, &Moment::when);
    return moments;
}

std::vector<StepOf> Waits::next(std::uint32_t block, std::span<const std::size_t> reads,
                                std::span<const std::size_t> writes) {
    Block& own = blocks_[block];
    std::vector<StepOf> waits;
    for (const Moment& moment : touched(block, reads, writes)) {
        const StepOf& step = moment.step;
        if (!own.clocks.empty() && own.clocks.back()[step.block] > step.step) continue;
        if (waits.empty()) {
            own.clocks.push_back(own.clocks.empty() ? Clock(blocks_.size(), 0) : own.clocks.back());
        }
        waits.push_back(step);
        const Block& other = blocks_[step.block];
        const std::uint32_t known = other.clock_of[step.step];
        Clock& clock = own.clocks.back();
        if (known > 0) {
            std::ranges::transform(clock, other.clocks[known - 1], clock.begin(),
                                   [](auto a, auto b) { return std::max(a, b); });
        }
        clock[step.block] = std::max(clock[step.block], step.step + 1);
    }
    const Moment now{{block, static_cast<std::uint32_t>(own.clock_of.size())}, steps_++};
    own.clock_of.push_back(static_cast<std::uint32_t>(own.clocks.size()));
    for (const std::size_t at : reads) {
        std::erase_if(places_[at].readers, [&](const Moment& m) { return m.step.block == block; });
        places_[at].readers.push_back(now);
    }
    for (const std::size_t at : writes) places_[at] = {true, now, {}};
    return waits;
}

}  // namespace tutti::compile
