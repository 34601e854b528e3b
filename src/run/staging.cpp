#include "run/staging.hpp"

#include <limits>

namespace tutti::run {
namespace {

constexpr std::size_t kNoSlot = std::numeric_limits<std::size_t>::max();

}  // namespace

/// A place of the rank: where it begins in the rank's arrays, if it is of its input and of its output.
struct Staging::Own {
    std::size_t slot = 0;
    bool known = false, is_output = false;
    std::size_t input = 0, output = 0;  ///< bytes
};

Staging::Staging(const Executable& executable, const Layout& layout, ElementType type, Operator op, Rank rank)
    : executable_(&executable),
      layout_(&layout),
      numbers_(executable),
      size_(size_of(type)),
      averages_(op == Operator::Avg),
      rank_(rank) {
    uses_.resize(numbers_.count());
    slots_.assign(numbers_.count(), kNoSlot);
    find_uses();
}

void Staging::find_uses() {
    const auto use = [&](std::uint32_t memory, std::int64_t place) -> Use& {
        std::size_t& slot = slots_[number(memory, place)];
        if (slot == kNoSlot) slot = used_++;
        return uses_[number(memory, place)];
    };
    for (const Step& step : executable_->steps) {
        for (const Operand& at : executable_->sources(step)) {
            if (at.temporary()) continue;
            Use& of = use(at.memory, at.place);
            of.read_first = of.read_first || !of.written;
        }
        for (const Operand& at : executable_->targets(step)) {
            if (!at.temporary()) use(at.memory, at.place).written = true;
        }
    }
    for (const Rank rank : plan::ranks_below(executable_->ranks())) {
        const plan::Range& output = executable_->outputs[rank.index()];
        for (std::int64_t e = 0; e < executable_->output_places[rank.index()]; ++e)
            (void)use(output.memory, output.first + e);
    }
}

Staging::Own Staging::own(std::uint32_t memory, std::int64_t place) const {
    const ExecutableMemory& here = executable_->memories[memory];
    const plan::Range& output = executable_->outputs[rank_.index()];
    const auto byte = [&](std::int64_t first) {
        return static_cast<std::size_t>(layout_->first(memory, place) - layout_->first(memory, first)) *
               size_;
    };
    Own found;
    found.slot = slot_of(memory, place);
    found.known = here.origin && place >= here.known_first && place < here.known_last;
    found.is_output = memory == output.memory && place >= output.first &&
                      place < output.first + executable_->output_places[rank_.index()];
    if (found.known) found.input = byte(here.known_first);
    if (found.is_output) found.output = byte(output.first);
    return found;
}

void Staging::lay_out(std::size_t place_bytes) {
    place_bytes_ = place_bytes;
    stretches_.clear();
    for (const Layout::Stretch& of : layout_->stretches()) {
        StagedStretch& stretch = stretches_.emplace_back();
        for (std::uint32_t memory = 0; memory < executable_->memories.size(); ++memory) {
            const ExecutableMemory& here = executable_->memories[memory];
            if (here.gpu != rank_) continue;
            for (std::int64_t place = 0; place < here.places; ++place) {
                if (slots_[number(memory, place)] == kNoSlot) continue;
                if (layout_->length(memory, place) > of.first)
                    add_copies(own(memory, place), uses_[number(memory, place)], stretch);
            }
        }
        add_locations(of, stretch);
        if (averages_) add_results(of, stretch);
    }
}

void Staging::add_copies(const Own& own, const Use& use, StagedStretch& stretch) const {
    const bool kept = own.is_output && own.known && !use.written;
    if (own.known && (use.read_first || kept)) stretch.in.push_back({own.slot, own.input});
    if (own.is_output && (use.written || kept))
        stretch.out.push_back({own.slot, own.output, kept, own.input});
}

void Staging::add_locations(const Layout::Stretch& of, StagedStretch& stretch) const {
    std::vector<bool> written(uses_.size(), false);
    const auto direct = [&](const Operand& at) -> Location {
        const Location slot{Location::Slot, slot_of(at.memory, at.place)};
        if (executable_->memories[at.memory].gpu != rank_) return slot;
        if (layout_->length(at.memory, at.place) <= of.first) return slot;
        const Own place = own(at.memory, at.place);
        if (!written[number(at.memory, at.place)])
            return place.known ? Location{Location::Input, place.input} : slot;
        return place.is_output ? Location{Location::Output, place.output} : slot;
    };
    stretch.staged.resize(executable_->operands.size());
    stretch.direct.resize(executable_->operands.size());
    for (const Step& step : executable_->steps) {
        // Sources, which stand behind the targets, are read before these are written.
        const std::size_t end = std::size_t{step.first_operand} + step.targets + step.sources;
        const auto locate = [&](std::size_t operand) {
            const Operand& at = executable_->operands[operand];
            if (at.temporary()) {
                stretch.staged[operand] = {Location::Temporary, at.place * place_bytes_};
                stretch.direct[operand] = stretch.staged[operand];
                return;
            }
            stretch.staged[operand] = {Location::Slot, slot_of(at.memory, at.place)};
            stretch.direct[operand] = direct(at);
        };
        for (std::size_t operand = std::size_t{step.first_operand} + step.targets; operand < end; ++operand)
            locate(operand);
        for (std::uint32_t target = 0; target < step.targets; ++target) {
            const Operand& at = executable_->operands[step.first_operand + target];
            if (!at.temporary()) written[number(at.memory, at.place)] = true;
            locate(step.first_operand + target);
        }
    }
}

void Staging::add_results(const Layout::Stretch& of, StagedStretch& stretch) const {
    for (const Rank rank : plan::ranks_below(executable_->ranks())) {
        if (!executable_->postcondition.demands_of(rank)) continue;
        const plan::Range& range = executable_->outputs[rank.index()];
        for (std::int64_t e = 0; e < executable_->output_places[rank.index()]; ++e) {
            const std::int64_t place = range.first + e;
            if (layout_->length(range.memory, place) <= of.first) continue;
            const Location slot{Location::Slot, slot_of(range.memory, place)};
            stretch.staged_results.push_back(slot);
            const Own here = own(range.memory, place);
            const bool in_array = rank == rank_ && (here.known || uses_[number(range.memory, place)].written);
            stretch.direct_results.push_back(in_array ? Location{Location::Output, here.output} : slot);
        }
    }
}

bool Staging::may_be_direct(const std::byte* input, const std::byte* output) const {
    const plan::Range& range = executable_->outputs[rank_.index()];
    std::size_t in = 0, out = 0;  // bytes of the arrays
    const auto end_of = [&](std::uint32_t memory, std::int64_t first, std::int64_t last) {
        return static_cast<std::size_t>(layout_->first(memory, last - 1) + layout_->length(memory, last - 1) -
                                        layout_->first(memory, first)) *
               size_;
    };
    const std::int64_t outputs = executable_->output_places[rank_.index()];
    if (outputs > 0) out = end_of(range.memory, range.first, range.first + outputs);
    for (std::uint32_t memory = 0; memory < executable_->memories.size(); ++memory) {
        const ExecutableMemory& here = executable_->memories[memory];
        if (here.gpu != rank_ || !here.origin || here.known_last <= here.known_first) continue;
        in = end_of(memory, here.known_first, here.known_last);
        if (memory != range.memory || outputs == 0) continue;
        const std::int64_t between =
            layout_->first(memory, range.first) - layout_->first(memory, here.known_first);
        if (output - input == static_cast<std::ptrdiff_t>(between) * static_cast<std::ptrdiff_t>(size_))
            return true;
    }
    const auto from = reinterpret_cast<std::uintptr_t>(input), to = reinterpret_cast<std::uintptr_t>(output);
    return from + in <= to || to + out <= from;
}

}  // namespace tutti::run
