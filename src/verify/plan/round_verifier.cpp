// Verifies a plan of rounds: first that its ranks go through the rounds in order, that messages have a sender
// and a receiver and that pieces are as long as the places that they are in; then, as one program for each
// call mode, every interleaving of the messages of a round and the steps of a wave.
//
// In the program a round of a rank has two ops without moves, its beginning and its end, and so has a wave;
// what is between them is not ordered. A message is received after it was sent. That its sender can only be
// done when its receiver has begun the round (large messages of MPI and NCCL do wait) is a weak edge, which
// counts for deadlocks but orders no memory accesses.

#include "verify/plan/in_place.hpp"
#include "verify/plan/open_verdict.hpp"
#include "verify/plan/program_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tutti::verify {
namespace {

using plan::Buffer;
using plan::EdgeKind;
using plan::OpId;
using plan::RoundPlace;
using plan::RoundPlan;
using plan::RoundStep;
using Kind = plan::RoundStep::Kind;

std::string words_of(const RoundPlace& place) {
    return fmt::format("{}[{}]", letter_of(place.buffer), place.chunk);
}

std::string words_of(const RoundStep& step) {
    switch (step.kind) {
        case Kind::Send:
            return fmt::format("send {} to rank {}", words_of(step.from), step.peer);
        case Kind::Receive:
            return fmt::format("receive {} from rank {}", words_of(step.to), step.peer);
        case Kind::Copy:
            return fmt::format("copy {} -> {}", words_of(step.from), words_of(step.to));
        case Kind::Add:
            return fmt::format("{} + {} -> {}", words_of(step.from), words_of(step.with), words_of(step.to));
    }
    return "";
}

/// The places that a step reads and the one that it writes.
std::vector<RoundPlace> places_of(const RoundStep& step) {
    std::vector<RoundPlace> places;
    if (step.reads()) places.push_back(step.from);
    if (step.kind == Kind::Add) places.push_back(step.with);
    if (step.writes()) places.push_back(step.to);
    return places;
}

/// A message, by the positions of its steps.
struct Matched {
    std::uint32_t from = 0, send = 0, to = 0, receive = 0;
};

class RoundStructure {
  public:
    RoundStructure(const RoundPlan& plan, Findings& violations) : plan_(plan), violations_(violations) {
        if (plan.steps.size() != plan.ranks || plan.inputs.size() != plan.ranks ||
            plan.outputs.size() != plan.ranks || plan.scratch.size() != plan.ranks ||
            plan.block_chunks == 0 || plan.members > plan.ranks) {
            violations.add("structure", "the plan's lists do not have an entry for each of its ranks");
            return;
        }
        for (std::uint32_t r = 0; r < plan.ranks; ++r) check_rank(r);
        if (violations.empty()) match();
    }
    [[nodiscard]] const std::vector<Matched>& messages() const { return messages_; }

  private:
    [[nodiscard]] std::uint32_t room(std::uint32_t rank, Buffer buffer) const {
        return buffer == Buffer::Input    ? plan_.inputs[rank]
               : buffer == Buffer::Output ? plan_.outputs[rank]
                                          : plan_.scratch[rank];
    }
    void complain(const char* code, std::uint32_t rank, std::size_t step, const std::string& what) {
        violations_.add(code,
                        fmt::format("rank {}, round {} ({}): {}", rank, plan_.steps[rank][step].round,
                                    words_of(plan_.steps[rank][step]), what),
                        {.gpu = Rank(rank), .step = plan::StepId(step)});
    }

