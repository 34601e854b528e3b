// An executable as straight-line code: its steps in their order, its places as variables.
//
// 1. Reads go through copies: where x = a was copied and neither has changed, a is read. Plans that bring
//    everything into scratch first then read it where it was.
// 2. x = a + b; y = x + c becomes y = (a + b) + c, where nobody else reads that x and a and b have not
//    changed. The partial sums of a ring are then never written.
// 3. y = e; x = y becomes y, x = e, where nobody touches x in between. A result goes to everybody from
//    registers or the nearest cache.
// Before and after, what nobody reads before it is overwritten is not written.
//
// All-reduce of 8 ranks: a ring's 112 steps become 8, one for each chunk, and the 168 of all-pairs, which
// adds up in a tree, become 32.

#include "run/fusion.hpp"

#include "run/operand_numbers.hpp"
#include "run/waits.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti::run {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// Operands of a step: more of them do not gain anything.
constexpr std::size_t kMostSources = 32, kMostTargets = 32;

struct Line {
    std::vector<std::uint32_t> targets{}, sources{};  ///< numbers of places
    std::uint32_t task = 0;
    [[nodiscard]] bool gone() const { return targets.empty(); }
    [[nodiscard]] bool copies() const { return sources.size() == 1; }
};

/// Places by number.
class Places {
  public:
    explicit Places(const Executable& executable) : numbers_(executable) {
        for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory) {
            const ExecutableMemory& here = executable.memories[memory];
            for (std::uint32_t place = 0; place < here.places; ++place) {
                operands_.push_back({memory, place});
                kept_.push_back(here.buffer != plan::Buffer::Scratch);
            }
        }
        for (std::uint32_t place = 0; place < executable.temporaries; ++place)
            operands_.push_back({Operand::kTemporary, place});
        kept_.resize(operands_.size(), false);
    }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(operands_.size()); }
    [[nodiscard]] std::uint32_t number(const Operand& at) const {
        return static_cast<std::uint32_t>(numbers_.of(at));
    }
    [[nodiscard]] const Operand& operand(std::uint32_t place) const { return operands_[place]; }
    /// Whether somebody looks at it after the call.
    [[nodiscard]] const std::vector<bool>& kept() const { return kept_; }

  private:
    OperandNumbers numbers_;
    std::vector<Operand> operands_;
    std::vector<bool> kept_;
};

class Fusion {
  public:
    Fusion(const Executable& executable, bool sums)
        : executable_(executable), places_(executable), sums_(sums) {
        for (std::uint32_t task = 0; task < executable.tasks.size(); ++task) {
            const Task& at = executable.tasks[task];
            for (std::uint32_t step = at.first_step; step < at.first_step + at.steps; ++step) {
                Line& line = lines_.emplace_back();
                line.task = task;
                for (const Operand& to : executable.targets(executable.steps[step]))
                    line.targets.push_back(places_.number(to));
                for (const Operand& from : executable.sources(executable.steps[step]))
                    line.sources.push_back(places_.number(from));
            }
        }
    }

    [[nodiscard]] Executable run() && {
        read_through_copies();
        drop_unread();
        if (sums_) join_sums();
        hoist_copies();
        drop_unread();
        return made();
    }

  private:
    void read_through_copies() {
        // What a place holds: a version of some place, its own or that of which it is a copy.
        struct Held {
            std::uint32_t place, version;
        };
        std::vector<std::uint32_t> version(places_.count(), 0);
        std::vector<Held> held;
        for (std::uint32_t place = 0; place < places_.count(); ++place) held.push_back({place, 0});
        for (Line& line : lines_) {
            for (std::uint32_t& source : line.sources) {
                const Held& of = held[source];
                if (version[of.place] == of.version) source = of.place;
            }
            std::erase_if(line.targets, [&](std::uint32_t target) {
                return line.copies() && target == line.sources.front();
            });
            for (const std::uint32_t target : line.targets) {
                ++version[target];
                held[target] = line.copies() ? Held{line.sources.front(), version[line.sources.front()]}
                                             : Held{target, version[target]};
            }
        }
    }

