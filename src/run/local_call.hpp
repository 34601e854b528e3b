#pragma once

#include "core/huge_pages.hpp"
#include "run/binding.hpp"
#include "run/pieces.hpp"
#include "run/streams.hpp"
#include "run/test_data.hpp"
#include "run/worker_threads.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

/// Bytes of the memories of all ranks, with scratch.
[[nodiscard]] std::size_t bytes_of_call(const Executable& executable, const Layout& layout, ElementType type);

/// All ranks of a plan in this process, with memories of their own.
class LocalCall {
  public:
    LocalCall(const Executable& executable, const Layout& layout, ElementType type, Operator op,
              WorkerThreads& workers, LocalOptions options = {});

    void fill(const TestData& data);
    void run();
    [[nodiscard]] TestData::Check check(const TestData& data) const;
    [[nodiscard]] std::int32_t ranks() const { return executable_->ranks(); }
    /// By memory of the executable.
    [[nodiscard]] const std::vector<std::byte*>& memories() const { return memories_; }

  private:
    using Bytes = std::vector<std::byte, HugePages<std::byte>>;

    void run_pieces();
    void run_streams();

    const Executable* executable_;
    Layout layout_;
    WorkerThreads* workers_;
    LocalOptions options_;
    std::vector<Bytes> owned_;
    std::vector<std::byte*> memories_, spares_;
    std::optional<Binding> binding_;
    std::vector<std::optional<PieceWorker>> piece_workers_;
    std::optional<StreamCall> stream_call_;
    std::vector<StreamWorker> stream_workers_;
    std::vector<Progress> progress_;
    Bytes temporary_;
};

}  // namespace tutti::run