    void check_rank(std::uint32_t rank) {
        scratch_.assign(plan_.scratch[rank], {});
        const std::vector<RoundStep>& steps = plan_.steps[rank];
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const RoundStep& step = steps[i];
            const auto time = [](const RoundStep& s) { return std::tuple(s.round, s.wave); };
            if (i > 0 && time(step) < time(steps[i - 1])) complain("order", rank, i, "it is out of order");
            if (step.round >= plan_.rounds) complain("order", rank, i, "there is no such round");
            if (step.is_message() != (step.wave == 0))
                complain("order", rank, i, "messages are wave 0, and nothing else is");
            if (step.is_message() && (step.peer >= plan_.ranks || step.peer == rank))
                complain("peer", rank, i, "there is no such other rank");
            if (step.chunks == 0 || step.piece >= plan_.block_chunks)
                complain("size", rank, i, "it moves nothing");
            check_places(rank, i);
        }
    }
    void check_places(std::uint32_t rank, std::size_t i) {
        const RoundStep& step = plan_.steps[rank][i];
        for (const RoundPlace& place : places_of(step)) {
            if (std::uint64_t{place.chunk} + step.chunks > room(rank, place.buffer))
                return complain("range", rank, i, "it leaves its buffer");
            if (place.buffer != Buffer::Scratch && place.chunk % plan_.block_chunks != step.piece)
                return complain("size", rank, i, "its piece is not as long as its place");
        }
        if (step.writes() && step.to.buffer == Buffer::Input)
            complain("written-input", rank, i, "it writes the input");
        if (step.reads()) check_layout(rank, i, step.from);
        if (step.kind == Kind::Add) check_layout(rank, i, step.with);
        if (!step.writes() || step.to.buffer != Buffer::Scratch) return;
        for (std::uint32_t k = 0; k < step.chunks; ++k)
            scratch_[step.to.chunk + k] = {step.to.chunk, step.chunks, step.piece};
    }
    /// What is in several chunks of scratch must be taken as it was put there.
    void check_layout(std::uint32_t rank, std::size_t i, const RoundPlace& place) {
        if (place.buffer != Buffer::Scratch) return;
        const RoundStep& step = plan_.steps[rank][i];
        for (std::uint32_t k = 0; k < step.chunks; ++k) {
            const Put put = scratch_[place.chunk + k];
            const bool uniform = plan_.block_chunks == 1;
            const bool as_put = put.first == place.chunk && put.chunks == step.chunks;
            if (put.chunks == 0 || put.piece != step.piece || (!uniform && !as_put))
                return complain("size", rank, i, "what is there in scratch has another size");
        }
    }

    void match() {
        struct Half {
            std::uint32_t round, from, to, rank, step;
        };
        std::vector<Half> sends, receives;
        for (std::uint32_t r = 0; r < plan_.ranks; ++r) {
            for (std::uint32_t i = 0; i < plan_.steps[r].size(); ++i) {
                const RoundStep& step = plan_.steps[r][i];
                if (step.kind == Kind::Send) sends.push_back({step.round, r, step.peer, r, i});
                if (step.kind == Kind::Receive) receives.push_back({step.round, step.peer, r, r, i});
            }
        }
        const auto by_pair = [](const Half& half) { return std::tuple(half.round, half.from, half.to); };
        std::ranges::stable_sort(sends, {}, by_pair);
        std::ranges::stable_sort(receives, {}, by_pair);
        for (std::size_t k = 0; k < std::max(sends.size(), receives.size()); ++k) {
            if (k >= receives.size() || (k < sends.size() && by_pair(sends[k]) < by_pair(receives[k])))
                return complain("match", sends[k].rank, sends[k].step, "nobody receives it");
            if (k >= sends.size() || by_pair(receives[k]) < by_pair(sends[k]))
                return complain("match", receives[k].rank, receives[k].step, "nobody sends it");
            const RoundStep& send = plan_.steps[sends[k].rank][sends[k].step];
            const RoundStep& receive = plan_.steps[receives[k].rank][receives[k].step];
            if (send.piece != receive.piece || send.chunks != receive.chunks)
                return complain("match", sends[k].rank, sends[k].step, "it is received with another size");
            messages_.push_back({sends[k].rank, sends[k].step, receives[k].rank, receives[k].step});
        }
    }

    struct Put {
        std::uint32_t first = 0, chunks = 0, piece = 0;
    };
    const RoundPlan& plan_;
    Findings& violations_;
    std::vector<Put> scratch_;  ///< of one rank: what is in each chunk
    std::vector<Matched> messages_;
};

/// The plan as a program for one call mode.
class RoundLowering {
  public:
    RoundLowering(const RoundPlan& plan, const std::vector<Matched>& messages, bool in_place)
        : plan_(plan), messages_(messages) {
        for (std::uint32_t r = 0; r < plan.ranks; ++r) lay_out(r, in_place);
        program_.chains = plan.ranks;
        op_of_.resize(plan.ranks);
        begin_of_.resize(plan.ranks);
        for (std::uint32_t r = 0; r < plan.ranks; ++r) add_rank(r);
        for (const Matched& m : messages_) {
            const OpId send = op_of_[m.from][m.send], receive = op_of_[m.to][m.receive];
            program_.ops[receive].message_from = send;
            program_.edges.push_back({send, receive, EdgeKind::Message});
            program_.edges.push_back(
                {begin_of_[m.to].at(plan.steps[m.from][m.send].round), send, EdgeKind::Weak});
        }
    }
    [[nodiscard]] plan::Program take() { return std::move(program_); }
    /// The step of an op; none: a beginning or an end.
    [[nodiscard]] const std::vector<const RoundStep*>& steps() const { return step_of_; }