    void drop_unread() {
        std::vector<bool> read = places_.kept();
        for (std::size_t at = lines_.size(); at-- > 0;) {
            Line& line = lines_[at];
            std::erase_if(line.targets, [&](std::uint32_t target) { return !read[target]; });
            for (const std::uint32_t target : line.targets) read[target] = false;
            if (line.gone()) continue;
            for (const std::uint32_t source : line.sources) read[source] = true;
        }
    }

    /// A value of a place: what one line writes.
    struct Value {
        std::uint32_t line = kNone, before = kNone;  ///< before: the place's value until then
        std::uint32_t readers = 0;
        bool overwritten = false;
    };

    /// Numbers the values that lines read and write, in `read_` and `written_`, parallel to the operands.
    void number_values() {
        values_.assign(places_.count(), {});
        std::vector<std::uint32_t> now(places_.count());
        for (std::uint32_t place = 0; place < places_.count(); ++place) now[place] = place;
        read_.assign(lines_.size(), {});
        written_.assign(lines_.size(), {});
        for (std::uint32_t at = 0; at < lines_.size(); ++at) {
            if (lines_[at].gone()) continue;
            for (const std::uint32_t source : lines_[at].sources) {
                read_[at].push_back(now[source]);
                ++values_[now[source]].readers;
            }
            for (const std::uint32_t target : lines_[at].targets) {
                values_[now[target]].overwritten = true;
                values_.push_back({at, now[target]});
                now[target] = static_cast<std::uint32_t>(values_.size() - 1);
                written_[at].push_back(now[target]);
            }
        }
    }

    void join_sums() {
        number_values();
        std::vector<std::uint32_t> now(places_.count());
        for (std::uint32_t place = 0; place < places_.count(); ++place) now[place] = place;
        for (std::uint32_t at = 0; at < lines_.size(); ++at) {
            Line& line = lines_[at];
            if (line.gone()) continue;
            const std::uint32_t sum = line.sources.front();
            if (!line.copies() && can_join(at, now)) {
                const std::uint32_t value = read_[at].front(), first = values_[value].line;
                now[sum] = values_[value].before;
                line.sources.erase(line.sources.begin());
                read_[at].erase(read_[at].begin());
                line.sources.insert(line.sources.begin(), lines_[first].sources.begin(),
                                    lines_[first].sources.end());
                read_[at].insert(read_[at].begin(), read_[first].begin(), read_[first].end());
                lines_[first].targets.clear();
            }
            for (std::size_t t = 0; t < line.targets.size(); ++t) now[line.targets[t]] = written_[at][t];
        }
    }

    /// Whether the line's first source may be replaced by what it is the sum of.
    [[nodiscard]] bool can_join(std::uint32_t at, const std::vector<std::uint32_t>& now) const {
        const Line& line = lines_[at];
        const std::uint32_t place = line.sources.front(), value = read_[at].front();
        const Value& sum = values_[value];
        if (sum.line == kNone || sum.readers != 1) return false;
        if (places_.kept()[place] && !sum.overwritten) return false;
        const Line& first = lines_[sum.line];
        if (first.targets.size() != 1 || first.copies()) return false;
        if (first.sources.size() + line.sources.size() - 1 > kMostSources) return false;
        for (std::size_t s = 0; s < first.sources.size(); ++s) {
            const std::uint32_t source = first.sources[s], then = read_[sum.line][s];
            // Its own place gets back the value that it had.
            const bool unchanged = source == place ? then == sum.before : now[source] == then;
            if (!unchanged) return false;
        }
        return true;
    }

    void hoist_copies() {
        // By place, lines + 1: who wrote it last, and who read or wrote it last.
        std::vector<std::uint32_t> written(places_.count(), 0), touched(places_.count(), 0);
        for (std::uint32_t at = 0; at < lines_.size(); ++at) {
            Line& line = lines_[at];
            if (line.gone()) continue;
            const std::uint32_t source = line.sources.front();
            if (line.copies() && written[source] > 0) {
                Line& maker = lines_[written[source] - 1];
                std::erase_if(line.targets, [&](std::uint32_t target) {
                    if (maker.targets.size() >= kMostTargets) return false;
                    if (touched[target] > written[source] || written[target] >= written[source]) return false;
                    maker.targets.push_back(target);
                    written[target] = touched[target] = written[source];
                    return true;
                });
                if (line.gone()) continue;
            }
            for (const std::uint32_t from : line.sources) touched[from] = at + 1;
            for (const std::uint32_t to : line.targets) written[to] = touched[to] = at + 1;
        }
    }

