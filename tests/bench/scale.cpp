// Rows are in scale.json, with what is recorded of the peers. Each figure is one run of the command `tutti`
// as a process of its own, on one core: reading the instance, bounds, synthesis, verification and the writing
// of the schedule are all in it. A short run is repeated and the least processor time counts, because on a
// machine that others use too the caches are not ours. A figure here is never typed.

#include "tests/bench/scale.hpp"

#include "source_dir.hpp"
#include "tests/bench/process.hpp"
#include "tests/bench/scale_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace tutti::bench {
namespace {

constexpr double kShort = 1;  ///< CPU seconds, below which a run is made thrice
constexpr int kRepeats = 3;

/// What one or several runs of `tutti synth` came to.
struct Figures {
    std::string trouble;  ///< why there are none
    double makespan = 0, bound = 0;
    std::string bound_kind;
    double cpu_seconds = 0, wall_seconds = 0;
    std::size_t peak_bytes = 0;
    std::uint64_t sends = 0;
    bool verified = true;
};

std::string seconds_text(double seconds) {
    return seconds < 0.1   ? fmt::format("{:.3f}", seconds)
           : seconds < 1   ? fmt::format("{:.2f}", seconds)
           : seconds < 100 ? fmt::format("{:.1f}", seconds)
                           : fmt::format("{:.0f}", seconds);
}

std::string times_text(double ratio) {
    return ratio < 10 ? fmt::format("{:.1f}", ratio) : fmt::format("{:.0f}", ratio);
}

std::string mebibytes(std::size_t bytes) { return fmt::format("{}", (bytes >> 20) + 1); }

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

io::Json json_of(const std::string& text) {
    io::Source source = io::Source::of_text(text, "what tutti says");
    return io::parse_json(source);
}

/// The line through the logarithms: y = x^slope * something.
double slope_of(const std::vector<std::pair<double, double>>& points) {
    double x_mean = 0, y_mean = 0, above = 0, below = 0;
    for (const auto& [x, y] : points) {
        x_mean += std::log(x) / static_cast<double>(points.size());
        y_mean += std::log(y) / static_cast<double>(points.size());
    }
    for (const auto& [x, y] : points) {
        above += (std::log(x) - x_mean) * (std::log(y) - y_mean);
        below += (std::log(x) - x_mean) * (std::log(x) - x_mean);
    }
    return above / below;
}

class Scale {
  public:
    Scale(const ScaleOptions& options, const io::Json& tables) : options_(options), tables_(tables) {}

    [[nodiscard]] bool right() const { return right_; }

    void compared(const std::string& table, const std::string& title, const std::string& caption) {
        const auto rows = scale_rows(tables_, table, options_.only);
        if (rows.empty()) return;
        const bool live = !options_.tacos.empty() && table == "peer";
        std::vector<std::string> columns{"",           "unit",     "bound",       "peer",   "ours",
                                         "over bound", "peer s",   "our CPU s",   "wall s", "peak MiB",
                                         "sends",      "verified", "times faster"};
        if (live) columns.insert(columns.end(), {"live peer", "its CPU s", "times faster, live"});
        print_head(title, caption, columns);
        for (const ScaleRow& row : rows) {
            const Figures ours = measured(row);
            std::vector<std::string> cells{row.name, row.unit()};
            const auto add = [&](const std::string& cell) { cells.push_back(cell); };
            const bool ok = ours.trouble.empty();
            add(ok ? row.text(ours.bound) : "–");
            add(row.recorded && row.recorded->makespan ? fmt::format("{:g}", *row.recorded->makespan) : "–");
            add(ok ? row.text(ours.makespan) : ours.trouble);
            add(ok ? over_bound(ours) : "–");
            add(!row.recorded                        ? "–"
                : row.recorded->source == "measured" ? seconds_text(row.recorded->cpu_seconds)
                                                     : row.recorded->source + " (" + row.recorded->who + ")");
            add_costs(ours, cells);
            add(ok && row.recorded ? times_text(row.recorded->cpu_seconds / ours.cpu_seconds) : "–");
            if (live) add_live(row, ours, cells);
            print_row(cells);
        }
    }

    void groups() {
        const auto rows = scale_rows(tables_, "groups", options_.only);
        if (rows.empty()) return;
        print_head("Process groups: all-gathers on an 8x8x8 torus, unit times",
                   "NPUs drawn by lot; others may relay unless it says members only. Goal: at most.",
                   {"", "bound", "goal", "ours", "our CPU s", "wall s", "peak MiB", "sends", "verified"});
        for (const ScaleRow& row : rows) {
            const Figures ours = measured(row);
            const bool ok = ours.trouble.empty();
            std::vector<std::string> cells{row.name, ok ? row.text(ours.bound) : "–",
                                           row.goal ? fmt::format("{}", *row.goal) : "–",
                                           ok ? row.text(ours.makespan) : ours.trouble};
            add_costs(ours, cells);
            print_row(cells);
        }
    }

