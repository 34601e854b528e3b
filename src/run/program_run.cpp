#include "run/program_run.hpp"

#include "core/error.hpp"
#include "run/exchange.hpp"
#include "run/kernel_coder.hpp"
#include "run/rank_kernels.hpp"
#include "tensor/dimensions.hpp"
#include "tensor/infer.hpp"
#include "tensor/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace tutti::run {

using tensor::Kernel, tensor::Op, tensor::OpKind, tensor::Program, tensor::Type, tensor::Users, tensor::Value,
    tensor::ValueId;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_generated(const Value& value) {
    return value.op == Op::Uniform || value.op == Op::Iota || value.op == Op::Constant;
}

/// Values that are done as one: the pointwise ones of a kernel over the same elements, or another one.
struct KernelPart {
    std::vector<ValueId> values{};
    bool tiled = false;
};
struct KernelParts {
    std::string name{};
    std::vector<ValueId> values{};
    std::vector<KernelPart> tasks{};
    bool works = false;
};

/// Pointwise values of one type join the loop of that type, unless a value between needs one of them.
std::vector<KernelPart> tasks_of(const Program& program, const Kernel& kernel) {
    std::vector<KernelPart> tasks;
    const auto reads = [&](const KernelPart& task, ValueId id) {
        return std::ranges::any_of(program[id].args, [&](ValueId arg) {
            return std::ranges::find(task.values, arg) != task.values.end();
        });
    };
    for (const ValueId id : kernel.values) {
        const Value& value = program[id];
        if (kind_of(value.op) == OpKind::Source) continue;
        if (!is_pointwise(value.op)) {
            tasks.push_back({{id}, false});
            continue;
        }
        std::size_t at = tasks.size();
        while (at > 0) {  // the first place where all operands are made
            const KernelPart& task = tasks[at - 1];
            const Type& type = program[task.values.front()].type;
            if (task.tiled && type.shape == value.type.shape && type.layout == value.type.layout) {
                tasks[at - 1].values.push_back(id);
                break;
            }
            if (reads(task, id)) at = 1;
            --at;
        }
        if (at == 0) tasks.push_back({{id}, true});
    }
    return tasks;
}

/// What all ranks share.
struct ProgramPlan {
    explicit ProgramPlan(const Program& of) : program(of), users(of) {
        const tensor::Kernels kernels(of);
        for (const Kernel& kernel : kernels.all()) {
            const bool works =
                std::ranges::any_of(kernel.values, [&](ValueId id) { return does_work(of[id]); });
            plan.push_back({kernel.name, kernel.values, tasks_of(of, kernel), works});
        }
        last_reader.assign(of.slots(), 0);
        for (std::size_t k = 0; k < plan.size(); ++k) {
            for (const ValueId id : plan[k].values) {
                last_reader[id.index()] = std::max(last_reader[id.index()], k);
                for (const ValueId arg : of[id].args)
                    last_reader[arg.index()] = std::max(last_reader[arg.index()], k);
            }
        }
        for (const ValueId id : of.order()) {
            if (of[id].op == Op::Update || std::ranges::find(of.outputs(), id) != of.outputs().end())
                last_reader[id.index()] = plan.size();
        }
    }

    const Program& program;
    Users users;
    std::vector<KernelParts> plan;
    std::vector<std::size_t> last_reader;  ///< by value: the kernel after which it is not needed
};

class RankRun {
  public:
    RankRun(const ProgramPlan& plan, Exchange& exchange, KernelCoder& coder, std::int64_t rank,
            const RankTensors& inputs, Precision precision)
        : plan_(plan),
          program_(plan.program),
          exchange_(exchange),
          coder_(coder),
          rank_(rank),
          at_(program_.mesh().coordinates(rank)),
          precision_(precision),
          inputs_(inputs) {}

    void call(const Stop& stop) {
        values_.assign(program_.slots(), std::nullopt);
        times_.assign(plan_.plan.size(), 0);
        for (const ValueId id : program_.order()) {
            const Value& value = program_[id];
            if (value.op == Op::Input) values_[id.index()] = input(value);
        }
        for (std::size_t k = 0; k < plan_.plan.size(); ++k) {
            if (stop.requested()) throw LimitError("interrupted");
            const Clock::time_point start = Clock::now();
            for (const KernelPart& task : plan_.plan[k].tasks) run(task);
            times_[k] = seconds_since(start);
            release(k);
        }
    }

