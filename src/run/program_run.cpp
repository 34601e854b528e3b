#include "run/program_run.hpp"

#include "core/error.hpp"
#include "run/child_processes.hpp"
#include "run/exchange.hpp"
#include "run/program_board.hpp"
#include "run/program_messages.hpp"
#include "run/shared_memory.hpp"
#include "run/worker_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

namespace tutti::run {

using tensor::Op, tensor::Program, tensor::Value, tensor::ValueId;

namespace {

constexpr std::int64_t kMostRanks = 1024;

void check_inputs(const Program& program, const std::vector<RankTensors>& inputs) {
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        if (value.op != Op::Input) continue;
        for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
            const std::vector<std::int64_t> at = program.mesh().coordinates(static_cast<std::int64_t>(rank));
            const auto found = inputs[rank].find(value.name);
            if (found == inputs[rank].end()) {
                if (!tensor::holds(value.type, at)) continue;
                throw InputError(fmt::format("rank {} has no input '{}'", rank, value.name));
            }
            if (found->second.shape != sizes_of(held_box(program.mesh(), value.type, at)))
                throw InputError(fmt::format("rank {}: input '{}' has another shape", rank, value.name));
        }
    }
}

bool is_result(const Program& program, ValueId id) {
    return program[id].op == Op::Update ||
           std::ranges::find(program.outputs(), id) != program.outputs().end();
}

/// A program made ready for its ranks.
class ProgramCalls {
  public:
    ProgramCalls(const Program& program, const std::vector<RankTensors>& inputs,
                 const ProgramRunOptions& options, const Stop& stop)
        : program_(program),
          inputs_(inputs),
          ranks_(static_cast<std::size_t>(program.mesh().ranks())),
          kernels_(program),
          stages_(program_stages(program, kernels_, stage_options(options))),
          plan_(program, stages_, options.arithmetic.precision, options.faults),
          memory_(SharedMemory::create(ranks_ * plan_.bytes() + 64)),
          rank_memory_(program, plan_, memory_.data(), options.arithmetic),
          coder_(options.kernels),
          maker_{program, plan_, rank_memory_, coder_, options.mpi == nullptr, options.faults},
          calls_(std::max<std::size_t>(options.calls, 1)),
          board_(ranks_, kernels_.all().size(), calls_),
          processes_(options.processes),
          mpi_(options.mpi),
          check_([&options, stop] {
              options.check();
              if (stop.requested()) throw LimitError("interrupted");
          }) {
        if (options.network != nullptr) wires_.emplace(*options.network->topology, program.mesh());
        if (mpi_ != nullptr) messages_.emplace(program, rank_memory_, *mpi_);
        tasks_.emplace(program, kernels_, stages_, maker_, board_.spans(),
                       ProgramTasks::Links{options.network, wires_ ? &*wires_ : nullptr,
                                           messages_ ? &*messages_ : nullptr, options.faults});
        counters_.emplace(SharedMemory::create(TaskRun::shared_bytes(tasks_->graph()) + 64));
        run_.emplace(tasks_->graph(), counters_->data(), stop);
        if (wires_) {
            wires_->run_with(*run_);
            run_->set_clock(&*wires_);
        }
        if (messages_) {
            messages_->run_with(*run_);
            run_->set_clock(&*messages_);
        }
    }

    ProgramRun run() {
        result_.outputs.resize(ranks_);
        result_.memory = plan_.bytes();
        result_.compiled = coder_.compiler().compiled();
        result_.compile_seconds = coder_.compiler().seconds();
        result_.not_compiled = coder_.compiler().why();
        if (processes_ > 0) {
            run_in_processes();
        } else {
            run_on_threads(0, tasks_->ranks().size());
        }
        if (messages_) gather();
        result_.other_bits = board_.failure();
        finish();
        return std::move(result_);
    }

  private:
    static StageOptions stage_options(const ProgramRunOptions& options) {
        if (options.mpi != nullptr) return {.has_links = true};
        if (options.network == nullptr) return {};
        return {true, options.network->pieces_of};
    }

