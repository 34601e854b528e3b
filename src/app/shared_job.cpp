// One process of a job. A call begins with a meeting at which each says what it means; the last to come
// compares, and so all take the same way: arrays that are all shared are worked on where they are, by a
// TeamCall that all have made together before or make now; else each copies its own (PrivateCall).

#include "app/shared_job.hpp"

#include "app/loaded_plan.hpp"
#include "core/error.hpp"
#include "run/private_call.hpp"
#include "run/rank_arrays.hpp"
#include "run/team_call.hpp"
#include "run/team_join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti::app {
struct SharedJob::Parts {
    enum Answer : std::uint64_t { kDiffer, kCopy, kMake, kCall };

    /// What a call is called with, as far as all processes have the same.
    struct CallKey {
        std::size_t plan = 0;
        std::int64_t count = 0;
        run::ElementType type{};
        run::Operator op{};
        run::Engine engine{};
        bool in_place = false;
        friend bool operator==(const CallKey&, const CallKey&) = default;
    };
    struct MadeCall {
        CallKey key{};
        std::byte *input = nullptr, *output = nullptr;
        std::uint64_t number = 0;
        std::unique_ptr<run::TeamCall> call{};
    };
    struct CopiedCall {
        CallKey key{};
        std::unique_ptr<run::PrivateCall> call{};
    };
    static constexpr std::size_t kMostKept = 32;

    run::Team team;
    std::vector<std::unique_ptr<const LoadedPlan>> plans{};
    std::deque<MadeCall> made{};
    std::deque<CopiedCall> copied{};
    std::uint64_t made_so_far = 0;

    Parts(run::SharedMemory memory, std::uint32_t process, run::TeamOptions options)
        : team(std::move(memory), process, std::move(options)) {}

    [[nodiscard]] Rank rank() const { return Rank(team.process()); }

    [[nodiscard]] Answer agree(std::uint64_t fingerprint, bool shared, std::uint64_t number) {
        const auto post = team.post(team.process());
        post[0] = fingerprint;
        post[1] = shared ? 1 : 0;
        post[2] = number;
        team.meet([&] {
            const auto first = team.post(0);
            bool same = true, all_shared = true, all_made = first[2] != 0;
            for (std::uint32_t process = 0; process < team.processes(); ++process) {
                const auto other = team.post(process);
                same = same && other[0] == first[0];
                all_shared = all_shared && other[1] != 0;
                all_made = all_made && other[2] == first[2];
            }
            team.notice() = !same ? kDiffer : !all_shared ? kCopy : all_made ? kCall : kMake;
        });
        return static_cast<Answer>(team.notice());
    }

    [[nodiscard]] std::uint64_t number_of(const CallKey& key, const std::byte* input,
                                          const std::byte* output) const {
        const auto found = std::ranges::find_if(made, [&](const MadeCall& other) {
            return other.key == key && other.input == input && other.output == output;
        });
        return found == made.end() ? 0 : found->number;
    }

    run::TeamCall& make(const CallKey& key, const run::Executable& executable, const run::Layout& layout,
                        std::byte* input, std::byte* output) {
        const run::RankArrays arrays = run::arrays_of(executable, layout, rank());
        std::vector<std::byte*> memories(executable.memories.size());
        if (output != nullptr) memories[arrays.output.memory] = output;
        memories[arrays.input.memory] = input;
        if (made.size() == kMostKept) made.pop_front();
        auto call = std::make_unique<run::TeamCall>(team, executable, layout, key.type, key.op, key.engine, 0,
                                                    memories);
        made.push_back({key, input, output, ++made_so_far, std::move(call)});
        return *made.back().call;
    }

    run::PrivateCall& copying(const CallKey& key, const run::Executable& executable,
                              const run::Layout& layout) {
        const auto found = std::ranges::find(copied, key, &CopiedCall::key);
        if (found != copied.end()) return *found->call;
        if (copied.size() == kMostKept) copied.pop_front();
        copied.push_back(
            {key, std::make_unique<run::PrivateCall>(team, executable, layout, key.type, key.op)});
        return *copied.back().call;
    }
};

SharedJob::SharedJob(const std::string& job, std::uint32_t process, std::uint32_t processes, double seconds,
                     std::function<void()> check) {
    const auto patience = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    run::SharedMemory memory = run::memory_of_team({job, process, processes, patience}, check);
    parts_ = std::make_unique<Parts>(std::move(memory), process, run::TeamOptions{std::move(check), {}});
    parts_->team.meet();
}

SharedJob::~SharedJob() = default;

std::byte* SharedJob::allocate(std::size_t bytes) { return parts_->team.allocate(bytes); }
void SharedJob::free(std::byte* memory) { parts_->team.free(memory); }
void SharedJob::meet() { parts_->team.meet(); }

