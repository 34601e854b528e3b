// Decides for every interleaving by running one. First the order that the plan enforces (ProgramGraph): if it
// has a cycle, some ops wait for each other for ever. Otherwise the ops are run once, symbolically, in a
// topological order (Execution). Without races every other order gives the same values; so the outputs are
// compared with the postcondition, and races that could reach an output (find_races) are reported separately.

#include "verify/plan/program_verifier.hpp"

#include "verify/plan/execution.hpp"
#include "verify/plan/place_index.hpp"
#include "verify/plan/program_graph.hpp"
#include "verify/plan/races.hpp"
#include "verify/plan/raw_packets.hpp"
#include "verify/plan/sum_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace tutti::verify {
namespace {
using plan::Place;
using plan::PlanFinding;

/// At most this many wrong places of an output are counted.
constexpr std::uint64_t kMostCounted = 100'000;

class Decision {
  public:
    /// `spare`: the program again, if parts of it may be freed.
    Decision(const plan::Program& program, plan::Program* spare, const ProgramQuestion& question)
        : program_(program), spare_(spare), question_(question), places_(program), graph_(graph()) {}

    ProgramAnswer run() {
        if (graph_.has_cycle()) {
            report_cycle();
            return std::move(answer_);
        }
        if (spare_ != nullptr) spare_->edges = std::vector<plan::Edge>();
        const std::vector<OrderQuestion> unordered = unordered_neighbours(program_, graph_, places_);
        std::vector<Race> races = find_raw_packet_races(program_, graph_, places_);
        if (unordered.empty()) graph_.forget_edges();
        Sums sums(std::size_t{4096} + 4 * static_cast<std::size_t>(question_.postcondition.ranks));
        sums_ = &sums;
        const Execution execution(program_, graph_, places_, sums);
        execution_ = &execution;

        Postcondition post = question_.postcondition;
        if (post.condition == nullptr && has_root(post.goal)) {
            post.root = question_.root ? *question_.root : found_root(post);
            answer_.root = post.root;
        }
        if (post.condition == nullptr && post.goal == CollectiveKind::SendRecv && question_.senders_open)
            post.senders = answer_.senders = found_senders();
        if (post.condition != nullptr) check_condition(*post.condition);
        report_races(post, std::move(races), unordered);
        report_clashes();
        if (post.demands_anything()) {
            for (const Rank rank : plan::ranks_below(outputs())) check_output(post, rank);
        }
        return std::move(answer_);
    }

  private:
    ProgramGraph graph() {
        // Once the places are numbered, only who asks for packets looks at ranges.
        const bool any_packets = std::ranges::any_of(program_.memories, &plan::Memory::packets);
        if (spare_ != nullptr && !any_packets) spare_->ranges = std::vector<plan::PackedRange>();
        if (program_.first_before.empty()) return ProgramGraph(program_);
        if (spare_ == nullptr) return {program_.first_before, program_.before};
        return {std::move(spare_->first_before), std::move(spare_->before)};
    }
    [[nodiscard]] std::int64_t outputs() const { return std::ssize(program_.outputs); }
    [[nodiscard]] bool is_rank(Rank rank) const { return rank.index() < program_.outputs.size(); }

    /// The ranks and chunks of a condition must exist; otherwise a mistake in it would go unnoticed.
    void check_condition(const plan::Condition& condition) {
        const auto complain = [&](OptionalId<Rank> rank, OptionalId<plan::ChunkOffset> chunk,
                                  const std::string& what) {
            violation({"condition",
                       "the condition " + what,
                       {.gpu = rank, .offset = chunk, .buffer = plan::Buffer::Output},
                       {}});
        };
        for (const auto& [rank, chunks] : condition.outputs) {
            if (!is_rank(rank)) {
                complain(std::nullopt, std::nullopt,
                         fmt::format("asks for outputs of rank {}; there are {} ranks", rank, outputs()));
                continue;
            }
            const std::int64_t size = program_.output_places[rank.index()] / program_.places_per_chunk;
            for (const auto& [chunk, parts] : chunks) {
                if (chunk >= size) {
                    complain(
                        rank, offset_of(chunk),
                        fmt::format("asks for output chunk {} of rank {}, which has {}", chunk, rank, size));
                }
                for (const plan::Contribution& part : parts) {
                    if (is_rank(part.rank)) continue;
                    complain(rank, offset_of(chunk),
                             fmt::format("wants ({},{}) in output chunk {} of rank {}; there are {} ranks",
                                         part.rank, part.chunk, chunk, rank, outputs()));
                }
            }
        }
    }

