// Why sockets and not MPI's own messages: MPI has no word for a rank that is gone. With Open MPI 4 a killed
// rank takes the communicator with it, the next call of any other may hang or abort, and MPI_Finalize waits
// for the dead. A batch that loses one machine of fifty must go on, so MPI is only asked to start the
// processes, and a closed socket says all there is to say. So every build can do it, and nothing is linked.
//
// Who is lost: the kernel closes a dead process's sockets, so mostly that is known at once. Otherwise (the
// machine is gone or cut off, the process is stopped) a worker that has been silent for kSilence, and sends a
// beat every few seconds, is lost. One that is cut off notices first, by what rank 0 does not acknowledge
// (link.cpp), and ends its children: its task is not at work twice.
//
// Rank 0 works too, in children as the others: it does nothing but poll, which takes no core.
//
// Whoever connects is a stranger until it has said the secret: it may send little and has little time, and of
// too many the eldest goes. None of that can delay the others, since no call here blocks.

#include "batch/cluster/cluster_executor.hpp"

#include "batch/cluster/words.hpp"
#include "core/error.hpp"
#include "text/format.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <filesystem>

namespace tutti::batch::cluster {
namespace {

using namespace std::chrono_literals;

constexpr auto kSilence = 60s;
constexpr auto kForHello = 10s;
constexpr auto kForFarewell = 500ms;
constexpr auto kBetweenLooks = 50ms;
constexpr std::size_t kMostStrangers = 64;
constexpr std::uint64_t kLongestHello = 4096;

/// In a time that does not tell how much of it is right.
bool same_secret(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
    return difference == 0;
}

}  // namespace

ClusterExecutor::ClusterExecutor(Settings settings)
    : settings_(std::move(settings)),
      rendezvous_(settings_.results, settings_.ranks.job),
      secret_(new_secret()),
      local_({settings_.results, settings_.limits, settings_.cores.value_or(cores_of(settings_.ranks)),
              settings_.work}) {
    Member self;
    self.who = fmt::format("rank 0 on {}", host_name());
    self.cores = settings_.cores.value_or(cores_of(settings_.ranks));
    members_.push_back(std::move(self));
    if (settings_.ranks.size < 2) return;
    const bool all_here = settings_.ranks.on_this_host == settings_.ranks.size;
    listener_.emplace(all_here);
    Address address{addresses_of_this_host(), listener_->port(), secret_, boot_id()};
    if (all_here) address.hosts = {"127.0.0.1"};
    rendezvous_.publish(address);
}

bool ClusterExecutor::alive() const { return !settings_.ranks.follow_parent || !launcher_.gone(); }

void ClusterExecutor::remark(const std::string& text) const {
    if (remark_) remark_(text);
}

/// The one with most cores free, rather another than this process. A task that is too wide for all of them
/// gets one for itself.
const ClusterExecutor::Member* ClusterExecutor::member_for(unsigned threads) const {
    const unsigned widest = std::ranges::max_element(members_, {}, &Member::cores)->cores;
    const Member* best = nullptr;
    const auto free = [](const Member& member) { return member.cores - std::min(member.cores, member.busy); };
    for (const Member& member : members_) {
        if (threads > widest ? member.busy > 0 : threads > free(member)) continue;
        if (best == nullptr || free(member) > free(*best) || (!best->link && free(member) == free(*best)))
            best = &member;
    }
    return best;
}

bool ClusterExecutor::has_room(unsigned threads) const { return member_for(threads) != nullptr; }

void ClusterExecutor::begin(std::size_t number, const Task& task) {
    const Member* found = member_for(task.variant.threads);
    if (found == nullptr) throw InternalError("a task is given to an executor that has no room");
    Member& member = *std::ranges::find(members_, found->rank, &Member::rank);
    member.threads.emplace(number, task.variant.threads);
    member.busy += task.variant.threads;
    if (member.link) {
        member.link->send(text_of(Begin{number, task}));
    } else {
        local_.begin(number, task);
    }
}

std::vector<TaskEvent> ClusterExecutor::wait(std::chrono::milliseconds time) {
    const auto until = Clock::now() + time;
    for (bool last = false; events_.empty() && !last;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        last = left <= 0ms;
        listen(std::clamp<std::chrono::milliseconds>(left, 0ms, kBetweenLooks));
        let_strangers_in();
        hear_strangers();
        hear_members();
        for (TaskEvent& event : local_.wait(0ms)) take(members_.front(), std::move(event));
    }
    return std::exchange(events_, {});
}

void ClusterExecutor::listen(std::chrono::milliseconds time) {
    std::vector<pollfd> polled;
    if (listener_) polled.push_back({listener_->descriptor(), POLLIN, 0});
    for (const Stranger& stranger : strangers_) polled.push_back(stranger.link.polled());
    for (const Member& member : members_) {
        if (member.link) polled.push_back(member.link->polled());
    }
    for (const int descriptor : local_.descriptors()) polled.push_back({descriptor, POLLIN, 0});
    (void)::poll(polled.data(), polled.size(), static_cast<int>(time.count()));
}

void ClusterExecutor::let_strangers_in() {
    for (std::size_t i = 0; listener_ && i < kMostStrangers; ++i) {
        auto link = listener_->accept();
        if (!link) return;
        if (strangers_.size() == kMostStrangers) strangers_.pop_front();
        strangers_.push_back({std::move(*link), settings_.now()});
    }
}

void ClusterExecutor::hear_strangers() {
    for (Stranger& stranger : strangers_) {
        const auto messages = stranger.link.receive();
        if (stranger.link.heard() > kLongestHello || settings_.now() - stranger.since > kForHello) {
            stranger.link.close();
        } else if (!messages.empty() && stranger.link.open()) {
            greet(stranger, messages.front());
        }
    }
    strangers_.remove_if([](const Stranger& stranger) { return !stranger.link.open(); });
}

/// Makes a member of it, or closes its link.
void ClusterExecutor::greet(Stranger& stranger, const std::string& message) {
    try {
        const Hello hello = hello_in(message);
        const bool comes_twice = std::ranges::find(members_, hello.rank, &Member::rank) != members_.end();
        if (!same_secret(hello.secret, secret_) || hello.rank >= settings_.ranks.size || comes_twice) {
            stranger.link.close();
            return;
        }
        Member member;
        member.rank = hello.rank;
        member.who = fmt::format("rank {} on {}", hello.rank, hello.host);
        member.cores = settings_.cores.value_or(hello.cores);
        member.heard = settings_.now();
        member.link = std::move(stranger.link);
        member.link->send(
            text_of(Welcome{std::filesystem::current_path().native(), settings_.cores, settings_.limits}));
        members_.push_back(std::move(member));
        if (++arrived_ == settings_.ranks.size) rendezvous_.remove();  // nobody needs the secret any more
    } catch (const InputError&) {
        stranger.link.close();
    }
}

void ClusterExecutor::hear_members() {
    for (auto member = members_.begin(); member != members_.end();) {
        std::string why;
        if (member->link) {
            const auto before = member->link->heard();
            try {
                for (const std::string& message : member->link->receive()) hear(*member, message);
            } catch (const InputError& error) {
                why = fmt::format("it says what it should not: {}", error.what());
            }
            if (member->link->heard() != before) member->heard = settings_.now();
            if (why.empty() && !member->link->open()) why = "its connection is closed";
            if (why.empty() && settings_.now() - member->heard > kSilence) why = "it is silent";
        }
        if (!why.empty()) lose(*member, why);
        member = why.empty() ? std::next(member) : members_.erase(member);
    }
}

void ClusterExecutor::hear(Member& member, const std::string& message) {
    if (message == kBeat) return;
    TaskEvent event = event_in(message);
    const bool whole =
        event.kind == TaskEvent::Kind::Found || (event.kind == TaskEvent::Kind::Ended && event.line);
    if (!whole || !member.threads.contains(event.task)) throw InputError("an event of no task that it runs");
    take(member, std::move(event));
}

void ClusterExecutor::take(Member& member, TaskEvent event) {
    if (event.kind != TaskEvent::Kind::Found) {
        const auto found = member.threads.find(event.task);
        member.busy -= found->second;
        member.threads.erase(found);
    }
    event.who = member.who;
    events_.push_back(std::move(event));
}

void ClusterExecutor::lose(const Member& member, const std::string& why) {
    remark(fmt::format("{} is lost with {}: {}", member.who, text::count_text(member.threads.size(), "task"),
                       why));
    for (const auto& [number, threads] : member.threads)
        events_.push_back({TaskEvent::Kind::Lost, number, {}, {}, {}, member.who});
}

void ClusterExecutor::stop() {
    local_.stop();
    if (!listener_) return;
    listener_.reset();
    strangers_.clear();
    if (arrived_ < settings_.ranks.size) {
        rendezvous_.call_off();
        remark(fmt::format("{} of {} ranks had not come", settings_.ranks.size - arrived_,
                           settings_.ranks.size));
    }
    for (Member& member : members_) {
        if (member.link) member.link->send(kEnd);
    }
    // Closed with something unread, a socket forgets what it had to send.
    for (const auto until = Clock::now() + kForFarewell; members_.size() > 1 && Clock::now() < until;) {
        listen(kBetweenLooks);
        for (Member& member : members_) {
            if (member.link) (void)member.link->receive();
        }
        members_.remove_if([](const Member& member) { return member.link && !member.link->open(); });
    }
    members_.remove_if([](const Member& member) { return member.link.has_value(); });
    events_.clear();
}

}  // namespace tutti::batch::cluster