    [[nodiscard]] const std::vector<double>& times() const { return times_; }
    [[nodiscard]] RankTensors outputs() {
        RankTensors results;
        for (const ValueId id : program_.order()) {
            const Value& value = program_[id];
            const bool is_result = value.op == Op::Update ||
                                   std::ranges::find(program_.outputs(), id) != program_.outputs().end();
            if (!is_result || !tensor::holds(value.type, at_)) continue;
            results[value.name] =
                is_generated(value) ? generated(value, box(value.type), precision_) : *values_[id.index()];
        }
        return results;
    }

  private:
    [[nodiscard]] std::vector<tensor::Interval> box(const Type& type) const {
        return held_box(program_.mesh(), type, at_);
    }
    [[nodiscard]] std::vector<std::int64_t> local_shape(const Type& type) const {
        return sizes_of(box(type));
    }

    [[nodiscard]] LocalTensor input(const Value& value) const {
        const std::vector<std::int64_t> shape = local_shape(value.type);
        const auto found = inputs_.find(value.name);
        if (found == inputs_.end()) {
            if (tensor::holds(value.type, at_))
                throw InputError(fmt::format("rank {} has no input '{}'", rank_, value.name));
            return {value.type.dtype, precision_, shape};  // of another rank: nobody sees what becomes of it
        }
        if (found->second.shape != shape)
            throw InputError(fmt::format("rank {}: input '{}' has another shape", rank_, value.name));
        return found->second;
    }

    void run(const KernelPart& task) {
        if (task.tiled) {
            run_tiled(task);
            return;
        }
        const ValueId id = task.values.front();
        const Value& value = program_[id];
        values_[id.index()] = is_collective(value.op)
                                  ? exchange_.call(id, rank_, operand(value.args[0]), precision_)
                                  : made(value);
    }

    /// An operand as it is, in memory.
    [[nodiscard]] const LocalTensor& operand(ValueId id) {
        const Value& value = program_[id];
        if (is_generated(value)) return source(id, value.type);
        return *values_[id.index()];
    }

    [[nodiscard]] const LocalTensor& source(ValueId id, const Type& type) {
        const std::pair key{id, type.layout};
        const auto known = sources_.find(key);
        if (known != sources_.end()) return known->second;
        return sources_.emplace(key, generated(program_[id], box(type), precision_)).first->second;
    }

    [[nodiscard]] View view(const Value& value, std::size_t arg) {
        return view(value.args[arg], value.op == Op::Slice ? value.type : read_type(program_, value, arg));
    }

    [[nodiscard]] View view(ValueId id, const Type& read) {
        if (is_generated(program_[id])) return whole_view(source(id, read));
        const std::vector<tensor::Interval> has = box(program_[id].type), wants = box(read);
        View view = whole_view(*values_[id.index()]);
        for (std::size_t d = 0; d < has.size(); ++d)
            view.offset += (wants[d].begin - has[d].begin) * view.strides[d];
        view.shape = sizes_of(wants);
        return view;
    }

    /// The elements of a view; they are only read.
    static MemoryView memory(const View& view) {
        const auto* const first = static_cast<const std::byte*>(view.first());
        return {const_cast<std::byte*>(first), view.tensor->storage(), view.shape, view.strides};  // NOLINT
    }

    [[nodiscard]] LocalTensor made(const Value& value) {
        LocalTensor result(value.type.dtype, precision_, local_shape(value.type));
        std::vector<MemoryView> operands;
        // An update is its new value.
        for (std::size_t k = value.op == Op::Update ? 1 : 0; k < value.args.size(); ++k)
            operands.push_back(memory(view(value, k)));
        if (value.op == Op::Einsum) {
            einsum(value, operands, memory_of(result), precision_, &coder_.blas());
        } else if (value.op == Op::Reduce) {
            reduce(value, operands[0], memory_of(result), precision_);
        } else {
            move(value, operands[0], memory_of(result));
        }
        return result;
    }

    /// Whether anything but the loop's own values needs the value.
    [[nodiscard]] bool leaves(const KernelPart& task, ValueId id) const {
        return plan_.last_reader[id.index()] == plan_.plan.size() ||
               std::ranges::any_of(plan_.users[id], [&](ValueId user) {
                   return std::ranges::find(task.values, user) == task.values.end();
               });
    }