    void growth() {
        const auto rows = scale_rows(tables_, "growth", options_.only);
        if (rows.empty()) return;
        print_head("Growth: all-gather on meshes of odd size, which no symmetry helps, unit times",
                   "The whole command, and `tutti verify` on the stream that it wrote (reading included).",
                   {"", "sends", "ours", "over bound", "our CPU s", "ns per send", "peak MiB", "stream MiB",
                    "verify CPU s", "million sends/s", "verify MiB", "verdict"});
        std::vector<std::pair<double, double>> times, memories;
        std::vector<double> per_send;
        for (const ScaleRow& row : rows) {
            const Figures ours = measured(row);
            if (!ours.trouble.empty()) {
                print_row({row.name, "–", ours.trouble, "–", "–", "–", "–", "–", "–", "–", "–", "–"});
                continue;
            }
            const auto sends = static_cast<double>(ours.sends);
            times.emplace_back(sends, ours.cpu_seconds);
            memories.emplace_back(sends, static_cast<double>(ours.peak_bytes));
            per_send.push_back(1e9 * ours.cpu_seconds / sends);
            std::vector<std::string> cells{row.name,
                                           fmt::format("{}", ours.sends),
                                           row.text(ours.makespan),
                                           over_bound(ours),
                                           seconds_text(ours.cpu_seconds),
                                           fmt::format("{:.0f}", per_send.back()),
                                           mebibytes(ours.peak_bytes)};
            add_verification(row, sends, cells);
            print_row(cells);
        }
        if (times.size() < 2) return;
        fmt::print(
            "\nTime grows as sends^{:.2f}, memory as sends^{:.2f} (fit through all rows); time per send "
            "from {:.0f} to {:.0f} ns, {} times.\n",
            slope_of(times), slope_of(memories), *std::ranges::min_element(per_send),
            *std::ranges::max_element(per_send),
            times_text(*std::ranges::max_element(per_send) / *std::ranges::min_element(per_send)));
    }

  private:
    [[nodiscard]] static std::string over_bound(const Figures& f) {
        if (f.makespan <= f.bound) return "optimal";
        return fmt::format("+{:.1f} %", 100 * (f.makespan / f.bound - 1));
    }

    static void add_costs(const Figures& f, std::vector<std::string>& cells) {
        if (!f.trouble.empty()) {
            cells.insert(cells.end(), {seconds_text(f.cpu_seconds), seconds_text(f.wall_seconds),
                                       mebibytes(f.peak_bytes), "–", "–"});
            return;
        }
        cells.insert(cells.end(),
                     {seconds_text(f.cpu_seconds), seconds_text(f.wall_seconds), mebibytes(f.peak_bytes),
                      fmt::format("{}", f.sends), f.verified ? "yes" : "NO"});
    }

    [[nodiscard]] ProcessLimits limits(const ScaleRow& row) const {
        return {std::max(options_.seconds, row.seconds.value_or(0)), ProcessLimits{}.bytes};
    }

    /// All instances of the row, their makespans added up.
    Figures measured(const ScaleRow& row) {
        Figures all;
        for (const io::Json& instance : row.instances) {
            const Figures one = measured(row, instance);
            all.makespan += one.makespan;
            all.bound += one.bound;
            all.bound_kind = one.bound_kind;
            all.cpu_seconds += one.cpu_seconds;
            all.wall_seconds += one.wall_seconds;
            all.peak_bytes = std::max(all.peak_bytes, one.peak_bytes);
            all.sends += one.sends;
            all.verified = all.verified && one.verified;
            all.trouble = one.trouble;
            if (!one.trouble.empty()) break;
        }
        right_ = right_ && all.verified;
        fmt::print(stderr, "{}: {}, {:.3f} s\n", row.name,
                   all.trouble.empty() ? fmt::format("{} {}, bound {} ({})", row.text(all.makespan),
                                                     row.unit(), row.text(all.bound), all.bound_kind)
                                       : all.trouble,
                   all.cpu_seconds);
        return all;
    }