    void run_on_threads(std::size_t first, std::size_t count) {
        WorkerThreads workers(count);
        workers.run([&](std::size_t worker) { work(static_cast<std::uint32_t>(first + worker)); });
    }

    /// Each with a block of the ranks. Their memories, counters and times are shared; the rest each has for
    /// itself, as it was here.
    void run_in_processes() {
        const std::size_t count = std::min<std::size_t>(processes_, ranks_);
        const auto first = [&](std::size_t process) { return (process * ranks_ + count - 1) / count; };
        ChildProcesses children(static_cast<std::uint32_t>(count), [&](std::uint32_t process) {
            try {
                run_on_threads(first(process), first(process + 1) - first(process));
            } catch (const std::exception& error) {
                board_.fail(error.what());
                throw;
            }
        });
        try {
            while (children.are_running()) {
                check_();
                children.check(board_.failure());
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        } catch (...) {
            run_->end();
            throw;
        }
        for (std::size_t rank = 0; rank < ranks_; ++rank)
            result_.outputs[rank] = outputs(static_cast<std::uint32_t>(rank));
    }

    /// What the ranks of other processes ended with, and their times, come to the first one; what all ended
    /// with goes on to all.
    void gather() {
        constexpr std::size_t kAtOnce = std::size_t{1} << 30U;
        const std::uint32_t here = mpi_->process();
        const auto pass = [&](std::span<std::byte> bytes, std::uint32_t from, bool to_all) {
            for (std::size_t at = 0; at < bytes.size(); at += kAtOnce) {
                const std::span<std::byte> part = bytes.subspan(at, std::min(kAtOnce, bytes.size() - at));
                if (from != 0 && here == 0) messages_->receive_now(part, from, check_);
                if (from != 0 && here == from) messages_->send_now(part, 0, check_);
                if (to_all) mpi_->broadcast(part.data(), part.size());
            }
        };
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            for_each_made_result(rank, [&](ValueId id) {
                const MemoryView view = rank_memory_.view(id, rank);
                pass(std::span(rank_memory_.address(id, rank),
                               static_cast<std::size_t>(product(view.shape)) * bytes_of(view.storage)),
                     messages_->process_of(rank), true);
            });
            result_.outputs[rank] = outputs(rank);
        }
        if (mpi_->sum(board_.failure().empty() ? 0 : 1) > 0)
            board_.fail("a rank of another process ends with other bits when it is called again");
        for (std::uint32_t process = 1; process < mpi_->processes(); ++process) {
            std::vector<double> times(board_.numbers().begin(), board_.numbers().end());
            pass(std::as_writable_bytes(std::span(times)), process, false);
            if (here == 0) board_.merge(times);
        }
    }

    void work(std::uint32_t worker) {
        const std::uint32_t rank = tasks_->ranks()[worker];
        try {
            prepare(rank, worker == 0);
            put_inputs(rank);
            call(worker, rank);
            result_.outputs[rank] = outputs(rank);
            if (calls_ == 1) {
                run_->meet();
                return;
            }
            run_->meet();
            if (worker == 0) board_.forget_records();
            for (std::size_t count = 0; count < calls_; ++count) call(worker, rank);
            run_->meet();
            put_inputs(rank);
            call(worker, rank);
            compare_calls(rank);
        } catch (const TaskRun::Ended&) {  // another rank has the reason
        } catch (...) {
            run_->end();
            throw;
        }
    }

    /// The first call is what counts: its memory was poison.
    void compare_calls(std::uint32_t rank) {
        if (!same_bits(result_.outputs[rank], outputs(rank))) {
            const std::string words =
                fmt::format("rank {} of program '{}' ends with other bits when it is called again", rank,
                            program_.name());
            if (rank_memory_.arithmetic().precision != Precision::Field) throw InternalError(words);
            board_.fail(words);
        }
        for_each_made_result(rank, [&](ValueId id) {
            rank_memory_.put(id, rank, result_.outputs[rank].at(program_[id].name));
        });
    }

