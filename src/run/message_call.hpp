#pragma once

#include "run/binding.hpp"
#include "run/message_plan.hpp"
#include "run/message_transport.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tutti::run {

/// A call of a plan by processes without common memory, as one of them sees it: the thread blocks of its
/// ranks go on by themselves, and elements go from process to process by messages, piece by piece. Of each
/// message at most two pieces are on their way.
class MessageCall {
  public:
    /// `memories`: by memory of the executable the address of those of this process's ranks; scratch is made
    /// here, others are not looked at. All must stay as long as this. `check`: called now and then while
    /// nothing can be done; throws to end the call. Throws LimitError if there are more messages than tags.
    MessageCall(MessageTransport& transport, const MessagePlan& plan, const Layout& layout, ElementType type,
                Operator op, std::size_t piece_bytes, std::span<std::byte* const> memories,
                std::function<void()> check);

    /// By all processes. Returns when the outputs of this process's ranks are complete, and its messages
    /// sent.
    void run();

  private:
    static constexpr std::size_t kPiecesAtOnce = 2;
    struct Piece {
        std::size_t stretch = 0, first = 0, elements = 0;
    };
    struct State {
        std::uint32_t task = 0;
        std::size_t piece = 0;
        std::uint64_t done = 0;
    };
    struct Sending {
        std::deque<MessageTransport::Request> on_the_way{};
        std::size_t over = 0;  ///< pieces
    };

    [[nodiscard]] bool advance(std::uint32_t stream);
    [[nodiscard]] bool may_run(std::uint32_t task, std::size_t piece);
    void run_task(std::uint32_t task, std::size_t piece);
    [[nodiscard]] bool is_sent(std::uint32_t send, std::size_t pieces);
    void post_receive(std::uint32_t receive, std::size_t piece);
    [[nodiscard]] bool are_over(std::span<const Wait> waits, std::size_t piece) const;
    [[nodiscard]] const Address& address(std::uint32_t operand, std::size_t piece) const;

    MessageTransport* transport_;
    const MessagePlan* plan_;
    Layout layout_;
    std::function<void()> check_;
    std::vector<std::vector<std::byte>> owned_;
    std::optional<Binding> binding_;
    std::vector<Piece> pieces_;
    std::vector<std::vector<Address>> addresses_;  ///< by stretch, and which of the pieces at once
    std::vector<State> states_;                    ///< by stream
    std::vector<Sending> sending_;
    std::vector<std::optional<MessageTransport::Request>> receiving_;  ///< by receive, and which piece
};

}  // namespace tutti::run
