#pragma once

#include "run/message_transport.hpp"
#include "run/piece_ranges.hpp"
#include "run/rank_memory.hpp"
#include "run/task_run.hpp"
#include "tensor/program.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace tutti::run {

/// Ranks of a program in processes that share no memory. Each process has memory for all ranks, and what it
/// needs of others in a collective is brought into their parts of it, piece by piece; so whoever reads there
/// need not know. Nobody waits for a message: sends and receives begin when their tasks may run, and signal
/// the tasks that wait for their end.
class ProgramMessages final : public TaskClock {
  public:
    /// All must outlive this. Throws InputError where there are more processes than ranks.
    ProgramMessages(const tensor::Program& program, const RankMemory& memory, MessageTransport& transport);

    /// Ranks are spread over the processes in blocks.
    [[nodiscard]] std::uint32_t process_of(std::int64_t rank) const;
    [[nodiscard]] bool is_here(std::int64_t rank) const { return process_of(rank) == transport_.process(); }

    using TransferId = std::size_t;
    /// One message in every call of the program: of a rank's part of an operand what one process reads of it.
    struct Transfer {
        TransferId id = 0;
        std::int64_t source = 0;
        bool sends = false;                   ///< from here; else it comes here
        std::vector<std::int64_t> readers{};  ///< ranks of the other or of this process
    };
    /// The transfers of this process that a collective needs for a piece. `elements`: by rank, of its result,
    /// what it makes; nothing where it makes none. Everybody asks for the same, in the same order. Throws
    /// LimitError.
    [[nodiscard]] std::vector<Transfer> add(
        tensor::ValueId collective,
        const std::function<std::vector<tensor::Interval>(std::int64_t)>& elements);
    /// The task to signal when it is over.
    void tell(TransferId transfer, TaskGraph::TaskId task) { messages_[transfer].told.push_back(task); }
    void run_with(TaskRun& run) { run_ = &run; }

    /// Begins it. By any thread, once in a call of the program.
    void start(TransferId transfer);

    void reset() override {}
    std::optional<Time> poll() override;

    /// Sends memory, or receives it, and waits; `check` is called now and then. When no call runs.
    void send_now(std::span<const std::byte> bytes, std::uint32_t to, const std::function<void()>& check);
    void receive_now(std::span<std::byte> bytes, std::uint32_t from, const std::function<void()>& check);

  private:
    struct Message {
        bool sends = false;
        std::uint32_t other = 0, tag = 0;
        std::byte* first = nullptr;             ///< of the source's part
        std::vector<tensor::Interval> bytes{};  ///< of that part
        std::vector<std::byte> packed{};        ///< where they are no single run
        std::vector<TaskGraph::TaskId> told{};
    };
    struct Active {
        MessageTransport::Request request;
        TransferId transfer;
    };

    void pack(Message& message) const;
    void unpack(const Message& message) const;

    const tensor::Program& program_;
    const RankMemory& memory_;
    MessageTransport& transport_;
    TaskRun* run_ = nullptr;
    std::vector<Message> messages_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> next_tag_;  ///< by sender and receiver

    std::mutex mutex_;  ///< of the transport, and of all below
    std::vector<Active> active_;
};

}  // namespace tutti::run
