#include "run/message_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace tutti::run {
namespace {

constexpr std::uint32_t kNoTask = ~std::uint32_t{0};

/// What has happened to a place of this process so far, in the order.
struct PlaceState {
    std::uint32_t writer = kNoTask;
    std::vector<std::uint32_t> readers{};  ///< tasks, since it was written
    std::vector<std::uint32_t> sends{};    ///< sends, since it was written
};

/// A task of this process while it is made.
struct NewTask {
    std::uint32_t stream = 0, position = 0;
    std::vector<Step> steps{};
    std::vector<std::uint32_t> receives{}, sends{}, sent_before{};  ///< numbers of messages
    std::vector<std::uint32_t> after{};                             ///< tasks
    std::vector<std::uint32_t> temporaries{};                       ///< that it writes
};

class MessagePlanMaker {
  public:
    MessagePlanMaker(const Executable& executable, std::uint32_t process,
                     const std::function<std::uint32_t(Rank)>& process_of)
        : from_(executable), process_(process), temporary_owner_(executable.temporaries, 0) {
        for (const ExecutableMemory& memory : executable.memories) owner_.push_back(process_of(memory.gpu));
        for (const Stream& stream : executable.streams) worker_.push_back(process_of(stream.gpu));
    }

    [[nodiscard]] MessagePlan run() && {
        Executable& local = made_.local;
        local.memories = from_.memories;
        local.postcondition = from_.postcondition;
        local.in_place = from_.in_place;
        local.outputs = from_.outputs;
        local.output_places = from_.output_places;
        // Averages are divided where they are.
        for (std::size_t rank = 0; rank < local.outputs.size(); ++rank) {
            if (owner_[local.outputs[rank].memory] != process_) local.output_places[rank] = 0;
        }
        // What is sent as it was at the start is sent by a task of its own.
        initial_ = new_task(stream_for({kInitial, 0}));
        for (const Task& task : from_.tasks) {
            if (worker_[task.stream] == process_) {
                add_own(task);
            } else {
                add_others(task);
            }
        }
        lay_down();
        return std::move(made_);
    }

  private:
    enum StreamKind : std::uint32_t { kInitial, kOwn, kArrivals };

    [[nodiscard]] std::uint32_t owner(const Operand& at) const {
        return at.temporary() ? temporary_owner_[at.place] : owner_[at.memory];
    }
    [[nodiscard]] std::uint32_t stream_for(std::pair<std::uint32_t, std::uint32_t> key) {
        const auto [found, is_new] =
            stream_numbers_.emplace(key, static_cast<std::uint32_t>(made_.local.streams.size()));
        if (is_new) made_.local.streams.emplace_back();
        return found->second;
    }
    std::uint32_t new_task(std::uint32_t stream) {
        Stream& into = made_.local.streams[stream];
        const auto id = static_cast<std::uint32_t>(tasks_.size());
        tasks_.push_back({stream, static_cast<std::uint32_t>(into.tasks.size())});
        into.tasks.push_back(id);
        return id;
    }
    [[nodiscard]] Operand new_temporary() {
        temporary_readers_.emplace_back();
        return {Operand::kTemporary, made_.local.temporaries++};
    }
    [[nodiscard]] PlaceState& place(const Operand& at) { return places_[{at.memory, at.place}]; }
    std::uint32_t add_operand(const Operand& at) {
        made_.local.operands.push_back(at);
        return static_cast<std::uint32_t>(made_.local.operands.size() - 1);
    }

    /// The operand as this process has it.
    [[nodiscard]] Operand local_of(const Operand& at) const {
        return at.temporary() ? Operand{Operand::kTemporary, temporary_of_.at(at.place)} : at;
    }