std::size_t SharedJob::load(const std::string& file) {
    auto plan = load_plan(file);
    const auto processes = static_cast<std::int32_t>(parts_->team.processes());
    if (plan->ranks() != processes) {
        throw InputError(
            fmt::format("the plan is for {} ranks, the job has {} processes", plan->ranks(), processes), {},
            file);
    }
    parts_->plans.push_back(std::move(plan));
    return parts_->plans.size() - 1;
}

void SharedJob::run(std::size_t number, JobArray input, const JobArray* output, const std::string& type,
                    const std::string& op, const std::string& engine) {
    Parts& parts = *parts_;
    const LoadedPlan& plan = *parts.plans.at(number);
    // What is wrong here is said to the others before it is thrown: they are about to wait.
    const auto refuse = [&](const std::string& reason) {
        (void)parts.agree(fingerprint_of(reason, parts.team.process() + 1), false, 0);
        throw InputError(reason);
    };
    const auto element_type = run::element_type(type);
    const auto reduction = run::reduction(op);
    if (!element_type)
        refuse(fmt::format("found elements of type '{}', which nothing can be done with", type));
    if (!reduction) refuse(fmt::format("found the operator '{}'; expected sum, prod, min, max or avg", op));
    if (engine != "pieces" && engine != "streams")
        refuse(fmt::format("expected the engine pieces or streams, found '{}'", engine));

    Parts::CallKey key{number,
                       0,
                       *element_type,
                       *reduction,
                       engine == "streams" ? run::Engine::Streams : run::Engine::Pieces,
                       output == nullptr};
    const run::Executable* const exact = plan.in_mode(key.in_place);
    // Arrays that are copied may be in place or not, whatever the plan is made for.
    const run::Executable& executable = exact != nullptr ? *exact : plan.executables.front();
    const run::Layout unit(executable, 1);
    const run::RankArrays one = run::arrays_of(executable, unit, parts.rank());
    // In place the array is the larger buffer, whose memory in an out-of-place plan is one of two.
    const auto larger = [&] {
        const auto in = run::all_of(executable, unit, one.input.memory);
        const auto out = run::all_of(executable, unit, one.output.memory);
        return out.elements >= in.elements ? out : in;
    };
    const auto count = output == nullptr        ? run::count_of(executable, larger(), input.elements)
                       : one.input.elements > 0 ? run::count_of(executable, one.input, input.elements)
                                                : run::count_of(executable, one.output, output->elements);
    const run::Layout layout(executable, count.value_or(1));
    const run::RankArrays arrays = run::arrays_of(executable, layout, parts.rank());
    if (!count ||
        (output != nullptr && static_cast<std::int64_t>(arrays.output.elements) != output->elements)) {
        refuse(fmt::format("the plan has no call with {} elements of input{}", input.elements,
                           output != nullptr ? fmt::format(" and {} of output", output->elements) : ""));
    }
    key.count = *count;

    const std::size_t size = run::size_of(key.type);
    const auto is_shared = [&](const JobArray& array) {
        return parts.team.offset_of(array.data, static_cast<std::size_t>(array.elements) * size).has_value();
    };
    const bool shared = exact != nullptr && is_shared(input) && (output == nullptr || is_shared(*output));
    std::byte* const to = output != nullptr ? output->data : nullptr;
    const std::string terms =
        fmt::format("{} {} {} {} {} {}", plan.fingerprint, key.count, type, op, engine, key.in_place);
    switch (parts.agree(fingerprint_of(terms), shared, parts.number_of(key, input.data, to))) {
        case Parts::kDiffer:
            throw InputError(
                "the processes call different plans, or with different elements; all must call the same");
        case Parts::kMake:
            parts.make(key, executable, layout, input.data, to).run();
            return;
        case Parts::kCall: {
            const auto known =
                std::ranges::find(parts.made, parts.number_of(key, input.data, to), &Parts::MadeCall::number);
            known->call->run();
            return;
        }
        case Parts::kCopy:
            break;
    }
    if (key.engine == run::Engine::Streams)
        throw InputError(
            "thread blocks reach shared arrays only (SharedJob::allocate); the engine pieces copies others");
    // In place the larger buffer holds both: where, the in-place form of the layout tells.
    std::byte* const first = input.data;
    std::byte* own_input = first;
    std::byte* own_output = to;
    if (to == nullptr) {
        const std::size_t share = parts.team.process();
        own_input = first + arrays.input.first * size;
        own_output = first + arrays.output.first * size;
        if (arrays.input.memory != arrays.output.memory) {
            if (arrays.output.elements > arrays.input.elements)
                own_input = first + share * arrays.input.elements * size;
            if (arrays.output.elements < arrays.input.elements)
                own_output = first + share * arrays.output.elements * size;
        }
    }
    run::PrivateCall& call = parts.copying(key, executable, layout);
    if (!call.run({}, own_input, own_output)) throw InputError("the processes call different plans");
}

}  // namespace tutti::app
