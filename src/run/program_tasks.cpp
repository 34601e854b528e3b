#include "run/program_tasks.hpp"

#include "run/exchange.hpp"

#include <chrono>

namespace tutti::run {

using tensor::AxisId, tensor::Kernel, tensor::Mesh, tensor::Program, tensor::ValueId;

namespace {

std::int64_t nanoseconds_now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

ProgramTasks::ProgramTasks(const Program& program, const tensor::Kernels& kernels,
                           const std::vector<ProgramStage>& stages, const RankPartMaker& maker,
                           KernelSpan* spans, const ProgramNetwork* network, Wires* wires)
    : program_(program),
      kernels_(kernels),
      maker_(maker),
      spans_(spans),
      network_(network),
      wires_(wires),
      ranks_(static_cast<std::size_t>(program.mesh().ranks())),
      graph_(ranks_) {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) before_.push_back(graph_.join());
    for (const ProgramStage& stage : stages) add(stage);
    graph_.finish();
}

void ProgramTasks::add(const ProgramStage& stage) {
    of_stage_.assign(ranks_, {});
    std::vector<std::vector<LevelParts>> parts;  // by level and rank
    for (const ProgramStage::Level& level : stage.levels) parts.push_back(parts_of(level, stage));
    for (std::int64_t piece = 0; piece < stage.pieces(); ++piece) {
        last_level_ = before_;
        for (std::size_t level = 0; level < stage.levels.size(); ++level)
            add_level(stage, level, piece, parts[level]);
    }
    end_stage(stage);
}

std::vector<ProgramTasks::LevelParts> ProgramTasks::parts_of(const ProgramStage::Level& level,
                                                             const ProgramStage& stage) {
    std::vector<LevelParts> by_rank(ranks_);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
        for (const ProgramPart& part : level.parts) {
            std::unique_ptr<RankPart> made = maker_.made(part, stage, static_cast<std::int64_t>(rank));
            by_rank[rank].parts.emplace_back(part.kernel, made.get());
            if (made) owned_.push_back(std::move(made));
        }
    }
    return by_rank;
}

void ProgramTasks::add_level(const ProgramStage& stage, std::size_t level, std::int64_t piece,
                             const std::vector<LevelParts>& parts) {
    const ProgramStage::Level& made = stage.levels[level];
    std::vector<TaskId> tasks;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        tasks.push_back(
            graph_.add(rank, [this, rank, piece, of = parts[rank]] { run_level(rank, of, piece); }));
        graph_.before(last_level_[rank], tasks.back());
        of_stage_[rank].push_back(tasks.back());
    }
    if (!made.axes.empty()) wait_for_group(made.axes, last_level_, tasks);
    if (level > 0 && stage.levels[level - 1].spreads && stage.levels[level - 1].axes != made.axes)
        wait_for_group(stage.levels[level - 1].axes, last_level_, tasks);
    if (wires_ != nullptr) add_calls(stage, made, tasks);
    last_level_ = tasks;
}

/// Every one of a group's tasks waits for what is before all of them.
void ProgramTasks::wait_for_group(const std::vector<AxisId>& axes, const std::vector<TaskId>& before,
                                  const std::vector<TaskId>& tasks) {
    const Mesh& mesh = program_.mesh();
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        const std::vector<std::int64_t> group = group_of(mesh, axes, rank);
        if (group.size() == 1 || group.front() != rank) continue;
        const TaskId all = graph_.join();
        for (const std::int64_t member : group) {
            graph_.before(before[static_cast<std::size_t>(member)], all);
            graph_.before(all, tasks[static_cast<std::size_t>(member)]);
        }
    }
}

/// The calls of a level: one for each collective, or for all of a coalesced kernel.
void ProgramTasks::add_calls(const ProgramStage& stage, const ProgramStage::Level& level,
                             const std::vector<TaskId>& tasks) {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<ValueId>> calls;  // by kernel, and place in it
    for (std::size_t p = 0; p < level.parts.size(); ++p) {
        const ProgramPart& part = level.parts[p];
        const bool is_one = emit::is_coalesced(program_, kernels_.all()[part.kernel]);
        if (part.kind == ProgramPart::Kind::Exchange)
            calls[{part.kernel, is_one ? 0 : p}].push_back(part.values.front());
        if (part.head) calls[{part.kernel, is_one ? 0 : p}].push_back(*part.head);
    }
    for (const auto& [key, collectives] : calls) {
        const NetworkCall call = network_->schedule_of(collectives, stage.pieces());
        if (call.instance == nullptr) continue;
        const Wires::CallId id = wires_->add(call);
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            const TaskId ready = graph_.join([wires = wires_, id, rank] { wires->ready(id, rank); });
            graph_.before(last_level_[rank], ready);
            graph_.expect_signal(tasks[rank]);
            wires_->tell(id, rank, tasks[rank]);
        }
    }
}

void ProgramTasks::end_stage(const ProgramStage& stage) {
    std::vector<TaskId> ends;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        ends.push_back(graph_.join());
        for (const TaskId task : of_stage_[rank]) graph_.before(task, ends.back());
        graph_.end_block(rank);
    }
    before_ = ends;
    if (stage.axes.empty()) return;
    std::vector<TaskId> after;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        after.push_back(graph_.join());
        graph_.before(ends[rank], after.back());
    }
    wait_for_group(stage.axes, ends, after);
    before_ = after;
}

void ProgramTasks::run_level(std::int64_t rank, const LevelParts& parts, std::int64_t piece) const {
    const std::size_t kernels = kernels_.all().size();
    KernelSpan* const of_rank = spans_ + static_cast<std::size_t>(rank) * (kernels + 1);
    std::int64_t& done = of_rank[kernels].end;
    for (const auto& [kernel, part] : parts.parts) {
        if (part != nullptr) part->run(piece);
        KernelSpan& span = of_rank[kernel];
        span.end = nanoseconds_now();
        if (span.begin == 0) span.begin = done;
        done = span.end;
    }
}

}  // namespace tutti::run