    void violation(PlanFinding finding) {
        ++answer_.violation_count;
        if (answer_.violations.size() < question_.max_findings)
            answer_.violations.push_back(std::move(finding));
    }

    static plan::ChunkOffset offset_of(std::int64_t chunk) {
        return plan::ChunkOffset(static_cast<std::size_t>(chunk));
    }
    [[nodiscard]] Place place_of(plan::OpId op) const {
        return program_.op_places.empty() ? question_.place(op) : Place(program_.op_places[op]);
    }
    [[nodiscard]] Place place_of(plan::OpId op, std::uint32_t place) const {
        Place where = place_of(op);
        const auto [memory, at] = places_.place(place);
        where.buffer = program_.memories[memory].buffer;
        where.offset = offset_of(at / program_.places_per_chunk);
        return where;
    }
    /// "gpu 0, tb 1, step 2 (rrc i[0] -> o[0])".
    [[nodiscard]] std::string words(plan::OpId op) const {
        return fmt::format("{} ({})", text_of(place_of(op)), question_.describe(op));
    }
    /// "o[3] of gpu 2".
    [[nodiscard]] std::string memory_words(std::uint32_t place) const {
        const auto [memory, at] = places_.place(place);
        const plan::Memory& of = program_.memories[memory];
        return fmt::format("{}[{}] of gpu {}", letter_of(of.buffer), at / program_.places_per_chunk, of.gpu);
    }

    void report_cycle() {
        const std::vector<plan::OpId> ring = graph_.cycle();
        std::map<std::pair<plan::OpId, plan::OpId>, plan::EdgeKind> kinds;
        for (std::size_t i = 0; i < ring.size(); ++i) kinds[{ring[(i + 1) % ring.size()], ring[i]}] = {};
        for (const plan::Edge& edge : program_.edges) {
            const auto kind = kinds.find({edge.from, edge.to});
            if (kind != kinds.end()) kind->second = edge.kind;
        }
        constexpr std::size_t kMostWords = 12;
        std::vector<std::string> parts;
        PlanFinding finding{"deadlock", {}, place_of(ring.front()), {}};
        for (std::size_t i = 0; i < ring.size(); ++i) {
            const plan::OpId next = ring[(i + 1) % ring.size()];
            if (i > 0) finding.others.push_back(place_of(ring[i]));
            if (i < kMostWords) {
                parts.push_back(
                    fmt::format("{} waits for {}", words(ring[i]), reason(kinds[{next, ring[i]}])));
            }
        }
        if (ring.size() > kMostWords) parts.push_back(fmt::format("{} more steps", ring.size() - kMostWords));
        finding.message = fmt::format("these steps wait for each other: {}; and so round again: {}",
                                      fmt::join(parts, "; "), text_of(place_of(ring.front())));
        violation(std::move(finding));
    }

    static std::string_view reason(plan::EdgeKind kind) {
        switch (kind) {
            case plan::EdgeKind::Order:
                return "the step before it in its tb";
            case plan::EdgeKind::Dependency:
                return "its dependency";
            case plan::EdgeKind::Message:
                return "the message of the next one";
            case plan::EdgeKind::Signal:
                return "the signal of the next one";
            case plan::EdgeKind::Barrier:
                return "the barrier";
            case plan::EdgeKind::Packet:
                return "the packet that the next one writes";
            case plan::EdgeKind::Weak:
                return "one of several, the next one among them";
        }
        return "the next one";
    }

    /// The places whose values matter: those that the postcondition constrains; all outputs if there are
    /// none.
    [[nodiscard]] std::vector<bool> needed(const Postcondition& post) const {
        std::vector<bool> needed(places_.places(), false);
        for (const Rank rank : plan::ranks_below(outputs())) {
            if (post.demands_anything() && !post.demands_of(rank)) continue;
            const plan::Range& output = program_.outputs[rank.index()];
            const std::int64_t last = output.first + program_.output_places[rank.index()];
            for (const auto& stretch : places_.stretches(output.memory)) {
                const std::int64_t from = std::max(stretch.first, output.first);
                const std::int64_t to = std::min(stretch.last, last);
                for (std::int64_t at = from; at < to; ++at) {
                    if (post.condition != nullptr && !post.expected(rank, at - output.first, *sums_))
                        continue;
                    needed[stretch.number + static_cast<std::uint32_t>(at - stretch.first)] = true;
                }
            }
        }
        return needed;
    }