    [[nodiscard]] Executable made() {
        Executable made;
        made.memories = executable_.memories;
        made.outputs = executable_.outputs;
        made.output_places = executable_.output_places;
        made.postcondition = executable_.postcondition;
        made.in_place = executable_.in_place;
        std::vector<std::uint32_t> stream_of(executable_.streams.size(), kNone);
        std::vector<std::uint32_t> temporary_of(executable_.temporaries, kNone);
        std::uint32_t task = kNone;  // the one that lines are added to
        for (const Line& line : lines_) {
            if (line.gone()) continue;
            if (task != line.task) {
                task = line.task;
                const Task& old = executable_.tasks[task];
                std::uint32_t& stream = stream_of[old.stream];
                if (stream == kNone) {
                    stream = static_cast<std::uint32_t>(made.streams.size());
                    made.streams.push_back({executable_.streams[old.stream].gpu, {}});
                }
                made.streams[stream].tasks.push_back(static_cast<std::uint32_t>(made.tasks.size()));
                made.tasks.push_back(
                    {stream, static_cast<std::uint32_t>(made.steps.size()), 0, 0, 0, old.op});
            }
            ++made.tasks.back().steps;
            add_step(line, made, temporary_of);
        }
        set_data_waits(made);
        return made;
    }

    void add_step(const Line& line, Executable& made, std::vector<std::uint32_t>& temporary_of) const {
        const auto step = static_cast<std::uint32_t>(made.steps.size());
        const auto task = static_cast<std::uint32_t>(made.tasks.size() - 1);
        made.steps.push_back({static_cast<std::uint32_t>(made.operands.size()),
                              static_cast<std::uint16_t>(line.targets.size()),
                              static_cast<std::uint16_t>(line.sources.size())});
        const auto add = [&](std::uint32_t place, bool writes) {
            Operand at = places_.operand(place);
            if (at.temporary()) {
                std::uint32_t& number = temporary_of[at.place];
                if (number == kNone) {
                    number = made.temporaries++;
                    made.lifetimes.emplace_back();
                    made.last_readers.push_back(task);
                }
                at.place = number;
                if (writes) made.lifetimes[number].written = step;
                made.lifetimes[number].last_read = step;
                made.last_readers[number] = task;
            }
            made.operands.push_back(at);
        };
        for (const std::uint32_t target : line.targets) add(target, true);
        for (const std::uint32_t source : line.sources) add(source, false);
    }

    const Executable& executable_;
    Places places_;
    bool sums_;
    std::vector<Line> lines_;
    std::vector<Value> values_;
    std::vector<std::vector<std::uint32_t>> read_, written_;
};

/// Operands that the busiest rank's tasks read or write.
[[nodiscard]] std::uint64_t most_of_a_rank(const Executable& executable) {
    std::vector<std::uint64_t> by_rank(static_cast<std::size_t>(executable.ranks()), 0);
    for (const Task& task : executable.tasks) {
        std::uint64_t& sum = by_rank[executable.streams[task.stream].gpu.index()];
        for (std::uint32_t step = task.first_step; step < task.first_step + task.steps; ++step)
            sum += std::uint64_t{executable.steps[step].targets} + executable.steps[step].sources;
    }
    return by_rank.empty() ? 0 : *std::ranges::max_element(by_rank);
}

}  // namespace

Executable fused(const Executable& executable, ElementType type) {
    const bool rounds = type == ElementType::F16 || type == ElementType::BF16;
    return Fusion(executable, !rounds).run();
}

Executable fused_if_balanced(const Executable& executable, ElementType type) {
    Executable made = fused(executable, type);
    return most_of_a_rank(made) <= most_of_a_rank(executable) ? made : executable;
}

}  // namespace tutti::run
