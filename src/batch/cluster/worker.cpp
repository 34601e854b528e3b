// Why a worker leaves its launcher. mpirun ends the whole job when one of its processes dies of a signal, but
// one that ends well before the others is none of its business. So, as soon as rank 0 has welcomed it, a
// worker goes on in a copy of itself, and the process that mpirun knows ends with 0. From then on the
// connection decides: it lives as long as rank 0 does, and mpirun as long as rank 0 and what it has started
// have its pipes open. (`mpirun --enable-recovery` would spare us this, but then mpirun's own exit code is
// always 0; measured with 4.1.4.) srun is not left: it does not mind the dead, and ends what leaves it.
//
// Until it is welcomed a worker stays what the launcher started, and so ends with it.

#include "batch/cluster/worker.hpp"

#include "batch/cluster/link.hpp"
#include "batch/cluster/rendezvous.hpp"
#include "batch/cluster/words.hpp"
#include "core/error.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <thread>

namespace tutti::batch::cluster {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBetweenBeats = 5s;
constexpr auto kBetweenLooks = 50ms;
constexpr auto kToConnect = 5s;
/// Rank 0 may have thousands of files to read before it looks who is there.
constexpr auto kForWelcome = 600s;

class Worker {
  public:
    explicit Worker(const Service& service) : service_(service) {}

    Served serve() {
        const auto patience = Clock::now() + service_.patience;
        const Rendezvous rendezvous(service_.results, service_.ranks.job);
        for (; !welcome_; std::this_thread::sleep_for(kBetweenLooks)) {
            const auto answer = rendezvous.look();
            if (answer.over) return Served::ToTheEnd;
            if (answer.address) welcome_ = welcome_at(*answer.address);
            if (cut()) return Served::Cut;
            if (!welcome_ && Clock::now() > patience) {
                say(
                    fmt::format("found no rank 0 by way of {}: is it the same folder for all ranks? "
                                "(TUTTI_RANKS=1 lets each run by itself)",
                                service_.results));
                return Served::NotFound;
            }
        }
        std::error_code error;
        std::filesystem::current_path(welcome_->folder, error);
        if (error) {
            say(fmt::format("is of no use, since it has no folder {}", welcome_->folder));
            return Served::NotFound;
        }
        detach();
        return work();
    }

  private:
    void say(const std::string& text) const {
        if (service_.err != nullptr)
            *service_.err << fmt::format("rank {} on {} {}\n", service_.ranks.rank, host_name(), text)
                          << std::flush;
    }

    [[nodiscard]] bool cut() const {
        const bool left_alone = service_.ranks.follow_parent && !detached_ && launcher_.gone();
        return left_alone || (service_.interrupted != nullptr && service_.interrupted->load());
    }

    std::optional<Welcome> welcome_at(const Address& address) {
        std::vector<std::string> hosts = address.hosts;
        if (!address.boot.empty() && address.boot == boot_id()) hosts.insert(hosts.begin(), "127.0.0.1");
        for (const std::string& host : hosts) {
            link_ = connect_to(host, address.port, kToConnect);
            if (!link_) continue;
            const Hello hello{address.secret, service_.ranks.rank, cores_of(service_.ranks), host_name()};
            link_->send(text_of(hello));
            if (auto welcome = heard_welcome()) return welcome;
        }
        return std::nullopt;
    }

    std::optional<Welcome> heard_welcome() {
        for (const auto until = Clock::now() + kForWelcome;
             link_->open() && Clock::now() < until && !cut();) {
            pollfd polled = link_->polled();
            (void)::poll(&polled, 1, static_cast<int>(std::chrono::milliseconds(kBetweenLooks).count()));
            early_ = link_->receive();
            if (early_.empty()) continue;
            try {
                const Welcome welcome = welcome_in(early_.front());
                early_.erase(early_.begin());
                return welcome;
            } catch (const InputError&) {
                break;
            }
        }
        return std::nullopt;
    }

    void detach() {
        if (!service_.ranks.detach) return;
        const pid_t copy = ::fork();
        // A process that cannot be copied stays where it is: worse only if it dies.
        if (copy > 0) ::_exit(0);
        detached_ = copy == 0;
    }

    Served work() {
        LocalExecutor executor({service_.results, welcome_->limits,
                                welcome_->cores.value_or(cores_of(service_.ranks)), service_.work});
        auto next_beat = Clock::now() + kBetweenBeats;
        std::vector<std::string> messages = std::exchange(early_, {});
        for (;;) {
            for (const std::string& message : messages) {
                if (message == kEnd) return Served::ToTheEnd;
                const auto [number, task] = begin_in(message);
                executor.begin(number, task);
            }
            for (const TaskEvent& event : executor.wait(0ms)) link_->send(message_of(event));
            if (Clock::now() >= next_beat) {
                link_->send(kBeat);
                next_beat = Clock::now() + kBetweenBeats;
            }
            if (!link_->open() || cut()) return Served::Cut;
            listen(executor);
            messages = link_->receive();
        }
    }

    void listen(const LocalExecutor& executor) const {
        std::vector<pollfd> polled{link_->polled()};
        for (const int descriptor : executor.descriptors()) polled.push_back({descriptor, POLLIN, 0});
        (void)::poll(polled.data(), polled.size(),
                     static_cast<int>(std::chrono::milliseconds(kBetweenLooks).count()));
    }

    const Service& service_;
    const Launcher launcher_{};
    std::optional<Link> link_{};
    std::optional<Welcome> welcome_{};
    std::vector<std::string> early_{};  ///< what came with the welcome
    bool detached_ = false;
};

}  // namespace

Served serve(const Service& service) {
    try {
        return Worker(service).serve();
    } catch (const InputError&) {
        // Rank 0 says what it should not. As if it had gone.
        return Served::Cut;
    }
}

}  // namespace tutti::batch::cluster
