#include "verify/plan/races.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_set>
#include <utility>

namespace tutti::verify {
namespace {

/// A place with more accesses, or a program with more queries, is judged by its neighbouring accesses only:
/// an unordered pair counts as live if any access of the place is marked.
constexpr std::size_t kMostAccesses = 2048;
constexpr std::size_t kMostQuestions = std::size_t{1} << 22U;

std::uint64_t key_of(plan::OpId a, plan::OpId b) { return (std::uint64_t{a} << 32U) | b; }

bool same_chain(const plan::Program& program, plan::OpId a, plan::OpId b) {
    return program.ops[a].chain == program.ops[b].chain && program.ops[a].chain != plan::Op::kNoChain;
}

/// Where there are no packets, the ranges may be gone.
bool in_packets(const plan::Program& program, std::uint32_t range) {
    return !program.ranges.empty() && program.memories[program.ranges[range].memory].packets;
}

/// Calls on_read(place), then on_write(place), for the op; packets have no races and are left out.
template <typename OnRead, typename OnWrite>
void for_each_access(const plan::Program& program, const PlaceIndex& places, plan::OpId id, OnRead on_read,
                     OnWrite on_write) {
    const plan::Op& op = program.ops[id];
    for (const plan::Move& move : program.moves_of(op)) {
        for (std::uint32_t r = 0; r < move.reads; ++r) {
            if (in_packets(program, move.first_read + r)) continue;
            const std::uint32_t first = places.first(move.first_read + r);
            for (std::uint32_t e = 0; e < move.count; ++e) on_read(first + e);
        }
    }
    for (const plan::Move& move : program.moves_of(op)) {
        for (std::uint32_t w = 0; w < move.writes; ++w) {
            if (in_packets(program, move.first_write() + w)) continue;
            const std::uint32_t first = places.first(move.first_write() + w);
            for (std::uint32_t e = 0; e < move.count; ++e) on_write(first + e);
        }
    }
}

/// The pairs of neighbouring accesses of every place: visit(from, to, place, from_writes, to_writes).
class Neighbours {
  public:
    Neighbours(const plan::Program& program, const ProgramGraph& graph, const PlaceIndex& places)
        : program_(program), graph_(graph), places_(places) {}

    template <typename Visit>
    void sweep(Visit visit) {
        readers_.assign(places_.places(), kNone);
        pool_.clear();
        free_ = kNone;
        const std::vector<std::uint32_t> writes_end = ends_of_writes();
        last_write_.assign(places_.places(), plan::kNoOp);
        std::uint32_t turn = 0;
        for (const plan::OpId op : graph_.order()) {
            ++turn;
            for_each_access(
                program_, places_, op,
                [&](std::uint32_t place) {
                    if (last_write_[place] != plan::kNoOp) visit(last_write_[place], op, place, true, false);
                    if (turn < writes_end[place]) remember(place, op);
                },
                [&](std::uint32_t place) {
                    bool read_between = false;
                    for (std::uint32_t at = readers_[place]; at != kNone; at = pool_[at].next) {
                        read_between = true;
                        if (pool_[at].op != op) visit(pool_[at].op, op, place, false, true);
                    }
                    if (!read_between && last_write_[place] != plan::kNoOp && last_write_[place] != op) {
                        visit(last_write_[place], op, place, true, true);
                    }
                    forget(place);
                    last_write_[place] = op;
                });
        }
    }

  private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    struct Reader {
        plan::OpId op;
        std::uint32_t next;
    };