    void report_races(const Postcondition& post, std::vector<Race> races,
                      const std::vector<OrderQuestion>& unordered) {
        if (!unordered.empty()) {
            std::ranges::copy(find_races(program_, graph_, places_, unordered, needed(post)),
                              std::back_inserter(races));
        }
        for (Race race : races) {
            // Without a postcondition all data matters.
            race.live = race.live || !post.demands_anything();
            if (race.first > race.second) {
                std::swap(race.first, race.second);
                std::swap(race.first_writes, race.second_writes);
            }
            PlanFinding finding{race.live ? "race" : "dead-race",
                                {},
                                place_of(race.first, race.place),
                                {place_of(race.second, race.place)}};
            finding.message = fmt::format(
                "{}: {} {} it and {} {} it, and nothing orders the two{}", memory_words(race.place),
                words(race.first), race.first_writes ? "writes" : "reads", words(race.second),
                race.second_writes ? "writes" : "reads", race.live ? "" : " (it reaches no output)");
            if (race.live) {
                violation(std::move(finding));
            } else {
                ++answer_.warning_count;
                if (answer_.warnings.size() < question_.max_findings) {
                    answer_.warnings.push_back(std::move(finding));
                }
            }
        }
    }

    void report_clashes() {
        for (const Execution::Clash& clash : execution_->clashes()) {
            violation({"packet",
                       fmt::format("the packets of {}: {} writes them, and {} writes something else",
                                   memory_words(clash.place), words(clash.first), words(clash.second)),
                       place_of(clash.second, clash.place),
                       {place_of(clash.first, clash.place)}});
        }
    }

    /// Of a place that no op touches.
    static constexpr std::uint32_t kUntouched = ~std::uint32_t{0};
    [[nodiscard]] plan::OpId writer_of(std::uint32_t number) const {
        return number == kUntouched ? plan::kNoOp : execution_->writer(number);
    }

    /// Calls visit(place of the output, value, its number or kUntouched) for each place of that rank's output
    /// until it returns false.
    template <typename Visit>
    void for_each_output(Rank rank, Visit visit) {
        const plan::Range& output = program_.outputs[rank.index()];
        const std::int64_t last = output.first + program_.output_places[rank.index()];
        const plan::Memory& memory = program_.memories[output.memory];
        std::int64_t at = output.first;
        const auto untouched = [&](std::int64_t until) {
            for (; at < until; ++at) {
                if (!visit(at - output.first, initial_value(memory, at, *sums_), kUntouched)) return false;
            }
            return true;
        };
        for (const auto& stretch : places_.stretches(output.memory)) {
            if (stretch.last <= at) continue;
            if (!untouched(std::min(stretch.first, last))) return;
            for (; at < std::min(stretch.last, last); ++at) {
                const auto number = stretch.number + static_cast<std::uint32_t>(at - stretch.first);
                if (!visit(at - output.first, execution_->value(number), number)) return;
            }
        }
        untouched(last);
    }

    /// Only the root of a gather has an output for all shares, and only declarations show which rank that is.
    [[nodiscard]] bool output_complete(const Postcondition& post, Rank rank) const {
        const std::int64_t places = program_.output_places[rank.index()];
        return places >= (post.goal == CollectiveKind::Gather ? post.block * post.ranks : 1);
    }

    [[nodiscard]] bool output_right(const Postcondition& post, Rank rank) {
        bool right = true;
        for_each_output(rank, [&](std::int64_t place, SumId value, std::uint32_t) {
            const auto expected = post.expected(rank, place, *sums_);
            return right = !expected || *expected == value;
        });
        return right;
    }