  private:
    void lay_out(std::uint32_t rank, bool in_place) {
        const auto first = static_cast<std::uint32_t>(program_.memories.size());
        plan::Range in{first, 0}, out{first + 1, 0};
        const std::int64_t inputs = plan_.inputs[rank], outputs = plan_.outputs[rank];
        const auto shift = in_place ? plan_.in_place_shift(rank) : std::nullopt;
        if (shift && *shift >= 0) {
            in = {out.memory, *shift};
        } else if (shift) {
            out = {in.memory, -*shift};
        }
        const std::int64_t size = std::max(in.first + inputs, out.first + outputs);
        program_.memories.push_back({.gpu = Rank(rank), .buffer = Buffer::Input, .chunks = size});
        program_.memories.push_back({.gpu = Rank(rank), .buffer = Buffer::Output, .chunks = size});
        program_.memories.push_back(
            {.gpu = Rank(rank), .buffer = Buffer::Scratch, .chunks = plan_.scratch[rank]});
        plan::Memory& holder = program_.memories[in.memory];
        holder.origin = Rank(rank);
        holder.origin_shift = -in.first;
        holder.known_first = in.first;
        holder.known_last = in.first + inputs;
        at_.push_back({in, out, {first + 2, 0}});
        program_.outputs.push_back(out);
        program_.output_places.push_back(outputs);
    }

    OpId add_op(std::uint32_t rank, std::uint32_t chain, const RoundStep* step, std::size_t position) {
        const auto id = static_cast<OpId>(program_.ops.size());
        plan::Op op;
        op.chain = chain;
        op.first_move = static_cast<std::uint32_t>(program_.moves.size());
        if (step != nullptr) add_move(rank, *step);
        op.moves = static_cast<std::uint32_t>(program_.moves.size()) - op.first_move;
        program_.ops.push_back(op);
        plan::OpPlace& place = program_.op_places.emplace_back(plan::OpPlace{.gpu = Rank(rank)});
        if (step != nullptr) place.step = plan::StepId(position);
        step_of_.push_back(step);
        return id;
    }
    void add_move(std::uint32_t rank, const RoundStep& step) {
        const auto range = [&](const RoundPlace& place) {
            const plan::Range& first = at_[rank][static_cast<std::size_t>(place.buffer)];
            return plan::Range{first.memory, first.first + place.chunk};
        };
        // Copies of what is one place are left out by whoever runs the plan.
        const auto same = [](const plan::Range& a, const plan::Range& b) {
            return a.memory == b.memory && a.first == b.first;
        };
        if (step.kind == Kind::Copy && same(range(step.from), range(step.to))) return;
        plan::Move move;
        move.count = step.chunks;
        move.first_read = static_cast<std::uint32_t>(program_.ranges.size());
        if (step.reads()) program_.ranges.push_back(packed(range(step.from)));
        if (step.kind == Kind::Add) program_.ranges.push_back(packed(range(step.with)));
        const std::size_t reads = program_.ranges.size() - move.first_read;
        if (step.writes()) program_.ranges.push_back(packed(range(step.to)));
        move.set_operands(reads, program_.ranges.size() - move.first_read - reads);
        program_.moves.push_back(move);
    }

