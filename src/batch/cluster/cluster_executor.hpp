#pragma once

#include "batch/cluster/link.hpp"
#include "batch/cluster/ranks.hpp"
#include "batch/cluster/rendezvous.hpp"
#include "batch/local_executor.hpp"

#include <list>
#include <map>

namespace tutti::batch::cluster {

/// Rank 0's executor: its own children and those of the other ranks, who come when they come. What a rank was
/// at that has gone is Lost. A rank that has gone does not come again.
class ClusterExecutor final : public Executor {
  public:
    using Clock = std::chrono::steady_clock;

    struct Settings {
        Ranks ranks{};
        std::string results{};  ///< the folder, on a file system that all ranks see
        Limits limits{};
        std::optional<unsigned> cores{};  ///< threads at a time of each rank; else each chooses
        Work work{};                      ///< as LocalExecutor::Settings
        std::function<Clock::time_point()> now = Clock::now;  ///< for tests
    };

    /// Lets the others come. Throws InputError when the folder cannot be written, std::system_error when
    /// there is no socket to be had.
    explicit ClusterExecutor(Settings settings);
    ClusterExecutor(const ClusterExecutor&) = delete;
    ClusterExecutor& operator=(const ClusterExecutor&) = delete;
    ~ClusterExecutor() override { stop(); }

    [[nodiscard]] bool has_room(unsigned threads) const override;
    void begin(std::size_t number, const Task& task) override;
    [[nodiscard]] std::vector<TaskEvent> wait(std::chrono::milliseconds time) override;
    void stop() override;
    void on_remark(std::function<void(const std::string&)> remark) override { remark_ = std::move(remark); }
    /// False when the launcher is gone: nobody waits for us any more.
    [[nodiscard]] bool alive() const override;

    /// The ranks at work, this one among them.
    [[nodiscard]] std::size_t members() const { return members_.size(); }

  private:
    struct Member {
        unsigned rank = 0;
        std::string who{};
        unsigned cores = 1;
        std::map<std::size_t, unsigned> threads{};  ///< of the tasks it is at, by their numbers
        unsigned busy = 0;
        std::optional<Link> link{};  ///< none: this process
        Clock::time_point heard{};
    };
    struct Stranger {
        Link link;
        Clock::time_point since;
    };

    void listen(std::chrono::milliseconds time);
    void let_strangers_in();
    void hear_strangers();
    void greet(Stranger& stranger, const std::string& message);
    void hear_members();
    void hear(Member& member, const std::string& message);
    void take(Member& member, TaskEvent event);
    void lose(const Member& member, const std::string& why);
    void remark(const std::string& text) const;
    [[nodiscard]] const Member* member_for(unsigned threads) const;

    const Settings settings_;
    const Launcher launcher_{};
    const Rendezvous rendezvous_;
    const std::string secret_;
    LocalExecutor local_;
    std::optional<Listener> listener_{};
    std::list<Member> members_{};  ///< this process first
    std::list<Stranger> strangers_{};
    std::size_t arrived_ = 1;
    std::vector<TaskEvent> events_{};
    std::function<void(const std::string&)> remark_{};
};

}  // namespace tutti::batch::cluster
