#include "run/emulation.hpp"

#include "core/error.hpp"
#include "run/kernels.hpp"
#include "run/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace tutti::run {
namespace {

using plan::kNoOp;
using plan::OpId;

/// Lets real time pass as emulated time does. Short waits are saved up: sleeping for less is inexact.
class Pace {
  public:
    explicit Pace(const EmulationOptions& options) : options_(options) {}

    void pass(Ticks time) {
        constexpr std::chrono::nanoseconds kLeast = std::chrono::microseconds(200);
        if (!options_.sleep) return;
        picoseconds_ += time.count();
        owed_ += std::chrono::nanoseconds(picoseconds_ / 1000);
        picoseconds_ %= 1000;
        if (owed_ >= kLeast) sleep();
    }

  private:
    void sleep() {
        using Clock = std::chrono::steady_clock;
        constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(50);
        const auto start = Clock::now();
        while (Clock::now() - start < owed_) {
            std::this_thread::sleep_until(start + std::min(owed_, Clock::now() - start + kSlice));
            options_.check();
        }
        owed_ -= Clock::now() - start;  // what was slept too long is made up for later
    }

    const EmulationOptions& options_;
    std::int64_t picoseconds_ = 0;
    std::chrono::nanoseconds owed_{0};
};

/// Moves the data of a plan's ops. Messages lie in buffers that are used again once they were read.
class Mover {
  public:
    explicit Mover(const EmulatedJob& job) : executable_(*job.executable), binding_(job.memories->binding()) {
        task_of_.resize(job.program->program.ops.size());
        for (std::uint32_t task = 0; task < executable_.tasks.size(); ++task)
            task_of_[executable_.tasks[task].op] = task;
        const std::size_t stride = static_cast<std::size_t>(std::max<std::int64_t>(layout().stride(), 1));
        buffer_bytes_ = stride * binding_.element_bytes();
        held_.assign(executable_.temporaries, nullptr);
    }

    void run(OpId op) {
        const Task& task = executable_.tasks[task_of_[op]];
        for (std::uint32_t at = task.first_step; at < task.first_step + task.steps; ++at) run_step_of(at);
    }

  private:
    [[nodiscard]] const Layout& layout() const { return binding_.layout(); }

    void run_step_of(std::uint32_t number) {
        const Step& step = executable_.steps[number];
        for (const Operand& at : executable_.targets(step)) {
            if (at.temporary()) held_[at.place] = take();
        }
        const Kernels& kernels = kernels_of(binding_.type(), binding_.op());
        const auto& stretches = layout().stretches();
        for (std::size_t stretch = 0; stretch < stretches.size(); ++stretch) {
            const auto known = binding_.addresses(stretch);
            const auto [first, last] = stretches[stretch];
            operands_.clear();
            for (std::uint32_t at = step.first_operand; at < step.first_operand + step.targets + step.sources;
                 ++at) {
                const Operand& operand = executable_.operands[at];
                operands_.push_back(operand.temporary()
                                        ? Address{held_[operand.place], binding_.element_bytes()}
                                        : known[at]);
            }
            run_step(step, operands_.data(), kernels, static_cast<std::size_t>(first),
                     static_cast<std::size_t>(last - first), binding_.element_bytes());
        }
        for (const Operand& at : executable_.sources(step)) {
            if (at.temporary() && executable_.lifetimes[at.place].last_read == number) give_back(at.place);
        }
    }

    [[nodiscard]] std::byte* take() {
        if (free_.empty()) free_.push_back(buffers_.emplace_back(buffer_bytes_).data());
        std::byte* const buffer = free_.back();
        free_.pop_back();
        return buffer;
    }
    void give_back(std::uint32_t place) {
        if (held_[place] != nullptr) free_.push_back(std::exchange(held_[place], nullptr));
    }

    const Executable& executable_;
    const Binding& binding_;
    std::vector<std::uint32_t> task_of_;  ///< by op
    std::size_t buffer_bytes_ = 0;
    std::vector<std::byte*> held_;  ///< by temporary place
    std::vector<std::byte*> free_;
    std::vector<HugeBytes> buffers_;
    std::vector<Address> operands_;
};

class Emulation {
  public:
    Emulation(const Topology& topology, std::span<const EmulatedJob> jobs, const EmulationOptions& options)
        : jobs_(jobs), options_(options), links_(topology), pace_(options), ends_(jobs.size(), Ticks(0)) {
        for (std::size_t job = 0; job < jobs.size(); ++job) {
            movers_.emplace_back(jobs[job]);
            std::vector<OpId> order;
            for (const Task& task : jobs[job].executable->tasks) order.push_back(task.op);
            append(emulated_tasks(*jobs[job].program, order, jobs[job].place, links_),
                   static_cast<std::uint32_t>(job));
        }
        index_edges();
    }