    /// A root with which the outputs are right; otherwise the most likely one, for the messages.
    [[nodiscard]] Rank found_root(Postcondition post) {
        const bool root_gets = post.goal == CollectiveKind::Reduce || post.goal == CollectiveKind::Gather;
        if (root_gets) {
            for (const Rank root : plan::ranks_below(outputs())) {
                post.root = root;
                if (output_complete(post, root) && output_right(post, root)) return root;
            }
        } else {
            // The root is the rank whose data the outputs hold.
            std::optional<Rank> root;
            for (const Rank rank : plan::ranks_below(outputs())) {
                if (root) break;
                for_each_output(rank, [&](std::int64_t, SumId value, std::uint32_t number) {
                    if (writer_of(number) != plan::kNoOp && value > Sums::kTooMany &&
                        !sums_->runs(value).empty()) {
                        root = Rank(static_cast<std::size_t>(sums_->runs(value).front().first));
                    }
                    return !root;
                });
            }
            if (root) return *root;
        }
        return Rank(0);
    }

    /// Whose input each rank's output begins with, if that is every rank's input once and nobody's own;
    /// empty otherwise, and if it is that of the rank before.
    [[nodiscard]] std::vector<Rank> found_senders() {
        std::vector<Rank> senders;
        std::vector<bool> sends(program_.outputs.size(), false);
        bool in_turn = true;
        for (const Rank rank : plan::ranks_below(outputs())) {
            std::optional<Rank> sender;
            for_each_output(rank, [&](std::int64_t, SumId value, std::uint32_t) {
                if (value <= Sums::kTooMany || sums_->runs(value).size() != 1) return false;
                const SumRun& run = sums_->runs(value).front();
                if (run.first == run.last) sender = Rank(static_cast<std::size_t>(run.first));
                return false;
            });
            if (!sender || *sender == rank || !is_rank(*sender) || sends[sender->index()]) return {};
            sends[sender->index()] = true;
            senders.push_back(*sender);
            in_turn = in_turn && (sender->index() + 1) % sends.size() == rank.index();
        }
        return in_turn ? std::vector<Rank>{} : senders;
    }

    void check_output(const Postcondition& post, Rank rank) {
        if (!post.demands_of(rank)) return;
        if (post.condition == nullptr && !output_complete(post, rank)) {
            violation({"value",
                       fmt::format("the output of gpu {} has {} chunks, too few for what it must hold", rank,
                                   program_.output_places[rank.index()] / program_.places_per_chunk),
                       {.gpu = rank, .buffer = plan::Buffer::Output},
                       {}});
            return;
        }
        std::int64_t told_chunk = -1;
        for_each_output(rank, [&](std::int64_t place, SumId value, std::uint32_t number) {
            const auto expected = post.expected(rank, place, *sums_);
            if (!expected || *expected == value) return true;
            const std::int64_t chunk = place / program_.places_per_chunk;
            if (chunk == told_chunk) return true;
            told_chunk = chunk;
            if (answer_.violations.size() < question_.max_findings) {
                report_value(rank, chunk, value, *expected, writer_of(number));
            } else {
                ++answer_.violation_count;
            }
            return answer_.violation_count < kMostCounted;
        });
    }

    void report_value(Rank rank, std::int64_t chunk, SumId value, SumId expected, plan::OpId writer) {
        PlanFinding finding{"value", {}, {}, {}};
        if (writer != plan::kNoOp) {
            finding.place = place_of(writer);
            if (finding.place.gpu != rank) finding.others.push_back(finding.place);
        }
        finding.place.gpu = rank;
        finding.place.buffer = plan::Buffer::Output;
        finding.place.offset = offset_of(chunk);
        const std::string written =
            writer == plan::kNoOp ? "no step writes it" : fmt::format("written last by {}", words(writer));
        finding.message =
            fmt::format("output chunk {} of gpu {} {}; {}", chunk, rank,
                        difference_text(*sums_, value, expected, program_.places_per_chunk), written);
        violation(std::move(finding));
    }

    const plan::Program& program_;
    plan::Program* spare_;  ///< may be null
    const ProgramQuestion& question_;
    PlaceIndex places_;
    ProgramGraph graph_;
    const Execution* execution_ = nullptr;
    Sums* sums_ = nullptr;
    ProgramAnswer answer_;
};

}  // namespace

ProgramAnswer decide(const plan::Program& program, const ProgramQuestion& question) {
    return Decision(program, nullptr, question).run();
}

ProgramAnswer decide(plan::Program&& program, const ProgramQuestion& question) {
    return Decision(program, &program, question).run();
}

}  // namespace tutti::verify
