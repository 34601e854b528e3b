#pragma once

#include "plan/call_list.hpp"
#include "verify/calls/call_verdict.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::verify {

/// Findings, of which only the first are kept.
class CallFindings {
  public:
    explicit CallFindings(std::size_t most) : most_(most) {}

    void add(CallFinding finding) {
        ++count_;
        if (kept_.size() < most_) kept_.push_back(std::move(finding));
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] std::vector<CallFinding> take() { return std::move(kept_); }

  private:
    std::size_t most_;
    std::uint64_t count_ = 0;
    std::vector<CallFinding> kept_{};
};

/// Which calls are one: calls are numbered through, rank by rank.
struct CallMatching {
    std::vector<std::uint32_t> first_of_rank{};  ///< the number of each rank's first call, and that of all
    std::vector<std::uint32_t> event_of{};       ///< by call; the calls of one collective or message share it
    std::uint32_t events = 0;
    struct Message {
        std::uint32_t send, receive;  ///< calls
    };
    std::vector<Message> buffered{};  ///< messages whose send does not wait; their ends are two events

    [[nodiscard]] CallPlace place_of(std::uint32_t call) const;
};

/// Matches the calls and reports those that do not fit together. With `buffer_all` no send waits.
[[nodiscard]] CallMatching match_calls(const plan::CallList& list, bool buffer_all, CallFindings& findings);

/// "all_reduce on tp".
[[nodiscard]] std::string words_of(const plan::CallList& list, CallPlace place);

}  // namespace tutti::verify
