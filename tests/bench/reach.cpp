// The rows are in reach.json, with the optima that others have proven and the best times of the prototype
// from which the encodings come. A figure here is never typed: whoever doubts one runs the command again.

#include "tests/bench/reach.hpp"

#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

namespace tutti::bench {
namespace {

constexpr Contestant kForAllGather[] = {{"HiGHS time-indexed", "highs", Encoding::TimeIndexed},
                                        {"CP-SAT time-indexed", "cpsat", Encoding::TimeIndexed},
                                        {"CP-SAT intervals", "cpsat", Encoding::Intervals},
                                        {"CP-SAT symmetric", "cpsat", Encoding::Symmetric},
                                        {"Z3 intervals", "z3", Encoding::Intervals},
                                        {"Z3 time-indexed", "z3", Encoding::TimeIndexed}};
constexpr Contestant kForAllToAll[] = {{"HiGHS time-indexed", "highs", Encoding::TimeIndexed},
                                       {"HiGHS symmetric", "highs", Encoding::Symmetric},
                                       {"CP-SAT symmetric", "cpsat", Encoding::Symmetric}};

struct Row {
    std::string name;
    Instance instance;
    std::optional<Ticks> optimum, composed;  ///< as known before
    std::optional<double> prototype;
};

std::vector<Row> rows_of(const io::Json& tables, const std::string& table, const std::string& only) {
    std::vector<Row> rows;
    for (const io::Json& json : tables.at(table)) {
        const std::string name = json.at("name");
        if (!only.empty() && (table + " " + name).find(only) == std::string::npos) continue;
        io::Json instance = json.at("instance");
        instance["tutti"] = io::kInstanceFormat;
        Row row{name, io::parse_instance(instance, name), {}, {}, {}};
        if (json.contains("optimum")) row.optimum = Ticks(json.at("optimum").get<std::int64_t>());
        if (json.contains("composed")) row.composed = Ticks(json.at("composed").get<std::int64_t>());
        if (json.contains("prototype")) row.prototype = json.at("prototype").get<double>();
        rows.push_back(std::move(row));
    }
    return rows;
}

/// "–" where there is no figure.
std::string seconds_text(const std::optional<double>& known) {
    if (!known) return "–";
    const double seconds = *known;
    return seconds < 1    ? fmt::format("{:.2f}", seconds)
           : seconds < 10 ? fmt::format("{:.1f}", seconds)
                          : fmt::format("{:.0f}", seconds);
}

/// One that died has no figures.
std::string spent(const Measured& m) {
    return seconds_text(m.trouble.empty() ? std::optional(m.seconds) : std::nullopt);
}

std::string ticks_text(const std::optional<Ticks>& ticks) {
    return ticks ? fmt::format("{}", ticks->count()) : "–";
}

std::string gap_text(const Measured& m) {
    if (!m.makespan || !m.bound) return "–";
    const auto gap =
        static_cast<double>((*m.makespan - *m.bound).count()) / static_cast<double>(m.bound->count());
    return fmt::format("{:.1f} %", 100 * gap);
}

void print_row(const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) fmt::print("| {} ", cell);
    fmt::print("|\n");
    std::fflush(stdout);  // whoever watches, or kills it, has what there is
}

void print_head(const std::string& title, const std::string& caption,
                const std::vector<std::string>& columns) {
    fmt::print("\n## {}\n\n{}\n\n", title, caption);
    print_row(columns);
    print_row(std::vector<std::string>(columns.size(), "---"));
}

class Reach {
  public:
    Reach(const ReachOptions& options, const io::Json& tables) : options_(options), tables_(tables) {}

    [[nodiscard]] bool right() const { return right_; }

    void encodings(const std::string& table, const std::string& title,
                   std::span<const Contestant> contestants) {
        const std::vector<Row> rows = rows_of(tables_, table, options_.only);
        if (rows.empty()) return;
        std::vector<std::string> columns{"", "optimum", "prototype's best"};
        for (const Contestant& who : contestants) columns.emplace_back(who.title);
        columns.insert(columns.end(), {"`auto`", "proof of `auto`"});
        print_head(
            title,
            fmt::format(
                "CPU seconds of each encoding alone, at most {:.0f}, without hints or greedy, from the best "
                "bound without a solver upwards; of `auto`, at most {:.0f}, greedy included. \"> 60\": not "
                "proven in that time; a solver may take a while to stop when told. The prototype's times "
                "were recorded on another machine.",
                options_.seconds_alone, options_.limits.seconds),
            columns);
        std::vector<std::string> slow;
        for (const Row& row : rows) {
            Limits limits = options_.limits;
            limits.seconds = options_.seconds_alone;
            std::vector<std::string> cells{row.name, ticks_text(row.optimum), seconds_text(row.prototype)};
            std::optional<double> best;
            for (const Contestant& who : contestants) {
                const Measured m = figures(row, who.title, [&] { return alone(row.instance, who, limits); });
                cells.push_back(cell(m, row));
                if (m.proven()) best = std::min(best.value_or(m.seconds), m.seconds);
            }
            const Measured m =
                figures(row, "auto", [&] { return automatically(row.instance, options_.limits); });
            cells.insert(cells.end(), {cell(m, row), m.who});
            print_row(cells);
            if (best && (!m.proven() || m.seconds > 2 * *best + 0.05)) slow.push_back(row.name);
        }
        fmt::print("\n`auto` took more than twice as long as the best encoding alone: {}.\n",
                   slow.empty() ? "nowhere" : fmt::format("{}", fmt::join(slow, "; ")));
    }

