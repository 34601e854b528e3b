#include "run/program_run.hpp"

#include "core/error.hpp"
#include "run/exchange.hpp"
#include "run/shared_memory.hpp"
#include "run/worker_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace tutti::run {

using tensor::Op, tensor::Program, tensor::Value, tensor::ValueId;

namespace {

constexpr std::int64_t kMostRanks = 1024;

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

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
          plan_(program, stages_, options.arithmetic.precision),
          memory_(SharedMemory::create(aligned(ranks_ * plan_.bytes()) + aligned(spans_bytes()) + 64)),
          rank_memory_(program, plan_, memory_.data(), options.arithmetic),
          coder_(options.kernels),
          maker_{program, plan_, rank_memory_, coder_},
          spans_(reinterpret_cast<KernelSpan*>(memory_.data() + aligned(ranks_ * plan_.bytes()))) {
        if (options.network != nullptr) wires_.emplace(*options.network->topology, program.mesh());
        tasks_.emplace(program, kernels_, stages_, maker_, spans_, options.network,
                       wires_ ? &*wires_ : nullptr);
        counters_.emplace(SharedMemory::create(TaskRun::shared_bytes(tasks_->graph()) + 64));
        run_.emplace(tasks_->graph(), counters_->data(), stop);
        if (!wires_) return;
        wires_->run_with(*run_);
        run_->set_clock(&*wires_);
    }

    ProgramRun run(std::size_t calls) {
        calls_ = std::max<std::size_t>(calls, 1);
        ends_.assign(ranks_, 0);
        result_.outputs.resize(ranks_);
        result_.memory = plan_.bytes();
        result_.compiled = coder_.compiler().compiled();
        result_.compile_seconds = coder_.compiler().seconds();
        result_.not_compiled = coder_.compiler().why();
        WorkerThreads workers(ranks_);
        workers.run([&](std::size_t worker) { work(static_cast<std::uint32_t>(worker)); });
        finish();
        return std::move(result_);
    }

  private:
    static StageOptions stage_options(const ProgramRunOptions& options) {
        if (options.network == nullptr) return {};
        return {true, options.network->pieces_of};
    }
    [[nodiscard]] std::size_t spans_of_rank() const { return kernels_.all().size() + 1; }
    [[nodiscard]] std::size_t spans_bytes() const { return ranks_ * spans_of_rank() * sizeof(KernelSpan); }

    void work(std::uint32_t worker) {
        try {
            rank_memory_.prepare(worker);
            put_inputs(worker);
            call(worker);
            result_.outputs[worker] = outputs(worker);
            if (calls_ == 1) {
                run_->meet();
                return;
            }
            run_->meet();
            if (worker == 0) records_.clear();
            for (std::size_t count = 0; count < calls_; ++count) call(worker);
            run_->meet();
            put_inputs(worker);
            call(worker);
            if (!same_bits(result_.outputs[worker], outputs(worker)))
                throw InternalError(
                    fmt::format("rank {} of program '{}' ends with other bits when it is called again",
                                worker, program_.name()));
        } catch (const TaskRun::Ended&) {  // another rank has the reason
        } catch (...) {
            run_->end();
            throw;
        }
    }

    void call(std::uint32_t worker) {
        run_->call(worker, [&] {
            std::memset(static_cast<void*>(spans_), 0, spans_bytes());
            start_ = nanoseconds();
            for (std::size_t rank = 0; rank < ranks_; ++rank)
                spans_[(rank + 1) * spans_of_rank() - 1].end = start_;
        });
        ends_[worker] = nanoseconds();
        run_->meet();
        if (worker == 0) record();
    }
    [[nodiscard]] static std::int64_t nanoseconds() {
        const auto time = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
    }

    void put_inputs(std::uint32_t worker) {
        for (const ValueId id : program_.order()) {
            const Value& value = program_[id];
            if (value.op != Op::Input) continue;
            if (const auto found = inputs_[worker].find(value.name); found != inputs_[worker].end())
                rank_memory_.put(id, worker, found->second);
        }
    }

    [[nodiscard]] RankTensors outputs(std::uint32_t worker) const {
        RankTensors results;
        const std::vector<std::int64_t> at = program_.mesh().coordinates(worker);
        for (const ValueId id : program_.order()) {
            const Value& value = program_[id];
            if (is_result(program_, id) && tensor::holds(value.type, at))
                results[value.name] = rank_memory_.get(id, worker);
        }
        return results;
    }

    static bool same_bits(const RankTensors& a, const RankTensors& b) {
        return std::ranges::all_of(a, [&](const auto& entry) {
            const LocalTensor &one = entry.second, &other = b.at(entry.first);
            const auto bytes = static_cast<std::size_t>(one.elements()) * bytes_of(one.storage());
            return bytes == 0 || std::memcmp(one.first(), other.first(), bytes) == 0;
        });
    }

    /// What a call took: by the first worker, before the next call begins.
    void record() {
        Record& record = records_.emplace_back();
        record.seconds = static_cast<double>(std::ranges::max(ends_) - start_) / 1e9;
        record.kernels.resize(kernels_.all().size());
        for (std::size_t k = 0; k < record.kernels.size(); ++k) {
            auto& [begin, seconds] = record.kernels[k];
            begin = std::numeric_limits<double>::infinity();
            for (std::size_t rank = 0; rank < ranks_; ++rank) {
                const KernelSpan& span = spans_[rank * spans_of_rank() + k];
                if (span.end == 0) continue;
                begin = std::min(begin, static_cast<double>(span.begin - start_) / 1e9);
                seconds = std::max(seconds, static_cast<double>(span.end - span.begin) / 1e9);
            }
        }
    }

    void finish() {
        records_.resize(std::min(records_.size(), calls_));  // without the call that was made again
        for (const Record& record : records_) result_.times.push_back(record.seconds);
        std::vector<std::size_t> order(records_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::sort(order, {}, [&](std::size_t i) { return records_[i].seconds; });
        const Record& median = records_[order[(order.size() - 1) / 2]];
        result_.seconds = median.seconds;
        for (std::size_t k = 0; k < kernels_.all().size(); ++k) {
            const tensor::Kernel& kernel = kernels_.all()[k];
            if (std::ranges::none_of(kernel.values, [&](ValueId id) { return does_work(program_[id]); }))
                continue;
            result_.kernels.push_back(
                {kernel.name, kernel.values, median.kernels[k].first, median.kernels[k].second});
        }
    }

    struct Record {
        double seconds = 0;
        std::vector<std::pair<double, double>> kernels{};  ///< begin, seconds
    };

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
    KernelSpan* spans_;
    std::optional<Wires> wires_;
    std::optional<ProgramTasks> tasks_;
    std::optional<SharedMemory> counters_;
    std::optional<TaskRun> run_;
    std::size_t calls_ = 1;
    std::int64_t start_ = 0;          ///< of this call
    std::vector<std::int64_t> ends_;  ///< by rank: of this call
    std::vector<Record> records_;
    ProgramRun result_;
};

}  // namespace

ProgramRun run_program(const Program& program, const std::vector<RankTensors>& inputs,
                       const ProgramRunOptions& options, const Stop& stop) {
    const std::int64_t ranks = program.mesh().ranks();
    if (ranks > kMostRanks)
        throw LimitError(fmt::format("{} ranks; a thread each, at most {} are run here", ranks, kMostRanks));
    check_inputs(program, inputs);
    return ProgramCalls(program, inputs, options, stop).run(options.calls);
}

}  // namespace tutti::run