    void read(std::uint32_t task, const Operand& at) {
        if (at.temporary()) {
            tasks_[task].after.push_back(temporary_writer_.at(at.place));
            temporary_readers_[at.place].push_back(task);
            return;
        }
        PlaceState& state = place(at);
        if (state.writer != kNoTask) tasks_[task].after.push_back(state.writer);
        state.readers.push_back(task);
    }
    void write(std::uint32_t task, const Operand& at) {
        if (at.temporary()) {
            temporary_writer_[at.place] = task;
            tasks_[task].temporaries.push_back(at.place);
            return;
        }
        PlaceState& state = place(at);
        if (state.writer != kNoTask) tasks_[task].after.push_back(state.writer);
        for (const std::uint32_t reader : state.readers) tasks_[task].after.push_back(reader);
        for (const std::uint32_t send : state.sends) tasks_[task].sent_before.push_back(send);
        state = {task, {}, {}};
    }
    void receive(std::uint32_t task, std::uint32_t from, const Operand& into) {
        tasks_[task].receives.push_back(static_cast<std::uint32_t>(made_.receives.size()));
        made_.receives.push_back({made_.messages, from, add_operand(into)});
        temporary_writer_[into.place] = task;
    }
    [[nodiscard]] std::uint32_t send(std::uint32_t task, std::uint32_t to, const Operand& what) {
        const auto number = static_cast<std::uint32_t>(made_.sends.size());
        tasks_[task].sends.push_back(number);
        made_.sends.push_back({made_.messages, to, add_operand(what)});
        return number;
    }

    void add_own(const Task& task) {
        const std::uint32_t id = new_task(stream_for({kOwn, task.stream}));
        for (std::uint32_t s = task.first_step; s < task.first_step + task.steps; ++s) {
            const Step& step = from_.steps[s];
            std::vector<Operand> targets, sources;
            for (const Operand& at : from_.sources(step)) {
                if (owner(at) == process_) {
                    sources.push_back(local_of(at));
                    read(id, sources.back());
                } else {
                    sources.push_back(new_temporary());
                    receive(id, owner(at), sources.back());
                    ++made_.messages;
                }
            }
            for (const Operand& at : from_.targets(step)) {
                if (at.temporary()) {
                    targets.push_back(new_temporary());
                    temporary_of_[at.place] = targets.back().place;
                    temporary_owner_[at.place] = process_;
                    write(id, targets.back());
                } else if (owner(at) == process_) {
                    targets.push_back(at);
                    write(id, at);
                } else {
                    targets.push_back(new_temporary());
                    write(id, targets.back());
                    (void)send(id, owner(at), targets.back());
                    ++made_.messages;
                }
            }
            add_step(id, targets, sources);
        }
    }

    void add_others(const Task& task) {
        const std::uint32_t worker = worker_[task.stream];
        std::uint32_t arrival = kNoTask;
        for (std::uint32_t s = task.first_step; s < task.first_step + task.steps; ++s) {
            const Step& step = from_.steps[s];
            for (const Operand& at : from_.sources(step)) {
                if (owner(at) == worker) continue;
                if (owner(at) == process_) send_from_here(worker, local_of(at));
                ++made_.messages;
            }
            for (const Operand& at : from_.targets(step)) {
                if (at.temporary()) {
                    temporary_owner_[at.place] = worker;
                    continue;
                }
                if (owner(at) == worker) continue;
                if (owner(at) == process_) {
                    if (arrival == kNoTask) arrival = new_task(stream_for({kArrivals, task.stream}));
                    const Operand into = new_temporary();
                    receive(arrival, worker, into);
                    write(arrival, at);
                    add_step(arrival, {at}, {into});
                }
                ++made_.messages;
            }
        }
    }

    void send_from_here(std::uint32_t to, const Operand& at) {
        if (at.temporary()) {
            (void)send(temporary_writer_.at(at.place), to, at);
            return;
        }
        PlaceState& state = place(at);
        state.sends.push_back(send(state.writer == kNoTask ? initial_ : state.writer, to, at));
    }

