#include "verify/plan/sums.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti::verify {
namespace {

std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

std::uint64_t hash_of(std::span<const SumRun> runs) {
    std::uint64_t hash = runs.size();
    for (const SumRun& run : runs) {
        hash = mixed(hash + static_cast<std::uint64_t>(run.chunk) + (std::uint64_t{run.times} << 40U));
        hash = mixed(hash + (std::uint64_t{static_cast<std::uint32_t>(run.first)} << 32U) +
                     static_cast<std::uint32_t>(run.last));
    }
    return hash;
}

/// Appends a run, joined to the one before where they are neighbours.
void append(std::vector<SumRun>& to, const SumRun& run) {
    if (!to.empty()) {
        SumRun& last = to.back();
        if (last.chunk == run.chunk && last.times == run.times && last.last + 1 == run.first) {
            last.last = run.last;
            return;
        }
    }
    to.push_back(run);
}

/// A saturating counter: a contribution counted that often is wrong anyway.
std::uint32_t saturated(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
    return a > kMost - b ? kMost : a + b;
}

/// The multiset sum: both lists are merged from left to right and split where they overlap.
void add(std::span<const SumRun> left, std::span<const SumRun> right, std::vector<SumRun>& into) {
    into.clear();
    std::size_t i = 0, j = 0;
    SumRun a{}, b{};
    bool has_a = false, has_b = false;
    for (;;) {
        if (!has_a && i < left.size()) a = left[i++], has_a = true;
        if (!has_b && j < right.size()) b = right[j++], has_b = true;
        if (!has_a && !has_b) return;
        if (!has_b || (has_a && std::pair(a.chunk, a.last) < std::pair(b.chunk, b.first))) {
            append(into, a), has_a = false;
        } else if (!has_a || std::pair(b.chunk, b.last) < std::pair(a.chunk, a.first)) {
            append(into, b), has_b = false;
        } else if (a.first != b.first) {
            SumRun& early = a.first < b.first ? a : b;
            const std::int32_t from = std::max(a.first, b.first);
            append(into, {early.chunk, early.first, from - 1, early.times});
            early.first = from;
        } else {
            const std::int32_t last = std::min(a.last, b.last);
            append(into, {a.chunk, a.first, last, saturated(a.times, b.times)});
            has_a = a.last > last, has_b = b.last > last;
            a.first = b.first = last + 1;
        }
    }
}

}  // namespace

Sums::Sums(std::size_t most_runs) : most_runs_(most_runs), begin_{0, 0, 0}, table_(std::size_t{1} << 10U, 0) {
    begin_.reserve(table_.size());
}

SumId Sums::interned(std::span<const SumRun> runs) {
    if (runs.size() > most_runs_) return kTooMany;
    if (runs.size() == 1) {
        const SumRun& run = runs.front();
        const bool numbered = run.first == run.last && run.times == 1 && run.first >= 0 &&
                              run.first < ranks_ && run.chunk >= 0 && run.chunk < chunks_;
        if (numbered) return kFirstSingle + static_cast<SumId>(run.first * chunks_ + run.chunk);
    }
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash_of(runs) & mask;
    for (; table_[at] != 0; at = (at + 1) & mask) {
        if (std::ranges::equal(this->runs(table_[at]), runs)) return table_[at];
    }
    std::ranges::copy(runs, room_for(runs.size()));
    const SumId id = values();
    begin_.push_back(begin_.back() + static_cast<std::uint32_t>(runs.size()));
    table_[at] = id;
    if (std::size_t{values()} * 2 > table_.size()) grow();
    return id;
}

SumRun* Sums::room_for(std::size_t runs) {
    const std::size_t end = units_.size() * kUnit;
    if (begin_.back() + runs > end) {
        // What is left of the unit becomes a value that nobody asks for and that no other equals.
        if (begin_.back() < end) {
            std::fill(units_.back() + begin_.back() % kUnit, units_.back() + kUnit, SumRun{.times = 0});
            begin_.push_back(static_cast<std::uint32_t>(end));
        }
        const std::size_t units = (runs + kUnit - 1) / kUnit;
        pool_.push_back(std::make_unique_for_overwrite<SumRun[]>(units * kUnit));
        for (std::size_t unit = 0; unit < units; ++unit) units_.push_back(pool_.back().get() + unit * kUnit);
    }
    return runs == 0 ? nullptr : units_[begin_.back() / kUnit] + begin_.back() % kUnit;
}

void Sums::number_singles(std::int64_t ranks, std::int64_t chunks) {
    if (ranks <= 0 || chunks <= 0 || chunks > std::int64_t{kFirstSingle} / ranks) return;
    ranks_ = ranks;
    chunks_ = chunks;
}

void Sums::grow() {
    const std::size_t size = table_.size() * 2;
    table_ = std::vector<SumId>();
    table_.assign(size, 0);
    const std::size_t mask = table_.size() - 1;
    for (SumId id = 2; id < values(); ++id) {
        std::size_t at = hash_of(runs(id)) & mask;
        while (table_[at] != 0) at = (at + 1) & mask;
        table_[at] = id;
    }
}

SumId Sums::single(std::int32_t rank, std::int64_t chunk) {
    const SumRun run{chunk, rank, rank, 1};
    return interned(std::span(&run, 1));
}

SumId Sums::sum(SumId a, SumId b) {
    if (a == kUndefined || b == kUndefined) return kUndefined;
    if (a == kTooMany || b == kTooMany) return kTooMany;
    const std::uint64_t key = (std::uint64_t{std::min(a, b)} << 32U) | std::max(a, b);
    // Adding short sums again is faster than caching them.
    const bool remember = runs(a).size() + runs(b).size() > 8;
    if (remember) {
        if (const auto known = added_.find(key); known != added_.end()) return known->second;
    }
    add(runs(a), runs(b), scratch_);
    const SumId id = interned(scratch_);
    if (remember) added_.emplace(key, id);
    return id;
}

SumId Sums::of(std::vector<SumRun> runs) {
    std::ranges::sort(runs, {}, [](const SumRun& run) { return std::pair(run.chunk, run.first); });
    SumId total = 0;
    bool any = false;
    for (const SumRun& run : runs) {
        const SumId id = interned(std::span(&run, 1));
        total = any ? sum(total, id) : id;
        any = true;
    }
    return any ? total : interned({});
}

}  // namespace tutti::verify
