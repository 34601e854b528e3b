#include "run/private_call.hpp"

#include "core/error.hpp"
#include "core/expects.hpp"
#include "run/fusion.hpp"
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

}  // namespace

PrivateCall::PrivateCall(Team& team, const Executable& executable, const Layout& layout, ElementType type,
                         Operator op, std::uint32_t shift)
    : team_(&team),
      executable_(fused(executable, type)),
      layout_(layout),
      type_(type),
      op_(op),
      staging_(executable_, layout_, type, op, Rank((team.process() + shift) % team.processes())) {
    expects(static_cast<std::uint32_t>(executable.ranks()) == team.processes());
    choose_pieces();
    addresses_.resize(executable_.operands.size());
}

void PrivateCall::choose_pieces() {
    // A window of pieces that are brought before the first is worked on: small enough for the caches that
    // all have in common; but where processes take turns on a core each needs enough to do in its turn.
    constexpr std::size_t kWorkingSet = std::size_t{256} << 10U, kLeast = 256, kMost = std::size_t{64} << 10U;
    constexpr std::size_t kWindow = std::size_t{2} << 20U, kMostSlots = 64;
    const std::size_t size = size_of(type_), places = std::max<std::size_t>(staging_.places(), 1);
    const std::size_t least_slots = 2 * std::size_t{team_->processes()} + 1;
    std::size_t bytes = std::clamp(kWorkingSet / places, kLeast, kMost);
    bytes = std::min(bytes, static_cast<std::size_t>(std::max<std::int64_t>(layout_.stride(), 1)) * size);
    const std::size_t place_bytes = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    slot_bytes_ = places * place_bytes;
    if (slot_bytes_ * least_slots > kHalf) {
        throw LimitError(
            fmt::format("the plan has {} chunks, too many for arrays that are not shared", places));
    }
    slots_ = std::clamp(kWindow / slot_bytes_, least_slots, std::max(least_slots, kMostSlots));
    staging_.lay_out(place_bytes);
    temporary_.resize(executable_.temporaries * place_bytes);
    const std::size_t piece = place_bytes / size;
    for (std::size_t at = 0; at < layout_.stretches().size(); ++at) {
        const auto first = static_cast<std::size_t>(layout_.stretches()[at].first);
        const auto last = static_cast<std::size_t>(layout_.stretches()[at].last);
        for (std::size_t x = first; x < last; x += piece)
            pieces_.push_back({at, x, std::min(piece, last - x)});
    }
    alone_ = pieces_.size() <= slots_ && pieces_.size() * slot_bytes_ <= kAloneStaged;
}

std::byte* PrivateCall::half() const { return team_->staging() + team_->staged_calls % 2 * kHalf; }

void PrivateCall::bring(std::size_t number, const Arrays& arrays) const {
    if (is_direct(number, arrays)) return;
    const Piece& piece = pieces_[number];
    const std::size_t size = size_of(type_);
    for (const StagedStretch::Copy& copy : staging_.stretch(piece.stretch).in) {
        std::memcpy(slot_of(number) + copy.slot, arrays.input + copy.array + piece.first * size,
                    piece.elements * size);
    }
}

std::byte* PrivateCall::address(const Location& at, std::size_t number, const Arrays& arrays) {
    const std::size_t first = pieces_[number].first * size_of(type_);
    switch (at.in) {
        case Location::Input:  // which is only read
            return const_cast<std::byte*>(arrays.input) + at.at + first;
        case Location::Output:
            return arrays.output + at.at + first;
        case Location::Temporary:
            return temporary_.data() + at.at;
        default:
            return slot_of(number) + at.at;
    }
}

void PrivateCall::work(std::size_t number, const Arrays& arrays) {
    const Piece& piece = pieces_[number];
    const Kernels& kernels = kernels_of(type_, op_);
    const std::size_t size = size_of(type_);
    const bool direct = is_direct(number, arrays);
    const StagedStretch& stretch = staging_.stretch(piece.stretch);
    const std::vector<Location>& locations = direct ? stretch.direct : stretch.staged;
    for (std::size_t operand = 0; operand < locations.size(); ++operand)
        addresses_[operand].base = address(locations[operand], number, arrays);
    for (const Step& step : executable_.steps)
        run_step(step, addresses_.data() + step.first_operand, kernels, 0, piece.elements, size);
    if (direct) {
        for (const StagedStretch::Copy& copy : stretch.out) {
            const std::byte* const from = arrays.input + copy.input + piece.first * size;
            std::byte* const to = arrays.output + copy.array + piece.first * size;
            if (copy.kept && from != to) std::memcpy(to, from, piece.elements * size);
        }
    }
    for (const Location& at : direct ? stretch.direct_results : stretch.staged_results)
        kernels.divide(address(at, number, arrays), piece.elements, executable_.ranks());
}

void PrivateCall::fetch(std::size_t number, const Arrays& arrays) const {
    if (is_direct(number, arrays)) return;
    const Piece& piece = pieces_[number];
    const std::size_t size = size_of(type_);
    for (const StagedStretch::Copy& copy : staging_.stretch(piece.stretch).out) {
        std::byte* const to = arrays.output + copy.array + piece.first * size;
        const bool there = copy.kept && arrays.input + copy.input + piece.first * size == to;
        if (there && op_ != Operator::Avg) continue;
        std::memcpy(to, slot_of(number) + copy.slot, piece.elements * size);
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
    Arrays arrays{input, output, false};
    ++team_->staged_calls;
    const auto post = team_->post(team_->process());
    post[0] = terms.fingerprint;
    post[1] = terms.willing ? 1 : 0;
    if (alone_ && terms.willing) {
        for (std::size_t piece = 0; piece < pieces_.size(); ++piece) bring(piece, arrays);
    }
    team_->meet([&] {
        team_->notice() = agreed(*team_) ? 1 : 0;
        if (!alone_ || team_->notice() == 0) return;
        for (std::size_t piece = 0; piece < pieces_.size(); ++piece) work(piece, arrays);
    });
    if (team_->notice() == 0) return false;
    if (alone_) {
        for (std::size_t piece = 0; piece < pieces_.size(); ++piece) fetch(piece, arrays);
    } else {
        arrays.direct = staging_.may_be_direct(input, output);
        run_overlapped(arrays);
    }
    return true;
}

void PrivateCall::run_overlapped(const Arrays& arrays) {
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
            bring(turn, arrays);
            team_->brought(own).store(before + turn + 1, std::memory_order_release);
        }
        if (turn >= lag && turn - lag < count && (turn - lag) % processes == own) {
            for (std::uint32_t process = 0; process < processes; ++process)
                wait(team_->brought(process), turn - lag);
            work(turn - lag, arrays);
            team_->worked(own).store(before + turn - lag + 1, std::memory_order_release);
        }
        if (turn >= 2 * lag) {
            const std::size_t piece = turn - 2 * lag;
            wait(team_->worked(static_cast<std::uint32_t>(piece % processes)), piece);
            fetch(piece, arrays);
        }
    }
}

}  // namespace tutti::run
