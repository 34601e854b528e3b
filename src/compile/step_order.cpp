// From ticks to steps.
//
// First in order of start: a step is closed before the first tick that has a message which reads what arrived
// within it. So messages that pipeline in time pipeline in steps, and each link's load is spread as it was.
//
// A plain chunk that comes early does no harm. A sum must be read as it was: with all that had arrived, and
// without what was still on its way. The second fails where a step was closed while a message was on its way
// to a node that then sent: the message must move to that node's step or behind it. So steps are raised until
// nothing changes:
//     a message reads its source later than every arrival that it saw;
//     it arrives in no earlier step than any read that did not see it;
//     where one replaces and another adds, the earlier arrival is in an earlier step;
//     and of two that add where they must come one by one.
// Raising ends, because some assignment satisfies all or the rules go round in a circle, which shows when a
// step grows beyond the number of messages. Circles need a message that is overtaken by what its destination
// sent meanwhile; schedules of trees have none, and exchanges of equal length end in one round.

#include "compile/step_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace tutti::compile {
namespace {

/// What has happened at one node to one chunk, as a sweep in order of time sees it.
struct Slot {
    std::int64_t arrived = -1, replaced = -1, read = -1;  ///< the latest step of each
};

class Stepping {
  public:
    Stepping(std::vector<StepMessage>& messages, bool one_by_one)
        : messages_(messages), one_by_one_(one_by_one) {
        for (std::uint32_t i = 0; i < messages.size(); ++i) {
            from_.push_back(slot(messages[i].message.from, messages[i].message.chunk));
            to_.push_back(slot(messages[i].message.to, messages[i].message.chunk));
            events_.push_back({messages[i].message.start, true, i});
            events_.push_back({messages[i].message.arrival, false, i});
        }
        std::ranges::sort(events_);
    }

    void run() {
        in_order_of_start();
        // Each sweep raises something; what needs so many is not worth its steps.
        constexpr int kMostSweeps = 1000;
        for (int sweeps = 0; raise();) {
            if (++sweeps == kMostSweeps) refuse();
        }
        close_gaps();
    }

  private:
    /// Arrivals come before reads of the same tick.
    struct Event {
        Ticks tick;
        bool reads = false;
        std::uint32_t message = 0;
        friend auto operator<=>(const Event&, const Event&) = default;
    };

    std::uint32_t slot(NodeId node, ChunkId chunk) {
        const std::uint64_t key = (std::uint64_t{node.value()} << 32U) | chunk.value();
        return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
    }

    void in_order_of_start() {
        std::vector<std::int64_t> arrived(numbers_.size(), -1);
        std::int64_t current = 0;
        for (auto event = events_.begin(); event != events_.end();) {
            if (!event->reads) {
                std::int64_t& latest = arrived[to_[event->message]];
                latest = std::max(latest, std::int64_t{messages_[event->message].step});
                ++event;
                continue;
            }
            auto end = event;
            for (; end != events_.end() && end->reads && end->tick == event->tick; ++end)
                current = std::max(current, arrived[from_[end->message]] + 1);
            for (; event != end; ++event)
                messages_[event->message].step = static_cast<std::uint32_t>(current);
        }
    }

    /// One sweep over all rules; whether a message had to be raised.
    bool raise() {
        bool raised = false;
        std::vector<Slot> slots(numbers_.size());
        for (const Event& event : events_) {
            StepMessage& message = messages_[event.message];
            std::int64_t step = message.step;
            if (event.reads) {
                Slot& source = slots[from_[event.message]];
                step = std::max(step, source.arrived + 1);
                source.read = std::max(source.read, step);
            } else {
                Slot& target = slots[to_[event.message]];
                if (message.sums) step = std::max(step, target.read);
                if (message.sums && (message.replaces || one_by_one_))
                    step = std::max(step, target.arrived + 1);
                if (message.sums) step = std::max(step, target.replaced + 1);
                target.arrived = std::max(target.arrived, step);
                if (message.replaces) target.replaced = std::max(target.replaced, step);
            }
            if (step == message.step) continue;
            if (step > static_cast<std::int64_t>(messages_.size())) refuse();
            message.step = static_cast<std::uint32_t>(step);
            raised = true;
        }
        return raised;
    }

    void close_gaps() {
        std::vector<std::uint32_t> used;
        for (const StepMessage& message : messages_) used.push_back(message.step);
        std::ranges::sort(used);
        const auto rest = std::ranges::unique(used);
        used.erase(rest.begin(), rest.end());
        for (StepMessage& message : messages_) {
            message.step =
                static_cast<std::uint32_t>(std::ranges::lower_bound(used, message.step) - used.begin());
        }
    }

    [[noreturn]] static void refuse() {
        throw InputError(
            "no steps can say this schedule: partial sums on their way are overtaken by what their receivers "
            "send meanwhile");
    }

    std::vector<StepMessage>& messages_;
    bool one_by_one_;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  ///< of node and chunk
    std::vector<std::uint32_t> from_, to_;                      ///< per message
    std::vector<Event> events_;
};

}  // namespace

void put_into_steps(std::vector<StepMessage>& messages, bool one_by_one) {
    Stepping(messages, one_by_one).run();
}

}  // namespace tutti::compile
