#include "verify/plan/execution_run.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <map>

// The rules of progress are in execution_progress.cpp. The state of a run is the current step of each block.
// A blocked block is in the wait list of the first condition that it lacks, and is retried when that changes.

namespace tutti::verify {

ExecutionRules::ExecutionRules(const ExecutionSteps& steps, const PlaceIndex& places)
    : steps_(steps), places_(places), need_(steps.uses.size(), 0), raisers_(steps.counters.size()) {
    const std::size_t counters = steps.counters.size();
    constexpr std::uint32_t kNoBlock = UINT32_MAX;
    std::vector<std::uint32_t> only(counters, kNoBlock);
    std::vector<std::int64_t> total(counters, 0);
    competes_.assign(counters, false);
    for (std::uint32_t at = 0; at < steps.steps.size(); ++at) {
        const ExecutionStep& step = steps.steps[at];
        for (const CounterUse& use : steps.uses_of(step)) {
            if (use.raises) {
                raisers_[use.counter].push_back(at);
                continue;
            }
            ++total[use.counter];
            if (only[use.counter] == kNoBlock) only[use.counter] = step.block;
            if (only[use.counter] != step.block) competes_[use.counter] = any_competes_ = true;
        }
    }
    std::vector<std::int64_t> own(counters, 0);  // lowers of the current block
    for (std::uint32_t block = 0; block < steps.blocks(); ++block) {
        const auto each_lower = [&](auto visit) {
            for (std::uint32_t at = steps.block_begin[block]; at < steps.block_begin[block + 1]; ++at) {
                const ExecutionStep& step = steps.steps[at];
                for (std::uint32_t u = step.first_use; u < step.first_use + step.uses; ++u) {
                    if (!steps.uses[u].raises) visit(u, steps.uses[u].counter);
                }
                too_wide_ = too_wide_ || step.uses > 64;
            }
        };
        each_lower([&](std::uint32_t use, std::uint32_t counter) { need_[use] = ++own[counter]; });
        each_lower([&](std::uint32_t use, std::uint32_t counter) {
            if (competes_[counter]) need_[use] += total[counter] - own[counter];
        });
        each_lower([&](std::uint32_t, std::uint32_t counter) { own[counter] = 0; });
    }
}

ExecutionRun::ExecutionRun(const ExecutionRules& rules, Acquires acquires)
    : rules_(&rules), acquires_(acquires) {
    const ExecutionSteps& steps = rules.steps();
    position_.assign(steps.block_begin.begin(), steps.block_begin.end() - 1);
    taken_.assign(position_.size(), 0);
    for (const Counter& counter : steps.counters) raised_.push_back(counter.initial);
    lowered_.assign(raised_.size(), 0);
    arrived_.assign(steps.meetings.size(), 0);
    first_writer_.assign(rules.places().places(), kNone);
    for (std::uint32_t block = steps.blocks(); block-- > 0;) {
        if (done(block)) continue;
        ++running_;
        ready_.push_back(block);
    }
}

void ExecutionRun::advance() {
    while (!ready_.empty()) {
        const std::uint32_t block = ready_.back();
        ready_.pop_back();
        run(block);
    }
}

void ExecutionRun::run(std::uint32_t block) {
    const ExecutionSteps& steps = rules_->steps();
    while (!done(block)) {
        const std::uint32_t at = position_[block];
        const std::uint32_t meeting = steps.steps[at].barrier;
        if (meeting != kNone) {
            const auto& members = steps.meetings[meeting];
            if (++arrived_[meeting] < members.size()) return;
            for (const std::uint32_t member : members) {
                step_on(steps.steps[member].block);
                if (member != at) ready_.push_back(steps.steps[member].block);
            }
            continue;
        }
        if (const auto lacking = obstacle(block)) {
            waiting_[(std::uint64_t{static_cast<std::uint32_t>(lacking->cause)} << 32U) | lacking->what]
                .push_back(block);
            return;
        }
        perform(at);
        step_on(block);
    }
}

void ExecutionRun::step_on(std::uint32_t block) {
    ++position_[block];
    taken_[block] = 0;
    if (done(block)) --running_;
}

bool ExecutionRun::satisfied(std::uint32_t block, std::uint32_t use) const {
    const std::uint32_t counter = rules_->steps().uses[use].counter;
    if (acquires_ == Acquires::Chosen && rules_->competes(counter)) {
        const std::uint32_t first = rules_->steps().steps[position_[block]].first_use;
        return (taken_[block] >> (use - first) & 1U) != 0;
    }
    return raised_[counter] >= rules_->cautious_need(use);
}

std::optional<ExecutionRun::Obstacle> ExecutionRun::obstacle(std::uint32_t block) const {
    const ExecutionStep& step = rules_->steps().steps[position_[block]];
    for (std::uint32_t use = step.first_use; use < step.first_use + step.uses; ++use) {
        const CounterUse& of = rules_->steps().uses[use];
        if (!of.raises && !satisfied(block, use)) return Obstacle{Blocked::Cause::Counter, of.counter};
    }
    if (const auto place = missing_packet(step)) return Obstacle{Blocked::Cause::Packet, *place};
    return std::nullopt;
}

std::optional<std::uint32_t> ExecutionRun::missing_packet(const ExecutionStep& step) const {
    const plan::Program& program = rules_->steps().program;
    for (const plan::Move& move : rules_->steps().moves_of(step)) {
        for (std::uint32_t r = 0; r < move.reads; ++r) {
            if (!program.memories[program.ranges[move.first_read + r].memory].packets) continue;
            const std::uint32_t first = rules_->places().first(move.first_read + r);
            for (std::uint32_t e = 0; e < move.count; ++e) {
                if (first_writer_[first + e] == kNone) return first + e;
            }
        }
    }
    return std::nullopt;
}

void ExecutionRun::perform(std::uint32_t at) {
    const ExecutionSteps& steps = rules_->steps();
    const ExecutionStep& step = steps.steps[at];
    for (const CounterUse& use : steps.uses_of(step)) {
        if (!use.raises) continue;
        ++raised_[use.counter];
        wake({Blocked::Cause::Counter, use.counter});
    }
    for (const plan::Move& move : steps.moves_of(step)) {
        for (std::uint32_t w = 0; w < move.writes; ++w) {
            if (!steps.program.memories[steps.program.ranges[move.first_write() + w].memory].packets)
                continue;
            const std::uint32_t first = rules_->places().first(move.first_write() + w);
            for (std::uint32_t place = first; place < first + move.count; ++place) {
                if (first_writer_[place] != kNone) continue;
                first_writer_[place] = at;
                wake({Blocked::Cause::Packet, place});
            }
        }
    }
}

void ExecutionRun::wake(const Obstacle& obstacle) {
    const auto waiting =
        waiting_.find((std::uint64_t{static_cast<std::uint32_t>(obstacle.cause)} << 32U) | obstacle.what);
    if (waiting == waiting_.end()) return;
    ready_.insert(ready_.end(), waiting->second.begin(), waiting->second.end());
    waiting_.erase(waiting);
}

std::vector<ExecutionRun::Choice> ExecutionRun::choices() const {
    std::vector<Choice> choices;
    if (acquires_ != Acquires::Chosen) return choices;
    const ExecutionSteps& steps = rules_->steps();
    for (std::uint32_t block = 0; block < steps.blocks(); ++block) {
        if (done(block)) continue;
        const ExecutionStep& step = steps.steps[position_[block]];
        for (std::uint32_t use = step.first_use; use < step.first_use + step.uses; ++use) {
            const std::uint32_t counter = steps.uses[use].counter;
            if (steps.uses[use].raises || !rules_->competes(counter) || satisfied(block, use)) continue;
            if (raised_[counter] > lowered_[counter]) choices.push_back({block, use});
        }
    }
    return choices;
}

void ExecutionRun::take(const Choice& choice) {
    const ExecutionSteps& steps = rules_->steps();
    ++lowered_[steps.uses[choice.use].counter];
    taken_[choice.block] |= std::uint64_t{1} << (choice.use - steps.steps[position_[choice.block]].first_use);
    for (auto& [what, blocks] : waiting_) std::erase(blocks, choice.block);
    ready_.push_back(choice.block);
}

std::vector<std::uint32_t> ExecutionRun::key() const {
    std::vector<std::uint32_t> key = position_;
    for (const std::uint64_t bits : taken_) {
        key.push_back(static_cast<std::uint32_t>(bits));
        key.push_back(static_cast<std::uint32_t>(bits >> 32U));
    }
    return key;
}

ExecutionRun::Blocked ExecutionRun::blocked(std::uint32_t block) const {
    expects(!done(block));
    const std::uint32_t at = position_[block];
    const std::uint32_t meeting = rules_->steps().steps[at].barrier;
    const Obstacle lacking = meeting != kNone ? Obstacle{Blocked::Cause::Barrier, meeting} : *obstacle(block);
    return {lacking.cause, at, lacking.what, provider_of(lacking)};
}

std::uint32_t ExecutionRun::provider_of(const Obstacle& obstacle) const {
    const ExecutionSteps& steps = rules_->steps();
    const auto pending = [&](std::uint32_t step) { return step >= position_[steps.steps[step].block]; };
    switch (obstacle.cause) {
        case Blocked::Cause::Counter:
            for (const std::uint32_t step : rules_->raisers(obstacle.what)) {
                if (pending(step)) return step;
            }
            return kNone;
        case Blocked::Cause::Barrier:
            for (const std::uint32_t step : steps.meetings[obstacle.what]) {
                if (step != position_[steps.steps[step].block]) return step;
            }
            return kNone;
        case Blocked::Cause::Packet:
            return writer_of(obstacle.what);
    }
    return kNone;
}

std::uint32_t ExecutionRun::writer_of(std::uint32_t place) const {
    const ExecutionSteps& steps = rules_->steps();
    for (std::uint32_t block = 0; block < steps.blocks(); ++block) {
        for (std::uint32_t at = position_[block]; at < steps.block_begin[block + 1]; ++at) {
            for (const plan::Move& move : steps.moves_of(steps.steps[at])) {
                for (std::uint32_t w = 0; w < move.writes; ++w) {
                    const std::uint32_t first = rules_->places().first(move.first_write() + w);
                    if (place >= first && place - first < move.count) return at;
                }
            }
        }
    }
    return kNone;
}

std::int64_t ExecutionRun::packet_chunk(std::uint32_t place) const {
    return rules_->places().place(place).second / rules_->steps().program.places_per_chunk;
}

Rank ExecutionRun::packet_gpu(std::uint32_t place) const {
    return rules_->steps().program.memories[rules_->places().place(place).first].gpu;
}

}  // namespace tutti::verify