    void add_step(std::uint32_t task, const std::vector<Operand>& targets,
                  const std::vector<Operand>& sources) {
        std::vector<Operand>& operands = made_.local.operands;
        tasks_[task].steps.push_back({static_cast<std::uint32_t>(operands.size()),
                                      static_cast<std::uint16_t>(targets.size()),
                                      static_cast<std::uint16_t>(sources.size())});
        operands.insert(operands.end(), targets.begin(), targets.end());
        operands.insert(operands.end(), sources.begin(), sources.end());
    }

    /// The tasks one after the other, with what each waits for.
    void lay_down() {
        Executable& local = made_.local;
        const auto numbers = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
        std::vector<MessagePlan::Message> receives, sends;
        std::vector<std::uint32_t> send_number(made_.sends.size());
        for (const NewTask& task : tasks_) {
            for (const std::uint32_t send : task.sends) {
                send_number[send] = numbers(sends);
                sends.push_back(made_.sends[send]);
            }
        }
        std::uint32_t next_send = 0;
        for (const NewTask& task : tasks_) {
            Task laid{task.stream, numbers(local.steps), numbers(task.steps), numbers(local.waits), 0, 0};
            local.steps.insert(local.steps.end(), task.steps.begin(), task.steps.end());
            for (const Wait& wait : waits_for(task, task.after)) local.waits.push_back(wait);
            laid.waits = numbers(local.waits) - laid.first_wait;
            local.tasks.push_back(laid);

            MessagePlan::TaskMessages messages;
            messages.receives = {numbers(receives), numbers(task.receives)};
            for (const std::uint32_t receive : task.receives) receives.push_back(made_.receives[receive]);
            messages.sends = {next_send, numbers(task.sends)};
            next_send += numbers(task.sends);
            messages.sent_before = {numbers(made_.sent), numbers(task.sent_before)};
            for (const std::uint32_t send : task.sent_before) made_.sent.push_back(send_number[send]);
            std::vector<std::uint32_t> readers;
            for (const std::uint32_t temporary : task.temporaries) {
                const auto& all = temporary_readers_[temporary];
                readers.insert(readers.end(), all.begin(), all.end());
            }
            messages.reuses.first = numbers(made_.reuses);
            for (const Wait& wait : waits_for(task, readers)) made_.reuses.push_back(wait);
            messages.reuses.count = numbers(made_.reuses) - messages.reuses.first;
            made_.tasks.push_back(messages);
        }
        made_.receives = std::move(receives);
        made_.sends = std::move(sends);
    }

    /// Of each other stream the last of those tasks.
    [[nodiscard]] std::vector<Wait> waits_for(const NewTask& task,
                                              const std::vector<std::uint32_t>& others) const {
        std::map<std::uint32_t, std::uint32_t> last;
        for (const std::uint32_t other : others) {
            const NewTask& before = tasks_[other];
            if (before.stream == task.stream) continue;
            std::uint32_t& done = last[before.stream];
            done = std::max(done, before.position + 1);
        }
        std::vector<Wait> waits;
        for (const auto& [stream, done] : last) waits.push_back({stream, done});
        return waits;
    }

    const Executable& from_;
    std::uint32_t process_;
    std::vector<std::uint32_t> owner_, worker_;  ///< processes: by memory, by stream
    std::vector<std::uint32_t> temporary_owner_;
    MessagePlan made_;
    std::uint32_t initial_ = 0;
    std::vector<NewTask> tasks_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> stream_numbers_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, PlaceState> places_;
    std::map<std::uint32_t, std::uint32_t> temporary_of_;      ///< of the executable: this process's
    std::map<std::uint32_t, std::uint32_t> temporary_writer_;  ///< of this process's
    std::vector<std::vector<std::uint32_t>> temporary_readers_;
};

}  // namespace

MessagePlan message_plan(const Executable& executable, std::uint32_t process,
                         const std::function<std::uint32_t(Rank)>& process_of) {
    return MessagePlanMaker(executable, process, process_of).run();
}

}  // namespace tutti::run
