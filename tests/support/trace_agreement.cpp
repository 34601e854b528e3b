#include "tests/support/trace_agreement.hpp"

#include "compile/trace_graph.hpp"
#include "compile/trace_lowering.hpp"
#include "core/error.hpp"
#include "core/rng.hpp"
#include "io/chunk_trace.hpp"
#include "lang/contributions.hpp"
#include "lang/tracer.hpp"
#include "tests/oracle/naive_interpreter.hpp"
#include "tests/oracle/plan_opinion.hpp"
#include "tests/oracle/program_meaning.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <vector>

namespace tutti::test {
namespace {

using lang::kInput;
using lang::kOutput;
using lang::Slot;
using oracle::Ingredients;
using oracle::ProgramMeaning;

/// Thrown with what two of them disagree about.
struct Disagreement {
    std::string words;
};
template <class... Parts>
[[noreturn]] void differ(fmt::format_string<Parts...> format, Parts&&... parts) {
    throw Disagreement{fmt::format(format, std::forward<Parts>(parts)...)};
}

Ingredients ingredients(const lang::Counted& counted) {
    Ingredients made;
    for (const auto& [one, times] : counted) made[{one.rank.value(), one.chunk}] = times;
    return made;
}

void check_file(const lang::Trace& program) {
    io::Source source = io::Source::of_text(io::chunk_trace_text(program), "test.chunks");
    lang::Trace read = io::read_chunk_trace(source);
    // Numbers of scratch buffers and lines are the reader's.
    if (io::chunk_trace_text(read) != io::chunk_trace_text(program)) differ("the file has another program");
}

/// The verbs that are run; none: the tracer refuses one, as it should.
std::optional<lang::Tracer> trace_as(const lang::Trace& program, const ProgramMeaning& meaning) {
    lang::Trace header = program;
    header.verbs.clear();
    lang::Tracer tracer(std::move(header));
    for (std::size_t v = 0; v < program.verbs.size(); ++v) {
        const lang::Verb& verb = program.verbs[v];
        const bool refused = meaning.refused() == v;
        try {
            if (verb.kind == lang::Verb::Kind::Copy) {
                tracer.copy(verb.from, verb.to, verb.count, verb.directive, verb.place);
            } else {
                tracer.reduce(verb.from, verb.to, verb.count, verb.directive, verb.place);
            }
        } catch (const InputError& error) {
            if (!refused) differ("the tracer refuses verb {}: {}", v, error.what());
            return std::nullopt;
        }
        if (refused) differ("the tracer accepts verb {}", v);
    }
    return tracer;
}

/// Whether it does what its collective wants, which must be said alike by all who say it.
bool does_what_is_wanted(const lang::Tracer& tracer, const ProgramMeaning& meaning) {
    const lang::Trace& trace = tracer.trace();
    for (std::uint32_t r = 0; r < trace.shape.ranks; ++r) {
        for (std::uint32_t c = 0; c < output_chunks(trace.shape); ++c) {
            const Ingredients& exact = meaning.at({r, kOutput, c});
            if (ingredients(lang::contributions_of(trace, {r, kOutput, c})) != exact) {
                differ("contributions_of output[{}] of rank {}", c, r);
            }
            std::uint64_t count = 0;
            for (const auto& [one, times] : exact) count += times;
            if (tracer.value({r, kOutput, c}).contributions != count) differ("the count of output[{}]", c);
        }
    }
    const auto wrong = meaning.wrong_outputs();
    if (trace.shape.kind == CollectiveKind::Custom) {
        if (lang::counted_twice(trace).has_value() == wrong.empty()) differ("counted_twice");
        return wrong.empty();
    }
    const auto found = tracer.first_wrong();
    if (found.has_value() == wrong.empty()) differ("first_wrong");
    if (!found) return true;
    // The place goes by its one name; some wrong output must have that name.
    bool named = false;
    for (const auto& [rank, c] : wrong)
        named = named || resolved(trace.shape, {rank, kOutput, c}) == found->slot;
    if (!named) differ("first_wrong names {}", text_of(trace, found->slot));
    if (why_wrong(trace, *found).words.empty()) differ("why_wrong");
    return false;
}

/// The instructions in a random order that the graph allows; messages are held for as long as one likes.
void replay(const lang::Trace& trace, const ProgramMeaning& meaning, Rng& rng) {
    const compile::Graph graph = compile::graph_of(trace, 1 + static_cast<std::uint32_t>(rng.below(71)));
    using Cell = std::tuple<std::uint32_t, plan::Buffer, std::uint32_t>;
    std::map<Cell, Ingredients> cells;
    const auto buffer = [](const Slot& slot) {
        return slot.buffer == kInput ? plan::Buffer::Input : plan::Buffer::Output;
    };
    for (const lang::Initial& initial : initial_values(trace.shape)) {
        cells[{initial.slot.rank, buffer(initial.slot), initial.slot.index}] = {
            {{initial.value.rank.value(), initial.value.chunk}, 1}};
    }
    std::vector<std::uint32_t> waits(graph.size()), ready;
    std::vector<std::vector<std::uint32_t>> after(graph.size());
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        waits[i] = static_cast<std::uint32_t>(graph.before(i).size());
        for (const std::uint32_t b : graph.before(i)) {
            if (b >= i) differ("an edge of the graph leads backwards");
            after[b].push_back(i);
        }
        if (waits[i] == 0) ready.push_back(i);
    }
    std::vector<std::vector<Ingredients>> sent(graph.size());
    while (!ready.empty()) {
        const std::size_t chosen = rng.below(ready.size());
        const std::uint32_t i = ready[chosen];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
        const compile::Instruction& one = graph.instructions[i];
        std::vector<Ingredients> values;
        if (one.receives()) values = sent[one.match];
        for (std::uint32_t k = 0; one.reads() && k < one.count; ++k) {
            values.push_back(cells[{one.rank, one.source_buffer, one.source + k}]);
        }
        for (std::uint32_t k = 0; one.writes() && k < one.count; ++k) {
            Ingredients& cell = cells[{one.rank, one.target_buffer, one.target + k}];
            if (!one.reduces) cell.clear();
            for (const auto& [part, times] : values[k]) cell[part] += times;
        }
        if (one.sends()) sent[i] = std::move(values);
        for (const std::uint32_t a : after[i]) {
            if (--waits[a] == 0) ready.push_back(a);
        }
    }
    for (std::uint32_t r = 0; r < trace.shape.ranks; ++r) {
        for (std::uint32_t c = 0; c < output_chunks(trace.shape); ++c) {
            const Slot slot = resolved(trace.shape, {r, kOutput, c});
            if (cells[{r, buffer(slot), slot.index}] != meaning.at({r, kOutput, c})) {
                differ("the graph in another order ends with another output[{}] of rank {}", c, r);
            }
        }
    }
}

plan::PlanVerdict verdict_on(const compile::TraceResult& result) {
    verify::PlanReading reading;
    reading.root = result.root;
    reading.condition = result.condition;
    reading.strict_dependencies = true;
    return verify::verify(result.plan, reading);
}

/// On data, as the verdict says: with as much room as it promises, and stuck with less.
void run_on_data(const compile::TraceResult& result, const plan::PlanVerdict& verdict, Rng& rng,
                 bool threads) {
    oracle::PlanQuestion question;
    question.condition = result.condition;
    if (result.root) question.root = static_cast<std::int32_t>(result.root->value());
    const std::vector<oracle::PlanCall> modes = oracle::calls_of(result.plan, question).front();
    for (const oracle::PlanCall& call : modes) {
        for (const bool per_chunk : {true, false}) {
            oracle::NaiveOptions options{.message_per_chunk = per_chunk, .seed = rng.next()};
            const std::int64_t need = per_chunk ? verdict.fifo->chunks : verdict.fifo->steps;
            const auto run = [&](auto how, const char* name) {
                const oracle::NaiveEnd end = how(result.plan, call, options);
                if (end.right()) return;
                differ("{}, {} messages of {}s: {}", name, options.capacity.value_or(-1),
                       per_chunk ? "chunk" : "step",
                       end.stuck.empty() ? end.wrong.front() : end.stuck.front());
            };
            if (verdict.verdict == plan::PlanClass::ValidIfBuffered)
                options.capacity = static_cast<int>(need);
            run(oracle::run_by_turns, "by turns");
            options.seed = rng.next();
            run(oracle::run_by_turns, "by turns");
            if (threads) run(oracle::run_with_threads, "with threads");
            options.capacity = static_cast<int>(need);
            run(oracle::run_by_turns, "by turns with the least room");
            options.capacity = static_cast<int>(need - 1);
            if (need > 1 && oracle::run_by_turns(result.plan, call, options).stuck.empty()) {
                differ("the plan needs less room than {} messages of {}s", need,
                       per_chunk ? "chunk" : "step");
            }
        }
    }
}

bool has_fused_steps(const plan::MscclPlan& plan) {
    for (const plan::Gpu& gpu : plan.gpus) {
        for (const plan::ThreadBlock& block : gpu.blocks) {
            for (const plan::Step& step : block.steps) {
                if (plan::sends(step.type) && plan::receives(step.type)) return true;
            }
        }
    }
    return false;
}

std::string compare_all(const lang::Trace& program, Rng& rng, bool threads, bool& fused) {
    check_file(program);
    const ProgramMeaning meaning(program);
    const std::optional<lang::Tracer> tracer = trace_as(program, meaning);
    if (!tracer) return "refused";
    const lang::Trace& trace = tracer->trace();
    const bool right = does_what_is_wanted(*tracer, meaning);
    replay(trace, meaning, rng);
    if (!right) return "wrong";
    compile::TraceResult result;
    try {
        lang::Trace put_aside = trace;
        result = compile::compile_trace(put_aside, {}, [](const compile::TraceResult& candidate) {
            return verdict_on(candidate).verdict;
        });
        if (put_aside != trace) differ("the program is another one after it was compiled");
    } catch (const InputError&) {
        if (trace.policy == lang::BlockPolicy::Manual) return "refused blocks";
        throw;
    }
    const plan::PlanVerdict verdict = verdict_on(result);
    const bool wants_nothing = result.condition && result.condition->outputs.empty();
    if (!verdict.acceptable() || (verdict.verdict == plan::PlanClass::StructureOnly && !wants_nothing)) {
        differ("the plan is {}", name_of(verdict.verdict));
    }
    if (!verdict.fifo) differ("the verdict says nothing of connections");
    fused = has_fused_steps(result.plan);
    run_on_data(result, verdict, rng, threads);
    return wants_nothing ? "nothing wanted" : std::string(name_of(verdict.verdict));
}

}  // namespace

TraceOutcome outcome_of(const lang::Trace& program, std::uint64_t seed, bool threads) {
    TraceOutcome outcome;
    Rng rng(seed);
    try {
        outcome.kind = compare_all(program, rng, threads, outcome.fused);
    } catch (const Disagreement& found) {
        outcome.difference = found.words;
    } catch (const std::exception& error) {
        outcome.difference = fmt::format("an exception: {}", error.what());
    }
    return outcome;
}

}  // namespace tutti::test