    /// By place the turn, from 1, of the op that writes it last; 0: none does. Who reads it later need not be
    /// remembered: most readers of a plan, which send what is complete.
    [[nodiscard]] std::vector<std::uint32_t> ends_of_writes() const {
        std::vector<std::uint32_t> ends(places_.places(), 0);
        std::uint32_t turn = 0;
        for (const plan::OpId op : graph_.order()) {
            ++turn;
            for_each_access(
                program_, places_, op, [](std::uint32_t) {},
                [&](std::uint32_t place) { ends[place] = turn; });
        }
        return ends;
    }
    void remember(std::uint32_t place, plan::OpId op) {
        const std::uint32_t head = readers_[place];
        if (head != kNone && pool_[head].op == op) return;
        std::uint32_t at = free_;
        if (at == kNone) {
            at = static_cast<std::uint32_t>(pool_.size());
            pool_.emplace_back();
        } else {
            free_ = pool_[at].next;
        }
        pool_[at] = {op, head};
        readers_[place] = at;
    }
    void forget(std::uint32_t place) {
        while (readers_[place] != kNone) {
            const std::uint32_t at = readers_[place];
            readers_[place] = pool_[at].next;
            pool_[at].next = free_;
            free_ = at;
        }
    }

    const plan::Program& program_;
    const ProgramGraph& graph_;
    const PlaceIndex& places_;
    std::vector<plan::OpId> last_write_;
    std::vector<std::uint32_t> readers_;  ///< since the last write, the latest first
    std::vector<Reader> pool_;
    std::uint32_t free_ = kNone;
};

struct Access {
    plan::OpId op;
    bool writes, marked;
};

/// Marks the accesses of suspected places, backwards from the needed places.
class Marking {
  public:
    Marking(const plan::Program& program, const ProgramGraph& graph, const PlaceIndex& places,
            const std::vector<bool>& needed, const std::vector<std::uint32_t>& suspect)
        : program_(program), places_(places), needed_(needed), suspect_(suspect) {
        message_begin_.assign(program.ops.size(), 0);
        std::size_t total = 0;
        for (std::size_t op = 0; op < program.ops.size(); ++op) {
            message_begin_[op] = total;
            if (program.ops[op].moves > 0) {
                total += static_cast<std::size_t>(program.moves[program.ops[op].first_move].count);
            }
        }
        message_needed_.assign(total, false);
        note_packets();
        for (std::size_t i = graph.order().size(); i-- > 0;) back_over(graph.order()[i]);
    }

    /// (place, op, writes) of the marked accesses of suspected places.
    [[nodiscard]] bool marked(std::uint32_t place, plan::OpId op, bool writes) const {
        return marked_.contains({place, op, writes});
    }

  private:
    /// A packet with several writers may be read from any of them, in whatever order the graph has them: all
    /// are needed.
    void note_packets() {
        std::vector<bool> written;
        for (const plan::Move& move : program_.moves) {
            for (std::uint32_t w = 0; w < move.writes; ++w) {
                if (!in_packets(program_, move.first_write() + w)) continue;
                written.resize(places_.places(), false);
                always_needed_.resize(places_.places(), false);
                const std::uint32_t first = places_.first(move.first_write() + w);
                for (std::uint32_t place = first; place < first + move.count; ++place) {
                    if (written[place]) needed_[place] = always_needed_[place] = true;
                    written[place] = true;
                }
            }
        }
    }

    void back_over(plan::OpId id) {
        const plan::Op& op = program_.ops[id];
        wanted_.clear();
        for (std::uint32_t m = 0; m < op.moves; ++m) {
            const plan::Move& move = program_.moves[op.first_move + m];
            for (std::uint32_t e = 0; e < move.count; ++e) {
                bool wanted = m == 0 && message_needed_[message_begin_[id] + e];
                for (std::uint32_t w = 0; w < move.writes; ++w) {
                    const std::uint32_t place = places_.first(move.first_write() + w) + e;
                    if (!needed_[place]) continue;
                    wanted = true;
                    mark(place, id, true);
                }
                wanted_.push_back(wanted);
            }
        }
        for (const plan::Move& move : program_.moves_of(op)) {
            for (std::uint32_t w = 0; w < move.writes; ++w) {
                for (std::uint32_t e = 0; e < move.count; ++e) {
                    const std::uint32_t place = places_.first(move.first_write() + w) + e;
                    needed_[place] = !always_needed_.empty() && always_needed_[place];
                }
            }
        }
        std::size_t next = 0;
        for (std::uint32_t m = 0; m < op.moves; ++m) {
            const plan::Move& move = program_.moves[op.first_move + m];
            for (std::uint32_t e = 0; e < move.count; ++e, ++next) {
                if (!wanted_[next]) continue;
                for (std::uint32_t r = 0; r < move.reads; ++r) {
                    const std::uint32_t place = places_.first(move.first_read + r) + e;
                    needed_[place] = true;
                    mark(place, id, false);
                }
                if (m == 0 && op.message_from != plan::kNoOp) {
                    message_needed_[message_begin_[op.message_from] + e] = true;
                }
            }
        }
    }
    void mark(std::uint32_t place, plan::OpId op, bool writes) {
        if (suspect_[place] != 0) marked_.insert({place, op, writes});
    }