    void add_rank(std::uint32_t rank) {
        const std::vector<RoundStep>& steps = plan_.steps[rank];
        op_of_[rank].resize(steps.size());
        OpId last = plan::kNoOp;
        std::unordered_map<std::uint64_t, OpId> ended;  // what ended the last use of a place
        for (std::size_t i = 0; i < steps.size();) {
            std::size_t end = i;
            while (end < steps.size() && steps[end].round == steps[i].round &&
                   steps[end].wave == steps[i].wave)
                ++end;
            const OpId begin = add_op(rank, rank, nullptr, i);
            if (last != plan::kNoOp) program_.edges.push_back({last, begin, EdgeKind::Order});
            if (steps[i].wave == 0) begin_of_[rank].emplace(steps[i].round, begin);
            for (std::size_t k = i; k < end; ++k) {
                const OpId op = op_of_[rank][k] = add_op(rank, plan::Op::kNoChain, &steps[k], k);
                program_.edges.push_back({begin, op, EdgeKind::Order});
                remind(op, ended);
            }
            last = add_op(rank, rank, nullptr, end - 1);
            for (std::size_t k = i; k < end; ++k) {
                program_.edges.push_back({op_of_[rank][k], last, EdgeKind::Order});
                for_each_place(op_of_[rank][k], [&](std::uint64_t place) { ended[place] = last; });
            }
            program_.edges.push_back({begin, last, EdgeKind::Order});
            i = end;
        }
    }
    /// The way from one use of a place to the next leads through the ends of all waves between. An edge that
    /// repeats it makes it short for the search for races.
    void remind(OpId op, const std::unordered_map<std::uint64_t, OpId>& ended) {
        std::vector<OpId> before;
        for_each_place(op, [&](std::uint64_t place) {
            const auto found = ended.find(place);
            if (found != ended.end()) before.push_back(found->second);
        });
        std::ranges::sort(before);
        before.erase(std::unique(before.begin(), before.end()), before.end());
        for (const OpId end : before) program_.edges.push_back({end, op, EdgeKind::Order});
    }
    template <class Visit>
    void for_each_place(OpId op, Visit visit) const {
        for (const plan::Move& move : program_.moves_of(program_.ops[op])) {
            for (std::uint32_t k = 0; k < move.operands(); ++k) {
                const plan::Range& range = program_.ranges[move.first_read + k];
                for (std::int64_t c = 0; c < move.count; ++c)
                    visit((std::uint64_t{range.memory} << 32) | static_cast<std::uint64_t>(range.first + c));
            }
        }
    }

    const RoundPlan& plan_;
    const std::vector<Matched>& messages_;
    plan::Program program_;
    std::vector<std::array<plan::Range, plan::kBuffers>> at_;        ///< where each buffer begins, by rank
    std::vector<const RoundStep*> step_of_;                          ///< by op
    std::vector<std::vector<OpId>> op_of_;                           ///< by rank and step
    std::vector<std::unordered_map<std::uint32_t, OpId>> begin_of_;  ///< by rank and round: of its messages
};

void judge_mode(const RoundPlan& plan, const RoundStructure& structure, bool in_place, OpenVerdict& open) {
    RoundLowering lowering(plan, structure.messages(), in_place);
    const auto steps = lowering.steps();
    const plan::Program program = lowering.take();
    ProgramQuestion question;
    question.postcondition = {plan.goal, static_cast<std::int32_t>(plan.ranks), plan.share, Rank(0), nullptr,
                              1};
    if (plan.condition) question.postcondition.condition = &*plan.condition;
    question.root = plan.root;
    question.describe = [&](OpId op) {
        return steps[op] == nullptr ? std::string("a round") : words_of(*steps[op]);
    };
    ProgramAnswer answer = decide(program, question);
    if (plan.goal == CollectiveKind::Custom && !plan.condition)
        open.leave_undecided("it is custom, and there is no condition");
    open.violations.add_all(std::move(answer.violations), answer.violation_count);
    open.warnings.add_all(std::move(answer.warnings), answer.warning_count);
}

}  // namespace

plan::PlanVerdict verify(const plan::RoundPlan& plan, const PlanReading& reading) {
    OpenVerdict open(reading);
    open.verdict.format = "rounds";
    open.verdict.name = plan.name;
    open.verdict.collective = plan_name_of(plan.goal);
    open.verdict.mode = plan.in_place ? "both" : "out-of-place";
    open.verdict.root = plan.root;
    open.verdict.ranks = static_cast<std::int32_t>(plan.ranks);
    open.verdict.steps = plan.size();
    open.verdict.own_cost = fmt::format("{} rounds", plan.rounds);
    const RoundStructure structure(plan, open.violations);
    if (open.violations.empty()) judge_mode(plan, structure, false, open);
    if (open.violations.empty() && plan.in_place) judge_mode(plan, structure, true, open);
    return open.settled();
}

}  // namespace tutti::verify
