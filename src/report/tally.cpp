#include "report/tally.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::report {

Tally tally_of(const Instance& instance, SendSource& sends) {
    const std::size_t links = instance.topology().links().size();
    Tally tally;
    tally.link_sends.assign(links, 0);
    tally.link_busy.assign(links, Ticks(0));
    tally.chunk_sends.assign(instance.chunks(), 0);
    tally.chunk_start.assign(instance.chunks(), Ticks(0));
    for (auto some = sends.next(); !some.empty(); some = sends.next()) {
        tally.sends += some.size();
        for (const Send& send : some) {
            const std::size_t link = send.link.index(), chunk = send.chunk.index();
            if (link >= links || chunk >= instance.chunks()) {
                throw InputError("the schedule was changed while it was being read");
            }
            ++tally.link_sends[link];
            tally.link_busy[link] += instance.busy(send.link, instance.beta(send.link, send.chunk));
            if (tally.chunk_sends[chunk]++ == 0) tally.chunk_start[chunk] = send.start;
        }
    }
    return tally;
}

Slices::Slices(Ticks makespan, std::size_t rows)
    : per_tick_(static_cast<double>(kCount) /
                static_cast<double>(std::max<std::int64_t>(1, makespan.count()))),
      filled_(rows * kCount, 0.0) {}

void Slices::add(std::size_t row, Ticks start, Ticks free) {
    const double from = static_cast<double>(start.count()) * per_tick_;
    const double to = std::min(static_cast<double>(free.count()) * per_tick_, static_cast<double>(kCount));
    double* const slices = &filled_[row * kCount];
    for (auto i = static_cast<std::size_t>(from); i < kCount && static_cast<double>(i) < to; ++i) {
        const double begin = static_cast<double>(i);
        slices[i] += std::min(to, begin + 1) - std::max(from, begin);
    }
}

std::vector<double> Slices::load(std::size_t row, double whole) const {
    std::vector<double> shares(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
        shares[i] = std::clamp(filled_[row * kCount + i] / std::max(whole, 1.0), 0.0, 1.0);
    }
    return shares;
}

}  // namespace tutti::report
