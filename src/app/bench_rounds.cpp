#include "app/bench_rounds.hpp"

#include "core/error.hpp"
#include "run/local_memories.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::app {
namespace {

[[nodiscard]] Quartiles quartiles_of(std::vector<double> values) {
    std::ranges::sort(values);
    const auto at = [&](double part) {
        return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
    };
    return {at(0.25), at(0.5), at(0.75)};
}

}  // namespace

std::uint32_t calls_in_round(double microseconds) {
    constexpr double kRound = 4000, kMostCalls = 100;
    return static_cast<std::uint32_t>(std::clamp(kRound / std::max(microseconds, 0.1), 1.0, kMostCalls));
}

std::int64_t count_for(const run::Executable& executable, std::int64_t bytes, std::size_t size) {
    std::int64_t places = 1, block = 0;
    for (const run::ExecutableMemory& memory : executable.memories) {
        if (memory.buffer == plan::Buffer::Scratch) continue;
        places = std::max(places, memory.places);
        block = std::max(block, memory.block);
    }
    const std::int64_t shares = std::max<std::int64_t>(block > 0 ? places / block : 1, 1);
    return std::max<std::int64_t>(bytes / static_cast<std::int64_t>(size) / shares, 1);
}

void expect_room(const std::string& file, const run::Executable& executable, std::int64_t count,
                 run::ElementType type, const Room& room) {
    const auto needed = [&](std::int64_t of) {
        return room.times * run::bytes_of_call(executable, run::Layout(executable, of), type);
    };
    const std::uint64_t usable = room.free / 10 * 9;
    if (needed(count) <= usable) return;
    std::int64_t fits = 0;
    for (std::int64_t above = count; above - fits > 1;) {
        const std::int64_t middle = fits + (above - fits) / 2;
        (needed(middle) <= usable ? fits : above) = middle;
    }
    const auto bytes = [&](std::int64_t of) {
        return text::memory_text(static_cast<std::uint64_t>(of) * run::size_of(type));
    };
    throw LimitError(fmt::format("{}: a call of {} needs {} of memory, {} are free; up to {} fit", file,
                                 bytes(count), text::memory_text(needed(count)), text::memory_text(usable),
                                 bytes(fits)));
}

void run_rounds(const std::vector<Contender>& contenders, std::uint32_t rounds, std::uint32_t calls,
                bool own_over_yardstick, const std::function<void()>& check, BenchRow& row) {
    std::vector<std::vector<double>> times(contenders.size());
    for (const Contender& contender : contenders) (void)contender.call();  // warm-up
    for (std::uint32_t round = 0; round < rounds; ++round) {
        check();
        for (std::size_t at = 0; at < contenders.size(); ++at) {
            // The median of the round's calls, so that a switch to another program does not count.
            std::vector<double> each;
            for (std::uint32_t call = 0; call < calls; ++call) each.push_back(contenders[at].call());
            times[at].push_back(quartiles_of(std::move(each)).median);
        }
    }
    row.yardstick_us = quartiles_of(times[0]).median;
    for (std::size_t at = 1; at < contenders.size(); ++at) {
        std::vector<double> ratios;
        for (std::uint32_t round = 0; round < rounds; ++round) {
            const double own = times[at][round], yardstick = times[0][round];
            ratios.push_back(own_over_yardstick ? own / yardstick : yardstick / own);
        }
        row.variants.push_back({contenders[at].name, quartiles_of(times[at]).median, quartiles_of(ratios)});
    }
}

}  // namespace tutti::app