    void further() {
        const std::vector<Row> rows = rows_of(tables_, "further", options_.only);
        if (rows.empty()) return;
        print_head(
            "Further",
            fmt::format("`auto` alone, at most {:.0f} CPU seconds; in ticks.", options_.limits.seconds),
            {"", "makespan", "bound", "gap", "CPU s", "proof, or else who found it"});
        for (const Row& row : rows) {
            const Measured m =
                figures(row, "auto", [&] { return automatically(row.instance, options_.limits); });
            print_row({row.name, ticks_text(m.makespan), ticks_text(m.bound), gap_text(m), spent(m),
                       m.trouble.empty() ? m.who : m.trouble});
        }
    }

    void all_reduce() {
        const std::vector<Row> rows = rows_of(tables_, "all_reduce", options_.only);
        if (rows.empty()) return;
        print_head(
            "All-reduce: directly, or as reduce-scatter and all-gather",
            fmt::format(
                "One chunk for each rank. `auto`, at most {:.0f} CPU seconds, the composition included. "
                "Composed: the best reduce-scatter followed by the best all-gather, both proven.",
                options_.limits.seconds),
            {"", "composed", "direct", "bound", "", "CPU s", "proof, or else who found it"});
        for (const Row& row : rows) {
            const Measured m =
                figures(row, "auto", [&] { return automatically(row.instance, options_.limits); });
            if (row.composed && m.composed && *m.composed != *row.composed)
                complain(row, "the composition", *m.composed);
            print_row({row.name, ticks_text(m.composed), ticks_text(m.makespan), ticks_text(m.bound),
                       comparison(m), spent(m), m.trouble.empty() ? m.who : m.trouble});
        }
    }

  private:
    Measured figures(const Row& row, std::string_view who, const std::function<Measured()>& work) {
        Measured m = work();
        fmt::print(stderr, "{}, {}: {}{} {:.2f} s\n", row.name, who,
                   m.proven() ? fmt::format("{} proven", m.makespan->count())
                   : m.bound  ? fmt::format("not proven, at least {}", m.bound->count())
                              : std::string("nothing"),
                   m.trouble.empty() ? "," : " (" + m.trouble + "),", m.seconds);
        const bool below = row.optimum && m.makespan && *m.makespan < *row.optimum;
        const bool above = row.optimum && m.bound && *m.bound > *row.optimum;
        if (below || above) complain(row, who, below ? *m.makespan : *m.bound);
        return m;
    }

    void complain(const Row& row, std::string_view who, Ticks value) {
        right_ = false;
        fmt::print(stderr, "WRONG: {}, {}: {} contradicts what is known\n", row.name, who, value.count());
    }

    static std::string cell(const Measured& m, const Row& row) {
        if (!m.trouble.empty()) return m.trouble;
        if (!m.proven()) return "> " + seconds_text(m.seconds);
        if (row.optimum && *m.makespan != *row.optimum) return fmt::format("WRONG: {}", m.makespan->count());
        return seconds_text(m.seconds);
    }

    static std::string comparison(const Measured& m) {
        if (!m.composed || !m.makespan) return "–";
        if (*m.makespan < *m.composed)
            return m.proven() ? "direct is shorter" : "direct is shorter, not proven optimal";
        return m.proven() ? "the composition is optimal" : "not known";
    }

    const ReachOptions& options_;
    const io::Json& tables_;
    bool right_ = true;
};

}  // namespace

bool reach(const ReachOptions& options) {
    io::Source source(TUTTI_SOURCE_DIR "/tests/bench/reach.json");
    const io::Json tables = io::parse_json(source);
    Reach reach(options, tables);
    reach.encodings("all_gather", "All-gather, alpha 0, beta 1", kForAllGather);
    reach.encodings("all_to_all", "All-to-all", kForAllToAll);
    reach.further();
    reach.all_reduce();
    return reach.right();
}

}  // namespace tutti::bench