    const plan::Program& program_;
    const PlaceIndex& places_;
    std::vector<bool> needed_;
    std::vector<bool> always_needed_;  ///< empty: none
    const std::vector<std::uint32_t>& suspect_;
    std::vector<std::size_t> message_begin_;
    std::vector<bool> message_needed_;
    std::vector<bool> wanted_;
    std::set<std::tuple<std::uint32_t, plan::OpId, bool>> marked_;
};

class RaceSearch {
  public:
    RaceSearch(const plan::Program& program, const ProgramGraph& graph, const PlaceIndex& places,
               const std::vector<OrderQuestion>& unordered, const std::vector<bool>& needed)
        : program_(program), graph_(graph), places_(places), needed_(needed) {
        for (const auto& [from, to] : unordered) unordered_.insert(key_of(from, to));
    }

    std::vector<Race> run() {
        find_suspects();
        judge_suspects();
        std::vector<Race> races = std::move(live_);
        races.insert(races.end(), dead_.begin(), dead_.end());
        return races;
    }

  private:
    /// Numbers the places where neighbouring accesses are not ordered 1, 2, …, and lists their accesses.
    void find_suspects() {
        suspect_.assign(places_.places(), 0);
        Neighbours(program_, graph_, places_)
            .sweep(
                [&](plan::OpId from, plan::OpId to, std::uint32_t place, bool from_writes, bool to_writes) {
                    if (!unordered_.contains(key_of(from, to))) return;
                    if (suspect_[place] == 0) {
                        accesses_.emplace_back();
                        found_.push_back({from, to, place, from_writes, to_writes, false});
                        suspect_[place] = static_cast<std::uint32_t>(accesses_.size());
                    }
                });
        for (const plan::OpId op : graph_.order()) {
            const auto note = [&](std::uint32_t place, bool writes) {
                if (suspect_[place] == 0) return;
                auto& accesses = accesses_[suspect_[place] - 1];
                if (accesses.empty() || accesses.back().op != op || accesses.back().writes != writes) {
                    accesses.push_back({op, writes, false});
                }
            };
            for_each_access(
                program_, places_, op, [&](std::uint32_t place) { note(place, false); },
                [&](std::uint32_t place) { note(place, true); });
        }
        const Marking marking(program_, graph_, places_, needed_, suspect_);
        for (std::size_t i = 0; i < accesses_.size(); ++i) {
            for (Access& access : accesses_[i]) {
                access.marked = marking.marked(found_[i].place, access.op, access.writes);
            }
        }
    }

