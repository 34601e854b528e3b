#include "app/run_arrays.hpp"

#include "app/plan_judge.hpp"
#include "core/error.hpp"
#include "run/executable.hpp"
#include "run/local_call.hpp"
#include "verify/plan/judged_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

namespace tutti::app {
namespace {

/// How many elements of a share a call has whose memory has so many; nothing if no call does.
[[nodiscard]] std::optional<std::int64_t> count_of(const run::Executable& executable, std::uint32_t memory,
                                                   std::int64_t elements) {
    const run::ExecutableMemory& here = executable.memories[memory];
    if (here.places == 0) return std::nullopt;
    std::int64_t count = elements;
    if (here.block > 0) {
        count = elements / std::max<std::int64_t>(here.places / here.block, 1);
    } else {
        std::int64_t most = 1;
        for (const run::ExecutableMemory& other : executable.memories)
            if (other.buffer != plan::Buffer::Scratch) most = std::max(most, other.places);
        count = elements / here.places * most;
    }
    if (run::Layout(executable, count).elements(memory) != elements) return std::nullopt;
    return count;
}

}  // namespace

struct ArrayPlan::Parts {
    static constexpr std::uint32_t kNoMemory = ~std::uint32_t{0};
    /// The memory of a rank's input, and of its output; in place they are one.
    struct RankMemories {
        std::uint32_t input = kNoMemory, output = kNoMemory;
    };
    JudgedPlan judged{};
    verify::JudgedProgram program{};
    run::Executable executable{};
    std::vector<RankMemories> memories{};
    run::WorkerThreads workers;
    std::mutex mutex{};
    /// The call that was made last, which may be made again.
    using Key =
        std::tuple<std::vector<std::byte*>, std::int64_t, run::ElementType, run::Operator, run::Engine>;
    std::optional<Key> key{};
    std::optional<run::Layout> layout{};
    std::optional<run::LocalCall> call{};

    explicit Parts(unsigned threads)
        : workers(threads > 0 ? threads : std::max(std::thread::hardware_concurrency(), 1U)) {}

    [[nodiscard]] static std::vector<RankMemories> memories_of(const run::Executable& executable) {
        std::vector<RankMemories> memories(static_cast<std::size_t>(executable.ranks()));
        // A rank's input is in the memory that its contributions start in: in place that is the output's.
        for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory) {
            const run::ExecutableMemory& here = executable.memories[memory];
            if (here.origin == here.gpu) memories[here.gpu.index()].input = memory;
        }
        for (std::size_t rank = 0; rank < memories.size(); ++rank) {
            memories[rank].output = executable.outputs[rank].memory;
            if (memories[rank].input == kNoMemory) memories[rank].input = memories[rank].output;
        }
        return memories;
    }

    [[nodiscard]] std::int64_t count_of_call(const RankArrays& inputs, const RankArrays* outputs) const {
        const auto ranks = static_cast<std::size_t>(executable.ranks());
        for (const RankArrays* arrays : {&inputs, outputs}) {
            if (arrays == nullptr || arrays->data.size() == ranks) continue;
            throw InputError(fmt::format("the plan has {} ranks; expected as many arrays, found {}", ranks,
                                         arrays->data.size()));
        }
        std::optional<std::int64_t> count;
        for (std::size_t rank = 0; rank < ranks && !count; ++rank) {
            count = count_of(executable, memories[rank].input, inputs.elements[rank]);
            if (!count && outputs != nullptr)
                count = count_of(executable, memories[rank].output, outputs->elements[rank]);
        }
        if (!count) {
            throw InputError(
                fmt::format("no call of this plan has arrays of {} elements; expected a multiple of {}",
                            inputs.elements.front(), executable.memories[memories.front().input].places));
        }
        const run::Layout layout_of_call(executable, *count);
        const auto check = [&](const RankArrays& arrays, std::size_t rank, std::uint32_t memory,
                               const char* what) {
            const std::int64_t wanted = layout_of_call.elements(memory);
            if (arrays.elements[rank] == wanted) return;
            throw InputError(fmt::format("{} of rank {}: expected {} elements, found {}", what, rank, wanted,
                                         arrays.elements[rank]));
        };
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            check(inputs, rank, memories[rank].input, outputs == nullptr ? "the array" : "the input");
            if (outputs != nullptr) check(*outputs, rank, memories[rank].output, "the output");
        }
        return *count;
    }
};

ArrayPlan::ArrayPlan(const std::string& file, bool in_place, unsigned threads, const Watch& watch)
    : parts_(std::make_unique<Parts>(threads)) {
    const PlanJudge judge({}, PlanJudge::OtherFiles::Malformed, true);
    parts_->judged = judge.judge(file, 0, watch.stop());
    const plan::PlanVerdict& verdict = parts_->judged.verdict;
    if (!verdict.acceptable()) {
        throw InputError(fmt::format("the plan is {}: {}", plan::name_of(verdict.verdict),
                                     verdict.violations.front().message));
    }
    bool other_mode = false;
    for (verify::JudgedProgram& program : judge.programs_of(parts_->judged)) {
        other_mode = other_mode || program.in_place != in_place;
        if (program.in_place != in_place) continue;
        parts_->program = std::move(program);
        parts_->executable = run::executable_of(parts_->program);
        parts_->memories = Parts::memories_of(parts_->executable);
        return;
    }
    throw InputError(!other_mode ? "plans of sends have no thread blocks that could run"
                     : in_place  ? "the plan cannot be called in place; expected output arrays too"
                                 : "the plan can only be called in place; expected no output arrays");
}

ArrayPlan::~ArrayPlan() = default;

std::int32_t ArrayPlan::ranks() const { return parts_->executable.ranks(); }

void ArrayPlan::run(const RankArrays& buffers, const RankArrays* outputs, const std::string& type,
                    const std::string& op, const std::string& engine) {
    const auto element = run::element_type(type);
    if (!element) {
        throw InputError(fmt::format("expected elements of type {}, found {}",
                                     fmt::join(run::element_type_names(), ", "), type));
    }
    const auto operation = run::reduction(op);
    if (!operation) {
        throw InputError(fmt::format("expected one of the operators {}, found {}",
                                     fmt::join(run::operator_names(), ", "), op));
    }
    if (engine != "pieces" && engine != "streams")
        throw InputError(fmt::format("expected the engine pieces or streams, found {}", engine));
    const run::Engine runs_as = engine == "pieces" ? run::Engine::Pieces : run::Engine::Streams;
    const std::lock_guard lock(parts_->mutex);
    const std::int64_t count = parts_->count_of_call(buffers, outputs);
    std::vector<std::byte*> given(parts_->executable.memories.size(), nullptr);
    for (std::size_t rank = 0; rank < buffers.data.size(); ++rank) {
        given[parts_->memories[rank].input] = buffers.data[rank];
        if (outputs != nullptr) given[parts_->memories[rank].output] = outputs->data[rank];
    }
    Parts::Key key{given, count, *element, *operation, runs_as};
    if (parts_->key != key) {
        parts_->call.reset();
        parts_->key.reset();
        parts_->layout.emplace(parts_->executable, count);
        parts_->call.emplace(parts_->executable, *parts_->layout, *element, *operation, parts_->workers,
                             run::LocalOptions{runs_as}, given);
        parts_->key = std::move(key);
    }
    parts_->call->run();
}

}  // namespace tutti::app