    std::vector<Ticks> run() {
        for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
            if (tasks_[task].waits == 0) ready_.push_back(task);
        }
        run_ready();
        for (std::uint64_t count = 0; const auto next = next_event(); ++count) {
            if (count % 1024 == 0) options_.check();
            if (*next > now_) {
                pace_.pass(*next - now_);
                now_ = *next;
            }
            dispatch();
            run_ready();
        }
        if (done_ < tasks_.size()) refuse();
        for (const EmulatedJob& job : jobs_) {
            if (job.memories->binding().op() == Operator::Avg) job.memories->divide();
        }
        return std::move(ends_);
    }

  private:
    using Moment = EmulatedEdge::Moment;
    struct SignalArrival {
        Ticks time;
        std::uint32_t task = 0;
        friend bool operator<(const SignalArrival& a, const SignalArrival& b) {
            return a.time != b.time ? a.time > b.time : a.task > b.task;
        }
    };

    void append(EmulatedTasks made, std::uint32_t job) {
        const auto first = static_cast<std::uint32_t>(tasks_.size());
        tasks_.insert(tasks_.end(), made.tasks.begin(), made.tasks.end());
        job_of_.resize(tasks_.size(), job);
        for (EmulatedEdge& edge : made.edges)
            edges_.push_back({edge.from + first, edge.to + first, edge.moment});
    }

    void index_edges() {
        std::ranges::stable_sort(edges_, {}, &EmulatedEdge::from);
        first_edge_.assign(tasks_.size() + 1, 0);
        for (const EmulatedEdge& edge : edges_) ++first_edge_[edge.from + 1];
        for (std::size_t task = 0; task < tasks_.size(); ++task) first_edge_[task + 1] += first_edge_[task];
    }

    [[nodiscard]] std::optional<Ticks> next_event() const {
        const auto data = links_.next();
        if (signals_.empty()) return data;
        return data ? std::min(*data, signals_.top().time) : signals_.top().time;
    }

    void dispatch() {
        if (!signals_.empty() && signals_.top().time == now_) {
            const std::uint32_t task = signals_.top().task;
            signals_.pop();
            arrive(task);
            return;
        }
        const auto event = links_.advance();
        if (!event) return;
        if (event->kind == EmulatedLinks::Event::Kind::Start) {
            tell(event->message, Moment::Start);
        } else {
            arrive(event->message);
        }
    }

    void run_ready() {
        while (!ready_.empty()) {
            const std::uint32_t task = ready_.back();
            ready_.pop_back();
            const EmulatedTask& made = tasks_[task];
            if (made.runs != kNoOp) movers_[job_of_[task]].run(made.runs);
            tell(task, Moment::Ready);
            switch (made.kind) {
                case EmulatedTask::Kind::Message:
                    links_.send(task, made.route, jobs_[job_of_[task]].place.chunk, now_);
                    break;
                case EmulatedTask::Kind::Signal:
                    tell(task, Moment::Start);
                    signals_.push({now_ + links_.latency(made.route), task});
                    break;
                case EmulatedTask::Kind::Step:
                    tell(task, Moment::Start);
                    arrive(task);
                    break;
            }
        }
    }

    void tell(std::uint32_t task, Moment moment) {
        for (std::uint32_t at = first_edge_[task]; at < first_edge_[task + 1]; ++at) {
            if (edges_[at].moment == moment && --tasks_[edges_[at].to].waits == 0)
                ready_.push_back(edges_[at].to);
        }
    }

    void arrive(std::uint32_t task) {
        tell(task, Moment::Arrive);
        ++done_;
        Ticks& end = ends_[job_of_[task]];
        end = std::max(end, now_);
    }

    [[noreturn]] void refuse() const {
        std::string text;
        for (std::uint32_t task = 0; task < tasks_.size() && text.empty(); ++task) {
            if (tasks_[task].waits == 0 || tasks_[task].of == kNoOp) continue;
            const EmulatedJob& job = jobs_[job_of_[task]];
            text = fmt::format("deadlock where connections hold {} message{}: {} waits for ever",
                               job.place.capacity, job.place.capacity == 1 ? "" : "s",
                               plan::text_of(job.program->program.op_places[tasks_[task].of]));
        }
        throw InputError(text);
    }

    std::span<const EmulatedJob> jobs_;
    const EmulationOptions& options_;
    EmulatedLinks links_;
    Pace pace_;
    std::vector<Mover> movers_;
    std::vector<EmulatedTask> tasks_;
    std::vector<std::uint32_t> job_of_, first_edge_, ready_;
    std::vector<EmulatedEdge> edges_;
    std::priority_queue<SignalArrival> signals_;
    std::uint64_t done_ = 0;
    Ticks now_;
    std::vector<Ticks> ends_;
};

}  // namespace

std::vector<Ticks> run_emulated(const Topology& topology, std::span<const EmulatedJob> jobs,
                                const EmulationOptions& options) {
    return Emulation(topology, jobs, options).run();
}

}  // namespace tutti::run
