#pragma once

#include "run/local_memories.hpp"
#include "run/pieces.hpp"
#include "run/streams.hpp"
#include "run/worker_threads.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tutti::run {

enum class Engine { Pieces, Streams };

/// Below so many bytes of all memories, sharing a call out costs more than it saves.
inline constexpr std::size_t kAlone = std::size_t{64} << 10U;

/// How a call in this process is run.
struct LocalOptions {
    Engine engine = Engine::Pieces;
    std::size_t piece_bytes = 0;  ///< 0: what suits
    /// Called now and then while workers wait for each other; throws to end the call.
    std::function<void()> check = [] {};
};

/// What an engine executes of a plan where memory is shared: with as few passes over memory as it can.
[[nodiscard]] Executable executable_for(Engine engine, const Executable& executable, ElementType type);

/// Bytes of the temporary places that a call with that engine needs besides the memories.
[[nodiscard]] std::size_t temporary_bytes_of_call(const Executable& executable, const Layout& layout,
                                                  ElementType type, const LocalOptions& options);

/// All ranks of a plan in this process, with memories of their own or the caller's.
class LocalCall {
  public:
    /// `given`: as LocalMemories has it.
    LocalCall(const Executable& executable, const Layout& layout, ElementType type, Operator op,
              WorkerThreads& workers, LocalOptions options = {}, std::span<std::byte* const> given = {});

    void fill(const TestData& data) { memories_.fill(data); }
    void run();
    [[nodiscard]] TestData::Check check(const TestData& data) const { return memories_.check(data); }
    [[nodiscard]] std::vector<std::byte> outputs() const { return memories_.outputs(); }
    [[nodiscard]] std::int32_t ranks() const { return executable_.ranks(); }
    /// By memory of the executable.
    [[nodiscard]] const std::vector<std::byte*>& memories() const { return memories_.memories(); }

  private:
    void run_pieces();
    void run_streams();

    Executable executable_;  ///< what the engine executes
    WorkerThreads* workers_;
    LocalOptions options_;
    LocalMemories memories_;
    std::vector<std::optional<PieceWorker>> piece_workers_;
    std::optional<StreamCall> stream_call_;
    std::vector<StreamWorker> stream_workers_;
    std::vector<Progress> progress_;
    HugeBytes temporary_;
};

}  // namespace tutti::run
