#include "app/compile_execution.hpp"

#include "core/collective.hpp"
#include "core/error.hpp"
#include "io/json_text.hpp"
#include "io/mscclpp_json.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tutti::app {
namespace {

using Clock = std::chrono::steady_clock;

/// The program's lines, by the places of the plan. The package writes them before it makes the instances: a
/// thread block of the program is `instances` of them in the plan, each with all of its operations.
class Lines {
  public:
    Lines(const std::string& file, const Stop& stop) {
        io::Source source(file, stop);
        json_ = io::parse_json(source);
        instances_ = std::max<std::size_t>(json_.at("instances").get<std::size_t>(), 1);
    }

    [[nodiscard]] std::string program() const { return json_.at("program").get<std::string>(); }

    [[nodiscard]] std::string of(const plan::Place& place) const {
        if (!place.gpu || !place.block || !place.step) return "";
        const io::Json* here = &json_.at("lines");
        const std::size_t inner = place.inner ? (*place.inner).index() + 1 : 0;
        for (const std::size_t at :
             {(*place.gpu).index(), (*place.block).index() / instances_, (*place.step).index(), inner}) {
            if (at >= here->size()) return "";
            here = &(*here)[at];
        }
        return here->get<std::string>();
    }

    /// Signals that nobody waits for, or waits without signals; nothing if there are none.
    [[nodiscard]] std::optional<CompileFinding> unpaired() const {
        const io::Json& found = json_.at("unpaired");
        if (found.empty()) return std::nullopt;
        return CompileFinding{"signals", found.at("message").get<std::string>(),
                              found.at("place").get<std::string>()};
    }

  private:
    io::Json json_;
    std::size_t instances_ = 1;
};

CompileFinding finding_of(const plan::PlanFinding& found, const Lines& lines) {
    const std::string own = lines.of(found.place);
    CompileFinding finding{found.code, found.message, own.empty() ? lines.program() : own};
    if (own.empty()) return finding;
    std::vector<std::string> others;
    for (const plan::Place& other : found.others) {
        const std::string line = lines.of(other);
        if (line.empty() || line == own || std::ranges::find(others, line) != others.end()) continue;
        others.push_back(line);
    }
    constexpr std::size_t kMost = 3;
    for (std::size_t i = 0; i < std::min(others.size(), kMost); ++i) {
        finding.message += (i == 0 ? "; see " : ", ") + others[i];
    }
    return finding;
}

void check_options(const CompileOptions& options) {
    const std::string those = "a program for MSCCL++ makes a plan of its own: ";
    if (options.format == CompileFormat::Trace) throw InputError(those + "there is no trace of it");
    if (options.instances) throw InputError(those + "its instances are said there, not by --instances");
    if (options.target) throw InputError(those + "--target is for plans of MSCCL");
}

/// What is told of a plan.
CompiledPlan facts_of(const plan::ExecutionPlan& plan, const plan::PlanVerdict& verdict) {
    CompiledPlan facts;
    facts.name = plan.name;
    const auto kind = kind_in_plan(plan.collective);
    facts.collective = kind ? std::string(name_of(*kind)) : plan.collective;
    facts.ranks = static_cast<std::uint32_t>(plan.gpus.size());
    facts.verdict = std::string(name_of(verdict.verdict));
    for (const plan::ExecutionGpu& gpu : plan.gpus) {
        facts.thread_blocks += gpu.blocks.size();
        // A loop is one operation, as the DSL counts.
        for (const plan::ExecutionBlock& block : gpu.blocks) facts.steps += block.ops.size();
        const std::size_t channels = peers_of(gpu, plan::ChannelType::Memory).size() +
                                     peers_of(gpu, plan::ChannelType::Port).size() +
                                     group_channels(gpu).size();
        facts.channels = std::max(facts.channels, static_cast<std::int32_t>(channels));
    }
    return facts;
}

/// What the options say of any plan.
void apply(const CompileOptions& options, plan::ExecutionPlan& plan) {
    if (options.as_custom) plan.collective = "custom";
    if (options.min_bytes) plan.min_bytes = static_cast<std::uint64_t>(*options.min_bytes);
    if (options.max_bytes) plan.max_bytes = static_cast<std::uint64_t>(*options.max_bytes);
}

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

JudgedExecution verified_execution(const PythonPlan& made, const CompileOptions& options, const Stop& stop) {
    check_options(options);
    const Lines lines(made.lines, stop);
    const auto start = Clock::now();
    plan::ExecutionPlan plan;
    try {
        io::Source source(made.plan, stop);
        plan = io::read_mscclpp_json(source);
    } catch (const InputError& error) {
        const std::string where = error.place().empty() ? "" : " (at " + error.place() + " of the plan)";
        throw InputError(error.message() + where, lines.program());
    }
    apply(options, plan);
    const auto read = Clock::now();
    const plan::PlanVerdict verdict = verify::verify(plan);

    JudgedExecution done;
    done.facts = facts_of(plan, verdict);
    done.facts.compile_seconds = seconds_between(start, read);
    done.facts.verify_seconds = seconds_between(read, Clock::now());
    if (!verdict.acceptable()) {
        for (const plan::PlanFinding& found : verdict.violations) {
            done.findings.push_back(finding_of(found, lines));
        }
    } else if (const auto unpaired = lines.unpaired()) {
        done.findings.push_back(*unpaired);
    }
    if (done.findings.empty()) done.text = io::mscclpp_json_text(plan);
    return done;
}

JudgedExecution verified_execution(plan::ExecutionPlan plan, const CompileOptions& options) {
    const auto refuse = [&](std::string_view what) {
        throw InputError(fmt::format("{} writes a plan of MSCCL++ itself: {}", plan.name, what));
    };
    if (options.format != CompileFormat::MscclppJson && !options.check_only)
        refuse("no other format can say it; expected --to mscclpp-json");
    if (options.instances) refuse("it takes no --instances; expected --set blocks=N");
    if (options.target || options.protocol) refuse("--target and --protocol are for programs");
    if (options.dump_after) refuse("there are no passes to look behind");
    apply(options, plan);
    const auto start = Clock::now();
    const plan::PlanVerdict verdict = verify::verify(plan);
    if (!verdict.acceptable()) throw InternalError(fmt::format("the plan '{}' was rejected", plan.name));
    JudgedExecution done;
    done.facts = facts_of(plan, verdict);
    done.facts.verify_seconds = seconds_between(start, Clock::now());
    if (!options.check_only) done.text = io::mscclpp_json_text(plan);
    return done;
}

}  // namespace tutti::app
