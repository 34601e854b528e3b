#pragma once

#include "run/binding.hpp"
#include "run/local_call.hpp"
#include "run/pieces.hpp"
#include "run/streams.hpp"
#include "run/team.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tutti::run {

/// A call of a plan by a team whose arrays all lie in the memory that it shares, as one of the processes sees
/// it. Ranks are spread over the processes in blocks (Team::process_of).
///
/// Pieces: all meet, each works on its share of the pieces of all ranks, all meet. Streams: each process
/// advances the thread blocks of its ranks. A call too small to be shared out is done by whoever comes last,
/// so there is one meeting only.
class TeamCall {
  public:
    /// Made by all processes together. `arrays`: by memory of the executable the address in the team's memory
    /// of those of this process's ranks; others, and scratch, are not looked at. They stay as long as this.
    TeamCall(Team& team, const Executable& executable, const Layout& layout, ElementType type, Operator op,
             Engine engine, std::size_t piece_bytes, std::span<std::byte* const> arrays);
    ~TeamCall();
    TeamCall(const TeamCall&) = delete;
    TeamCall& operator=(const TeamCall&) = delete;

    /// By all processes. Returns when the outputs of this process's ranks are complete.
    void run();
    /// By memory of the executable; of all ranks.
    [[nodiscard]] const std::vector<std::byte*>& memories() const { return memories_; }

  private:
    [[nodiscard]] bool is_own(Rank gpu) const {
        return team_->process_of(gpu.index(), ranks_) == team_->process();
    }
    void exchange_addresses();
    void make_streams(std::size_t piece_bytes);
    void run_streams();
    void divide(std::uint32_t share, std::uint32_t shares) const;

    Team* team_;
    Executable executable_;  ///< what the engine executes
    Layout layout_;
    std::size_t ranks_;
    bool alone_ = false;  ///< whoever comes last does it all
    std::vector<std::byte*> allocated_;
    std::vector<std::byte*> memories_, spares_;
    std::optional<Binding> binding_;
    std::optional<PieceWorker> piece_worker_;
    std::optional<StreamCall> stream_call_;
    std::vector<Progress> own_progress_;    ///< where whoever comes last does it all
    std::vector<std::byte> own_temporary_;  ///< likewise
    std::optional<StreamWorker> stream_worker_;
};

}  // namespace tutti::run