    Figures measured(const ScaleRow& row, const io::Json& instance) {
        const std::string file = scratch_.write(instance, "instance.json");
        const std::vector<std::string> command{TUTTI_COMMAND,   "synth",  file, "--method",
                                               options_.method, "--json", "-o", schedule()};
        Figures f;
        for (int turn = 0; turn < kRepeats; ++turn) {
            const ProcessEnd end = run_process(command, limits(row));
            if (turn > 0 && end.cpu_seconds >= f.cpu_seconds) continue;
            f.cpu_seconds = end.cpu_seconds;
            f.wall_seconds = end.wall_seconds;
            f.peak_bytes = end.peak_bytes;
            if (end.code != 0) {
                f.trouble = end.out_of_time ? fmt::format("not done in {:.0f} s", limits(row).cpu_seconds)
                            : end.code == 4 ? "infeasible"
                                            : fmt::format("exit {}: {}", end.code, end.last_words);
                return f;
            }
            const io::Json said = json_of(end.out);
            f.makespan = said.at("makespan").get<double>();
            f.bound = said.at("lower_bound").get<double>();
            f.bound_kind = said.at("bound_kind");
            f.sends = said.at("sends");
            f.verified = said.at("verified");
            if (end.cpu_seconds > kShort) break;
        }
        return f;
    }

    void add_verification(const ScaleRow& row, double sends, std::vector<std::string>& cells) {
        ProcessEnd best;
        for (int turn = 0; turn < kRepeats; ++turn) {
            ProcessEnd end = run_process(
                {TUTTI_COMMAND, "verify", scratch_.path("instance.json"), schedule(), "--json"}, limits(row));
            if (turn == 0 || end.cpu_seconds < best.cpu_seconds) best = std::move(end);
            if (best.cpu_seconds > kShort) break;
        }
        const bool valid = best.code == 0;
        right_ = right_ && best.code != 1;
        std::error_code unknown;
        const auto bytes = std::filesystem::file_size(schedule(), unknown);
        cells.insert(cells.end(),
                     {mebibytes(unknown ? 0 : bytes), seconds_text(best.cpu_seconds),
                      fmt::format("{:.1f}", sends / best.cpu_seconds / 1e6), mebibytes(best.peak_bytes),
                      valid              ? "valid"
                      : best.out_of_time ? "not done"
                                         : fmt::format("exit {}", best.code)});
    }

    /// The peer's program, asked in the same run.
    void add_live(const ScaleRow& row, const Figures& ours, std::vector<std::string>& cells) const {
        if (row.live.empty()) {
            cells.insert(cells.end(), {"–", "–", "–"});
            return;
        }
        std::vector<std::string> command{options_.tacos};
        command.insert(command.end(), row.live.begin(), row.live.end());
        ProcessLimits most = limits(row);
        if (row.recorded) most.cpu_seconds = std::max(most.cpu_seconds, 3 * row.recorded->cpu_seconds);
        const ProcessEnd end = run_process(command, most);
        double time_us = 0, seconds = 0;
        if (end.code != 0 || !(std::istringstream(end.out) >> time_us >> seconds)) {
            const std::string why = end.out_of_time ? fmt::format("not done in {:.0f} s", most.cpu_seconds)
                                                    : fmt::format("exit {}: {}", end.code, end.last_words);
            cells.insert(cells.end(), {why, "–", "–"});
            return;
        }
        const bool ok = ours.trouble.empty();
        cells.insert(cells.end(), {row.text(time_us * 1e6), seconds_text(seconds),
                                   ok ? times_text(seconds / ours.cpu_seconds) : "–"});
        fmt::print(stderr, "    peer, live: {} {}, {:.3f} s\n", row.text(time_us * 1e6), row.unit(), seconds);
    }

    [[nodiscard]] std::string schedule() const { return scratch_.path("schedule.tsch"); }

    const ScaleOptions& options_;
    const io::Json& tables_;
    ScratchFolder scratch_;
    bool right_ = true;
};

}  // namespace

bool scale(const ScaleOptions& options) {
    io::Source source(TUTTI_SOURCE_DIR "/tests/bench/scale.json");
    const io::Json tables = io::parse_json(source);
    Scale scale(options, tables);
    scale.compared("peer", "All-gather, beside TACOS",
                   "1 MiB chunks, alpha 0.5 us, links of 50 GiB/s or as the name says, `busy: alpha+beta`; a "
                   "step is 20.03125 us. Peer: the public code of TACOS v1.3.0 on one core, recorded; its "
                   "causal figure where the reported one is no feasible schedule. Ours: the whole command, "
                   "verification included.");
    scale.compared("papers", "What papers claim",
                   "Peer: what the paper says, on its authors' machine and network.");
    scale.groups();
    scale.growth();
    scale.compared("switches", "Switches", "Unit times but where the name says otherwise.");
    scale.compared("further", "Held out", "Other sizes, other speeds, failed links, other collectives.");
    return scale.right();
}

}  // namespace tutti::bench
