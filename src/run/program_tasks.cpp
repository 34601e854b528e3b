#include "run/program_tasks.hpp"

#include "run/exchange.hpp"

#include <chrono>

namespace tutti::run {

using tensor::AxisId, tensor::Mesh, tensor::Program, tensor::ValueId;

namespace {

std::vector<std::uint32_t> ranks_here(const Program& program, const ProgramMessages* messages) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < program.mesh().ranks(); ++rank) {
        if (messages == nullptr || messages->is_here(rank)) ranks.push_back(rank);
    }
    return ranks;
}

std::int64_t nanoseconds_now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

ProgramTasks::ProgramTasks(const Program& program, const tensor::Kernels& kernels,
                           const std::vector<ProgramStage>& stages, const RankPartMaker& maker,
                           KernelSpan* spans, const Links& links)
    : program_(program),
      kernels_(kernels),
      maker_(maker),
      spans_(spans),
      links_(links),
      ranks_(static_cast<std::size_t>(program.mesh().ranks())),
      here_(ranks_here(program, links.messages)),
      graph_(here_.size()),
      before_(ranks_, TaskGraph::kNobody) {
    for (const std::uint32_t rank : here_) before_[rank] = graph_.join();
    for (const ProgramStage& stage : stages) add(stage);
    if (links_.messages != nullptr) {  // nobody leaves before all is sent
        for (std::uint32_t worker = 0; worker < here_.size(); ++worker) {
            graph_.before(before_[here_[worker]], graph_.add(worker, {}));
            graph_.end_block(worker);
        }
    }
    graph_.finish(links_.faults != nullptr ? links_.faults->waits : nullptr);
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
    for (const std::uint32_t rank : here_) {
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
    if (level > 0 && stage.levels[level - 1].spreads && stage.levels[level - 1].axes != made.axes)
        last_level_ = ends_of_groups(stage.levels[level - 1].axes, last_level_);
    std::vector<TaskId> tasks(ranks_, TaskGraph::kNobody);
    for (std::uint32_t worker = 0; worker < here_.size(); ++worker) {
        const std::uint32_t rank = here_[worker];
        tasks[rank] =
            graph_.add(worker, [this, rank, piece, of = parts[rank]] { run_level(rank, of, piece); });
        graph_.before(last_level_[rank], tasks[rank]);
        of_stage_[rank].push_back(tasks[rank]);
    }
    if (!made.axes.empty()) wait_for_group(made.axes, last_level_, tasks);
    if (links_.wires != nullptr) add_calls(stage, made, tasks);
    if (links_.messages != nullptr) {
        for (const ProgramPart& part : made.parts) add_transfers(stage, part, piece, tasks);
    }
    last_level_ = tasks;
}

/// Every one of a group's tasks waits for what is before all of them.
void ProgramTasks::wait_for_group(const std::vector<AxisId>& axes, const std::vector<TaskId>& before,
                                  const std::vector<TaskId>& tasks) {
    const Mesh& mesh = program_.mesh();
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        std::vector<std::int64_t> group = group_of(mesh, axes, rank);
        std::erase_if(group, [&](std::int64_t member) {
            return before[static_cast<std::size_t>(member)] == TaskGraph::kNobody;
        });
        if (group.size() < 2 || group.front() != rank) continue;
        const TaskId all = graph_.join();
        for (const std::int64_t member : group) {
            graph_.before(before[static_cast<std::size_t>(member)], all);
            graph_.before(all, tasks[static_cast<std::size_t>(member)]);
        }
    }
}

/// For each rank, the end of what all ranks of its group do.
std::vector<TaskGraph::TaskId> ProgramTasks::ends_of_groups(const std::vector<AxisId>& axes,
                                                            const std::vector<TaskId>& tasks) {
    std::vector<TaskId> ends(ranks_, TaskGraph::kNobody);
    for (const std::uint32_t rank : here_) {
        ends[rank] = graph_.join();
        graph_.before(tasks[rank], ends[rank]);
    }
    wait_for_group(axes, tasks, ends);
    return ends;
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
        const NetworkCall call = links_.network->schedule_of(collectives, stage.pieces());
        if (call.instance == nullptr) continue;
        const Wires::CallId id = links_.wires->add(call);
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            const TaskId ready = graph_.join([wires = links_.wires, id, rank] { wires->ready(id, rank); });
            graph_.before(last_level_[rank], ready);
            graph_.expect_signal(tasks[rank]);
            links_.wires->tell(id, rank, tasks[rank]);
        }
    }
}

/// A rank's part of an operand leaves when the rank has done what is before, and comes where a process has
/// done so for all that read it.
void ProgramTasks::add_transfers(const ProgramStage& stage, const ProgramPart& part, std::int64_t piece,
                                 const std::vector<TaskId>& tasks) {
    if (part.kind != ProgramPart::Kind::Exchange && !part.head) return;
    const ValueId made = part.values.front();
    const auto elements = [&](std::int64_t rank) -> std::vector<tensor::Interval> {
        if (!tensor::holds(program_[made].type, program_.mesh().coordinates(rank)) ||
            maker_.plan.is_done(made))
            return {};
        return piece_ranges(program_, stage.cut, made, rank, piece).elements;
    };
    ProgramMessages& messages = *links_.messages;
    for (ProgramMessages::Transfer& transfer : messages.add(part.head.value_or(made), elements)) {
        const TaskId start = graph_.join([&messages, id = transfer.id] { messages.start(id); });
        if (transfer.sends) {
            graph_.before(last_level_[static_cast<std::size_t>(transfer.source)], start);
            sent_.push_back(std::move(transfer));
            continue;
        }
        for (const std::int64_t reader : transfer.readers) {
            const auto at = static_cast<std::size_t>(reader);
            graph_.before(last_level_[at], start);
            graph_.expect_signal(tasks[at]);
            messages.tell(transfer.id, tasks[at]);
        }
    }
}

void ProgramTasks::end_stage(const ProgramStage& stage) {
    std::vector<TaskId> ends(ranks_, TaskGraph::kNobody);
    for (std::uint32_t worker = 0; worker < here_.size(); ++worker) {
        const std::uint32_t rank = here_[worker];
        ends[rank] = graph_.join();
        for (const TaskId task : of_stage_[rank]) graph_.before(task, ends[rank]);
        graph_.end_block(worker);
    }
    for (const ProgramMessages::Transfer& transfer : sent_) {
        const TaskId end = ends[static_cast<std::size_t>(transfer.source)];
        graph_.expect_signal(end);
        links_.messages->tell(transfer.id, end);
    }
    sent_.clear();
    before_ = stage.axes.empty() ? ends : ends_of_groups(stage.axes, ends);
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
