#include "run/private_call.hpp"

#include "core/error.hpp"
#include "core/expects.hpp"
#include "run/kernels.hpp"
#include "run/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tutti::run {
namespace {

constexpr std::size_t kCacheLine = 64, kHalf = Team::kStagingBytes / 2;
/// All of a call that is smaller fits in a cache, and one process works on it sooner than several.
constexpr std::size_t kAloneStaged = std::size_t{64} << 10U;

/// How the steps use a place, in their order.
struct Use {
    bool read_first = false, written = false;
};

}  // namespace

PrivateCall::PrivateCall(Team& team, const Executable& executable, const Layout& layout, ElementType type,
                         Operator op, std::uint32_t shift)
    : team_(&team), executable_(&executable), layout_(layout), type_(type), op_(op), shift_(shift) {
    expects(static_cast<std::uint32_t>(executable.ranks()) == team.processes());
    for (const ExecutableMemory& memory : executable.memories) {
        first_place_.push_back(places_);
        places_ += static_cast<std::size_t>(memory.places);
    }
    choose_pieces();
    const std::size_t slot_of_temporary = place_bytes_;
    temporary_.resize(executable.temporaries * slot_of_temporary);
    for (const Operand& at : executable.operands) {
        if (at.temporary()) {
            addresses_.push_back({temporary_.data() + at.place * slot_of_temporary, 0});
        } else {
            addresses_.push_back({team.staging() + (first_place_[at.memory] + at.place) * place_bytes_, 1});
        }
    }
    find_copies(Rank((team.process() + shift) % team.processes()));
}

void PrivateCall::choose_pieces() {
    constexpr std::size_t kWorkingSet = std::size_t{256} << 10U, kLeast = 256, kMost = 16384;
    constexpr std::size_t kWindow = std::size_t{4} << 20U, kMostSlots = 64;
    const std::size_t size = size_of(type_);
    const std::size_t least_slots = 2 * std::size_t{team_->processes()} + 1;
    std::size_t bytes = std::clamp(kWorkingSet / std::max<std::size_t>(places_, 1), kLeast, kMost);
    bytes = std::min(bytes, static_cast<std::size_t>(std::max<std::int64_t>(layout_.stride(), 1)) * size);
    place_bytes_ = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    slot_bytes_ = std::max<std::size_t>(places_, 1) * place_bytes_;
    if (slot_bytes_ * least_slots > kHalf) {
        throw LimitError(
            fmt::format("the plan has {} chunks, too many for arrays that are not shared", places_));
    }
    slots_ = std::clamp(kWindow / slot_bytes_, least_slots, std::max(least_slots, kMostSlots));
    const std::size_t piece = place_bytes_ / size;
    for (std::size_t at = 0; at < layout_.stretches().size(); ++at) {
        const auto first = static_cast<std::size_t>(layout_.stretches()[at].first);
        const auto last = static_cast<std::size_t>(layout_.stretches()[at].last);
        for (std::size_t x = first; x < last; x += piece)
            pieces_.push_back({at, x, std::min(piece, last - x)});
    }
    alone_ = pieces_.size() <= slots_ && pieces_.size() * slot_bytes_ <= kAloneStaged;
}

void PrivateCall::find_copies(Rank rank) {
    std::vector<Use> uses(places_);
    for (const Step& step : executable_->steps) {
        for (const Operand& at : executable_->sources(step)) {
            if (at.temporary()) continue;
            Use& use = uses[first_place_[at.memory] + at.place];
            use.read_first = use.read_first || !use.written;
        }
        for (const Operand& at : executable_->targets(step)) {
            if (!at.temporary()) uses[first_place_[at.memory] + at.place].written = true;
        }
    }
    const auto element = [&](std::uint32_t memory, std::int64_t first, std::int64_t place) {
        return static_cast<std::size_t>(layout_.first(memory, place) - layout_.first(memory, first));
    };
    for (const Layout::Stretch& stretch : layout_.stretches()) {
        std::vector<Copy>&in = in_.emplace_back(), &out = out_.emplace_back();
        std::vector<std::size_t>& averaged = averaged_.emplace_back();
        const plan::Range& output = executable_->outputs[rank.index()];
        const std::int64_t outputs = executable_->output_places[rank.index()];
        for (std::uint32_t memory = 0; memory < executable_->memories.size(); ++memory) {
            const ExecutableMemory& here = executable_->memories[memory];
            if (here.gpu != rank) continue;
            for (std::int64_t place = 0; place < here.places; ++place) {
                if (layout_.length(memory, place) <= stretch.first) continue;
                const std::size_t number = first_place_[memory] + static_cast<std::size_t>(place);
                const std::size_t at = number * place_bytes_;
                const bool known = here.origin && place >= here.known_first && place < here.known_last;
                const bool is_output =
                    memory == output.memory && place >= output.first && place < output.first + outputs;
                const bool kept = is_output && known && !uses[number].written;
                std::optional<std::size_t> same_as;
                if (kept && op_ != Operator::Avg) same_as = element(memory, here.known_first, place);
                if (known && (uses[number].read_first || kept))
                    in.push_back({at, element(memory, here.known_first, place), {}});
                if (is_output && (uses[number].written || kept))
                    out.push_back({at, element(memory, output.first, place), same_as});
            }
        }
        if (op_ != Operator::Avg) continue;
        for (const Rank other : plan::ranks_below(executable_->ranks())) {
            if (!executable_->postcondition.demands_of(other)) continue;
            const plan::Range& range = executable_->outputs[other.index()];
            for (std::int64_t e = 0; e < executable_->output_places[other.index()]; ++e) {
                if (layout_.length(range.memory, range.first + e) <= stretch.first) continue;
                averaged.push_back((first_place_[range.memory] + static_cast<std::size_t>(range.first + e)) *
                                   place_bytes_);
            }
        }
    }
}

