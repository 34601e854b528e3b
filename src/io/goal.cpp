// GOAL says for each rank which sends, receives and calculations there are and which of them an operation
// requires. A round becomes its messages, each with a tag of its own among those of the pair of ranks, and a
// calculation of no time that requires them all, if a later round of the rank has messages; these require it.
// So a rank with m messages a round has 2 m lines "requires" for it, and not m squared. Local steps take no
// time in tutti's model and have no line. Messages of no bytes are left out, as they are when the plan is
// run.

#include "io/goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_map>

namespace tutti::io {
namespace {

using plan::RoundPlan;
using plan::RoundStep;

/// Writes one rank.
class GoalRank {
  public:
    GoalRank(const RoundPlan& plan, std::uint64_t count, std::uint32_t rank, std::string& text)
        : plan_(plan), count_(count), text_(text) {
        out("\nrank {} {{\n", rank);
        const std::vector<RoundStep>& steps = plan.steps[rank];
        for (std::size_t i = 0; i < steps.size();) {
            std::size_t end = i;
            while (end < steps.size() && steps[end].round == steps[i].round) ++end;
            round(std::span(steps).subspan(i, end - i));
            i = end;
        }
        out("}}\n");
    }

  private:
    template <class... Args>
    void out(fmt::format_string<Args...> form, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), form, std::forward<Args>(args)...);
    }

    void round(std::span<const RoundStep> steps) {
        const std::uint32_t before = label_;
        for (const RoundStep& step : steps) {
            const std::uint64_t bytes = plan::elements_of(step, plan_.block_chunks, count_);
            if (!step.is_message() || bytes == 0) continue;
            if (label_ == before) join();
            const bool sends = step.kind == RoundStep::Kind::Send;
            const std::uint32_t tag = tags_[{step.peer, sends}]++;
            out("l{}: {} {}b {} {} tag {}\n", ++label_, sends ? "send" : "recv", bytes, sends ? "to" : "from",
                step.peer, tag);
            if (joined_ > 0) out("l{} requires l{}\n", label_, joined_);
        }
        if (label_ > before) first_ = std::max(before, joined_) + 1;
    }
    /// What stands for the end of the round before.
    void join() {
        if (first_ == 0) return;
        const std::uint32_t last = label_;
        joined_ = ++label_;
        out("l{}: calc 0\n", joined_);
        for (std::uint32_t l = first_; l <= last; ++l) out("l{} requires l{}\n", joined_, l);
    }

    struct Pair {
        std::uint32_t peer = 0;
        bool sends = false;
        friend bool operator==(const Pair&, const Pair&) = default;
    };
    struct Hash {
        std::size_t operator()(const Pair& pair) const {
            return 2 * std::size_t{pair.peer} + (pair.sends ? 1 : 0);
        }
    };
    const RoundPlan& plan_;
    std::uint64_t count_;
    std::string& text_;
    std::uint32_t label_ = 0;   ///< the last one
    std::uint32_t first_ = 0;   ///< of the messages of the round before; 0: there was none
    std::uint32_t joined_ = 0;  ///< the calculation behind it
    std::unordered_map<Pair, std::uint32_t, Hash> tags_;
};

}  // namespace

std::string goal_text(const RoundPlan& plan, std::uint64_t count) {
    std::string text =
        fmt::format("// {} among {} ranks in {} rounds, {} bytes in a block of {} chunks. Made by tutti.\n",
                    name_of(plan.kind), plan.members, plan.rounds, count, plan.block_chunks);
    for (std::uint32_t r = 0; r < plan.npus.size(); ++r) {
        text += fmt::format("// rank {}: NPU {}{}\n", r, plan.npus[r].value(),
                            r < plan.members ? "" : " (relay)");
    }
    text += fmt::format("num_ranks {}\n", plan.ranks);
    for (std::uint32_t r = 0; r < plan.ranks; ++r) GoalRank(plan, count, r, text);
    return text;
}

}  // namespace tutti::io