    void judge_suspects() {
        struct Asked {
            std::size_t suspect;
            std::uint32_t first, second;  ///< in its accesses
        };
        std::vector<Asked> asked;
        std::vector<OrderQuestion> questions;
        std::vector<bool> judged_roughly(accesses_.size(), false);
        for (std::size_t i = 0; i < accesses_.size(); ++i) {
            const auto& accesses = accesses_[i];
            if (accesses.size() > kMostAccesses || questions.size() > kMostQuestions) {
                judged_roughly[i] = true;
                continue;
            }
            for (std::uint32_t a = 0; a < accesses.size(); ++a) {
                for (std::uint32_t b = a + 1; b < accesses.size(); ++b) {
                    const bool conflict = (accesses[a].marked && accesses[b].writes) ||
                                          (accesses[b].marked && accesses[a].writes);
                    if (!conflict || accesses[a].op == accesses[b].op ||
                        same_chain(program_, accesses[a].op, accesses[b].op)) {
                        continue;
                    }
                    asked.push_back({i, a, b});
                    questions.push_back({accesses[a].op, accesses[b].op});
                }
            }
        }
        const std::vector<bool> answers = Reachability(program_, graph_).answers(questions);
        std::vector<bool> has_live(accesses_.size(), false);
        std::unordered_set<std::uint64_t> told;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            if (answers[i]) continue;
            const Access& first = accesses_[asked[i].suspect][asked[i].first];
            const Access& second = accesses_[asked[i].suspect][asked[i].second];
            has_live[asked[i].suspect] = true;
            if (!told.insert(key_of(first.op, second.op)).second) continue;
            live_.push_back(
                {first.op, second.op, found_[asked[i].suspect].place, first.writes, second.writes, true});
        }
        for (std::size_t i = 0; i < accesses_.size(); ++i) {
            if (has_live[i]) continue;
            Race race = found_[i];
            race.live = judged_roughly[i] && std::ranges::any_of(accesses_[i], &Access::marked);
            if (!told.insert(key_of(race.first, race.second)).second) continue;
            (race.live ? live_ : dead_).push_back(race);
        }
    }

    const plan::Program& program_;
    const ProgramGraph& graph_;
    const PlaceIndex& places_;
    const std::vector<bool>& needed_;
    std::unordered_set<std::uint64_t> unordered_;
    std::vector<std::uint32_t> suspect_;         ///< by place: its number among the suspects, 0: none
    std::vector<std::vector<Access>> accesses_;  ///< of each suspect, in the graph's order
    std::vector<Race> found_;                    ///< of each suspect, the first pair that is not ordered
    std::vector<Race> live_, dead_;
};

/// Whether an edge of the graph answers at once that `from` comes before `to`, as in plans that order their
/// buffers by explicit dependencies: such questions need no room. Where many edges come together it is not
/// looked for.
bool is_edge(const ProgramGraph& graph, plan::OpId from, plan::OpId to) {
    constexpr std::size_t kMostLookedAt = 64;
    const auto before = graph.before(to);
    return before.size() <= kMostLookedAt && std::ranges::find(before, from) != before.end();
}

/// The pairs of neighbouring accesses that are in different chains and that no edge orders.
std::vector<OrderQuestion> neighbours_of(const plan::Program& program, const ProgramGraph& graph,
                                         const PlaceIndex& places) {
    std::vector<OrderQuestion> questions;
    plan::OpId current = plan::kNoOp;
    std::size_t begin = 0;
    const auto close = [&] {
        const auto first = questions.begin() + static_cast<std::ptrdiff_t>(begin);
        std::ranges::sort(first, questions.end(), {}, &OrderQuestion::from);
        const auto rest = std::ranges::unique(first, questions.end(), {}, &OrderQuestion::from);
        questions.erase(rest.begin(), rest.end());
    };
    Neighbours(program, graph, places).sweep([&](plan::OpId from, plan::OpId to, std::uint32_t, bool, bool) {
        if (same_chain(program, from, to)) return;
        if (to != current) {
            close();
            begin = questions.size();
            current = to;
        }
        if (questions.size() > begin && questions.back().from == from) return;
        if (is_edge(graph, from, to)) return;
        questions.push_back({from, to});
    });
    close();
    return questions;
}

}  // namespace

std::vector<OrderQuestion> unordered_neighbours(const plan::Program& program, const ProgramGraph& graph,
                                                const PlaceIndex& places) {
    expects(!graph.has_cycle());
    std::vector<OrderQuestion> questions = neighbours_of(program, graph, places);
    if (questions.empty()) return {};
    const std::vector<bool> answers = Reachability(program, graph).answers(questions);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        if (!answers[i]) questions[kept++] = questions[i];
    }
    questions.resize(kept);
    questions.shrink_to_fit();
    return questions;
}

std::vector<Race> find_races(const plan::Program& program, const ProgramGraph& graph,
                             const PlaceIndex& places, const std::vector<OrderQuestion>& unordered,
                             const std::vector<bool>& needed) {
    expects(!graph.has_cycle());
    return RaceSearch(program, graph, places, unordered, needed).run();
}

}  // namespace tutti::verify
