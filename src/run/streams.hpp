#pragma once

#include "run/binding.hpp"
#include "run/meeting.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::run {

/// How many tasks a stream has done in a call, over all pieces: all the synchronisation that streams need. It
/// may lie in memory that processes share.
struct alignas(64) Progress {
    std::atomic<std::uint64_t> done{0};
};

/// The engine that executes a plan as GPUs do: each thread block is a stream of its own, which does its tasks
/// for one piece after the other and waits until others have done theirs. A receiver reads its sender's
/// memory. Streams have no stacks: a worker advances each of its streams until it has to wait.
///
/// What all workers of a call have in common; it is not changed by running.
class StreamCall {
  public:
    /// `piece_bytes`: of a place; 0: what suits.
    StreamCall(const Binding& binding, std::size_t piece_bytes = 0);

    [[nodiscard]] const Binding& binding() const { return *binding_; }
    /// One for each stream.
    [[nodiscard]] std::size_t counters() const { return binding_->executable().streams.size(); }
    /// Bytes of temporary memory that all workers reach.
    [[nodiscard]] std::size_t temporary_bytes() const;
    /// The same of a call that is not made yet.
    [[nodiscard]] static std::size_t temporary_bytes(const Executable& executable, const Layout& layout,
                                                     ElementType type, std::size_t piece_bytes);

  private:
    friend class StreamWorker;
    struct Piece {
        std::size_t stretch = 0, first = 0, elements = 0;
    };
    /// A temporary place is used for so many pieces at a time; then its writer waits for its reader.
    static constexpr std::size_t kPiecesAtOnce = 2;

    void find_reuses();

    const Binding* binding_;
    std::size_t slot_bytes_ = 0;
    std::vector<Piece> pieces_;
    std::vector<std::uint64_t> tasks_;        ///< by stream
    std::vector<std::uint32_t> first_reuse_;  ///< by task, in reuses_
    std::vector<Wait> reuses_;                ///< what a task waits for of the piece so many earlier
};

/// Advances some streams of a call.
class StreamWorker {
  public:
    /// `progress` and `temporary` are those of all workers, `own` the streams that are this worker's.
    StreamWorker(const StreamCall& call, std::span<Progress> progress, std::byte* temporary,
                 std::vector<std::uint32_t> own);

    /// Before every call, and before any worker runs.
    void reset();
    /// Returns when the worker's streams are done; the call is done when all workers are.
    void run(Patience& patience);

  private:
    struct State {
        std::uint32_t stream = 0;
        std::uint32_t task = 0;  ///< its next one
        std::uint32_t wait = 0;  ///< of it, the first that may not be over
        std::size_t piece = 0;
        std::uint64_t done = 0;
    };

    /// Whether anything was done.
    bool advance(State& state);
    [[nodiscard]] bool may_run(State& state) const;
    void run_task(const Task& task, std::size_t piece) const;

    const StreamCall* call_;
    std::span<Progress> progress_;
    std::vector<std::vector<Address>> addresses_;  ///< by stretch, and which of the pieces at once
    std::vector<State> states_;
};

}  // namespace tutti::run