    /// What is here of other processes' ranks is made poison too, where that is looked for.
    void prepare(std::uint32_t rank, bool is_first) {
        rank_memory_.prepare(rank);
        if (!messages_ || !is_first || rank_memory_.arithmetic().precision != Precision::Field) return;
        for (std::uint32_t other = 0; other < ranks_; ++other) {
            if (!messages_->is_here(other)) rank_memory_.prepare(other);
        }
    }

    void call(std::uint32_t worker, std::uint32_t rank) {
        run_->call(worker, [&] {
            if (mpi_ != nullptr) mpi_->barrier();
            board_.begin();
        });
        board_.end(rank);
        run_->meet();
        if (worker == 0) board_.record();
    }

    void put_inputs(std::uint32_t rank) {
        for (const ValueId id : program_.order()) {
            const Value& value = program_[id];
            if (value.op != Op::Input) continue;
            if (const auto found = inputs_[rank].find(value.name); found != inputs_[rank].end())
                rank_memory_.put(id, rank, found->second);
        }
    }

    template <class Use>
    void for_each_result(std::uint32_t rank, const Use& use) const {
        const std::vector<std::int64_t> at = program_.mesh().coordinates(rank);
        for (const ValueId id : program_.order()) {
            if (is_result(program_, id) && tensor::holds(program_[id].type, at)) use(id);
        }
    }

    /// Without constants and random numbers, which every rank can make.
    template <class Use>
    void for_each_made_result(std::uint32_t rank, const Use& use) const {
        for_each_result(rank, [&](ValueId id) {
            if (!is_generated(program_[id])) use(id);
        });
    }

    [[nodiscard]] RankTensors outputs(std::uint32_t rank) const {
        RankTensors results;
        for_each_result(rank, [&](ValueId id) { results[program_[id].name] = rank_memory_.get(id, rank); });
        return results;
    }

    static bool same_bits(const RankTensors& a, const RankTensors& b) {
        return std::ranges::all_of(a, [&](const auto& entry) {
            const LocalTensor &one = entry.second, &other = b.at(entry.first);
            const auto bytes = static_cast<std::size_t>(one.elements()) * bytes_of(one.storage());
            return bytes == 0 || std::memcmp(one.first(), other.first(), bytes) == 0;
        });
    }

    void finish() {
        std::vector<ProgramBoard::Record> records = board_.records();
        for (const ProgramBoard::Record& record : records) result_.times.push_back(record.seconds);
        std::ranges::sort(records, {}, &ProgramBoard::Record::seconds);
        const ProgramBoard::Record& median = records[(records.size() - 1) / 2];
        result_.seconds = median.seconds;
        for (std::size_t k = 0; k < kernels_.all().size(); ++k) {
            const tensor::Kernel& kernel = kernels_.all()[k];
            if (std::ranges::none_of(kernel.values, [&](ValueId id) { return does_work(program_[id]); }))
                continue;
            result_.kernels.push_back(
                {kernel.name, kernel.values, median.kernels[k].begin, median.kernels[k].seconds});
        }
    }

    const Program& program_;
    const std::vector<RankTensors>& inputs_;
    std::size_t ranks_;
    tensor::Kernels kernels_;
    std::vector<ProgramStage> stages_;
    MemoryPlan plan_;
    SharedMemory memory_;
    RankMemory rank_memory_;
    KernelCoder coder_;
    RankPartMaker maker_;
    std::size_t calls_;
    ProgramBoard board_;
    std::uint32_t processes_;
    MpiLibrary* mpi_;
    std::function<void()> check_;
    std::optional<Wires> wires_;
    std::optional<ProgramMessages> messages_;
    std::optional<ProgramTasks> tasks_;
    std::optional<SharedMemory> counters_;
    std::optional<TaskRun> run_;
    ProgramRun result_;
};

}  // namespace

ProgramRun run_program(const Program& program, const std::vector<RankTensors>& inputs,
                       const ProgramRunOptions& options, const Stop& stop) {
    const std::int64_t ranks = program.mesh().ranks();
    if (ranks > kMostRanks)
        throw LimitError(fmt::format("{} ranks; a thread each, at most {} are run here", ranks, kMostRanks));
    check_inputs(program, inputs);
    return ProgramCalls(program, inputs, options, stop).run();
}

}  // namespace tutti::run