    void run_tiled(const KernelPart& task) {
        PreparedLoop& prepared = loops_[&task];
        if (!prepared.code)
            prepared.loop =
                tensor::loop_of(program_, task.values, [&](ValueId id) { return leaves(task, id); });
        const tensor::Loop& loop = prepared.loop;
        LoopShape shape{local_shape(loop.type), {}};
        std::vector<const void*> tensors;
        for (const tensor::LoopTensor& tensor : loop.tensors) {
            const View view = this->view(tensor.value, tensor.read);
            shape.strides.push_back(aligned_strides(view, tensor.read, loop.type));
            tensors.push_back(view.first());
        }
        std::vector<void*> outputs;
        for (const tensor::LoopOutput& output : loop.outputs) {
            values_[output.value.index()].emplace(output.dtype, precision_, shape.sizes);
            outputs.push_back(values_[output.value.index()]->first());
        }
        // Later calls have the same shapes, in other memory.
        if (!prepared.code) prepared.code = coder_.code(loop, shape, precision_);
        prepared.code->run(tensors, outputs, 0, product(shape.sizes));
    }

    /// How far apart the tensor's elements at the loop's indices are.
    static std::vector<std::int64_t> aligned_strides(const View& view, const Type& read, const Type& loop) {
        std::vector<std::int64_t> strides(loop.rank(), 0);
        for (std::size_t d = 0; d < read.rank(); ++d) {
            const std::size_t place = tensor::aligned_dim(d, read.rank(), loop.rank());
            if (read.shape[d] == loop.shape[place]) strides[place] = view.strides[d];
        }
        return strides;
    }

    void release(std::size_t kernel) {
        for (const ValueId id : plan_.plan[kernel].values) {
            for (const ValueId arg : program_[id].args) {
                if (plan_.last_reader[arg.index()] == kernel) values_[arg.index()].reset();
            }
        }
    }

    struct PreparedLoop {
        tensor::Loop loop{};
        std::unique_ptr<KernelCode> code{};
    };

    const ProgramPlan& plan_;
    const Program& program_;
    Exchange& exchange_;
    KernelCoder& coder_;
    std::int64_t rank_;
    std::vector<std::int64_t> at_;
    Precision precision_;
    const RankTensors& inputs_;
    std::vector<std::optional<LocalTensor>> values_;  ///< by value
    std::map<std::pair<ValueId, tensor::Layouts>, LocalTensor> sources_;
    std::map<const KernelPart*, PreparedLoop> loops_;
    std::vector<double> times_;  ///< by kernel
};

constexpr std::int64_t kMostRanks = 1024;

}  // namespace

ProgramRun run_program(const Program& program, const std::vector<RankTensors>& inputs,
                       const ProgramRunOptions& options, const Stop& stop) {
    const std::int64_t ranks = program.mesh().ranks();
    if (ranks > kMostRanks)
        throw LimitError(fmt::format("{} ranks; a thread each, at most {} are run here", ranks, kMostRanks));
    const ProgramPlan plan(program);
    Exchange exchange(program);
    KernelCoder coder(options.kernels);
    ProgramRun result{.outputs = std::vector<RankTensors>(static_cast<std::size_t>(ranks))};
    std::vector<std::vector<double>> times(static_cast<std::size_t>(ranks));
    std::exception_ptr failure;
    std::mutex failing;
    std::vector<double> seconds(static_cast<std::size_t>(ranks));
    {
        std::vector<std::jthread> threads;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            threads.emplace_back([&, at = static_cast<std::size_t>(rank), rank] {
                try {
                    RankRun run(plan, exchange, coder, rank, inputs[at], options.precision);
                    for (std::size_t call = 0; call < std::max<std::size_t>(options.calls, 1); ++call) {
                        const Clock::time_point start = Clock::now();
                        run.call(stop);
                        seconds[at] = seconds_since(start);
                    }
                    times[at] = run.times();
                    result.outputs[at] = run.outputs();
                } catch (const Exchange::Stopped&) {
                    exchange.leave();
                } catch (...) {
                    {
                        const std::lock_guard lock(failing);
                        if (!failure) failure = std::current_exception();
                    }
                    exchange.leave();
                }
            });
        }
    }
    if (failure) std::rethrow_exception(failure);
    result.seconds = std::ranges::max(seconds);
    result.compiled = coder.compiler().compiled();
    result.compile_seconds = coder.compiler().seconds();
    result.not_compiled = coder.compiler().why();
    for (std::size_t k = 0; k < plan.plan.size(); ++k) {
        if (!plan.plan[k].works) continue;
        KernelTime& kernel = result.kernels.emplace_back(KernelTime{plan.plan[k].name, plan.plan[k].values});
        for (const std::vector<double>& of_rank : times)
            kernel.seconds = std::max(kernel.seconds, of_rank[k]);
    }
    return result;
}

}  // namespace tutti::run