std::byte* PrivateCall::half() const { return team_->staging() + team_->staged_calls % 2 * kHalf; }

void PrivateCall::bring(std::size_t number, const std::byte* input) const {
    const Piece& piece = pieces_[number];
    const std::size_t size = size_of(type_);
    for (const Copy& copy : in_[piece.stretch]) {
        std::memcpy(slot_of(number) + copy.place, input + (copy.element + piece.first) * size,
                    piece.elements * size);
    }
}

void PrivateCall::work(std::size_t number) const {
    const Piece& piece = pieces_[number];
    const Kernels& kernels = kernels_of(type_, op_);
    // Places are at these addresses in the first slot of all; temporary places do not move.
    const auto slot = static_cast<std::size_t>(slot_of(number) - team_->staging());
    for (const Step& step : executable_->steps) {
        run_step(step, addresses_.data() + step.first_operand, kernels, slot, piece.elements, size_of(type_));
    }
    for (const std::size_t place : averaged_[piece.stretch])
        kernels.divide(slot_of(number) + place, piece.elements, executable_->ranks());
}

void PrivateCall::fetch(std::size_t number, const std::byte* input, std::byte* output) const {
    const Piece& piece = pieces_[number];
    const std::size_t size = size_of(type_);
    for (const Copy& copy : out_[piece.stretch]) {
        std::byte* const to = output + (copy.element + piece.first) * size;
        if (copy.same_as && input + (*copy.same_as + piece.first) * size == to) continue;
        std::memcpy(to, slot_of(number) + copy.place, piece.elements * size);
    }
}

bool PrivateCall::agreed(const Team& team) {
    const auto first = team.post(0);
    for (std::uint32_t process = 0; process < team.processes(); ++process) {
        const auto other = team.post(process);
        if (other[0] != first[0] || other[1] == 0) return false;
    }
    return true;
}

void PrivateCall::decline(Team& team) {
    ++team.staged_calls;
    team.post(team.process())[1] = 0;
    team.meet([&] { team.notice() = 0; });
}

bool PrivateCall::run(Terms terms, const std::byte* input, std::byte* output) {
    ++team_->staged_calls;
    const auto post = team_->post(team_->process());
    post[0] = terms.fingerprint;
    post[1] = terms.willing ? 1 : 0;
    if (alone_ && terms.willing) {
        for (std::size_t piece = 0; piece < pieces_.size(); ++piece) bring(piece, input);
    }
    team_->meet([&] {
        team_->notice() = agreed(*team_) ? 1 : 0;
        if (!alone_ || team_->notice() == 0) return;
        for (std::size_t piece = 0; piece < pieces_.size(); ++piece) work(piece);
    });
    if (team_->notice() == 0) return false;
    if (alone_) {
        for (std::size_t piece = 0; piece < pieces_.size(); ++piece) fetch(piece, input, output);
    } else {
        run_overlapped(input, output);
    }
    return true;
}

void PrivateCall::run_overlapped(const std::byte* input, std::byte* output) {
    const std::uint32_t own = team_->process(), processes = team_->processes();
    const std::uint64_t before = team_->brought(own).load(std::memory_order_relaxed);
    const std::size_t count = pieces_.size(), lag = (slots_ - 1) / 2;
    Patience patience = team_->patience();
    const auto wait = [&](const std::atomic<std::uint64_t>& counter, std::size_t piece) {
        patience.reset();
        while (counter.load(std::memory_order_acquire) <= before + piece) patience.wait();
    };
    for (std::size_t turn = 0; turn < count + 2 * lag; ++turn) {
        if (turn < count) {
            bring(turn, input);
            team_->brought(own).store(before + turn + 1, std::memory_order_release);
        }
        if (turn >= lag && turn - lag < count && (turn - lag) % processes == own) {
            for (std::uint32_t process = 0; process < processes; ++process)
                wait(team_->brought(process), turn - lag);
            work(turn - lag);
            team_->worked(own).store(before + turn - lag + 1, std::memory_order_release);
        }
        if (turn >= 2 * lag) {
            const std::size_t piece = turn - 2 * lag;
            wait(team_->worked(static_cast<std::uint32_t>(piece % processes)), piece);
            fetch(piece, input, output);
        }
    }
}

}  // namespace tutti::run
