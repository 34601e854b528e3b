#include "batch/progress.hpp"

#include "text/format.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <vector>

using namespace tutti::batch;
using namespace std::chrono_literals;

namespace {

/// What a person sees: lines of text after carriage returns, erasures and moves of the cursor.
class FakeTerminal {
  public:
    [[nodiscard]] ProgressView view(ProgressView::Kind kind) {
        return {
            kind, &output_, [this] { return columns; }, [this] { return now; }, {}, [this] { return rows; }};
    }
    [[nodiscard]] std::vector<std::string> screen() const {
        std::vector<std::string> lines(1);
        std::size_t row = 0, cursor = 0;
        const std::string text = out_.str();
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\r') {
                cursor = 0;
            } else if (text.compare(i, 3, "\033[K") == 0) {
                lines[row].resize(cursor);
                i += 2;
            } else if (text.compare(i, 3, "\033[J") == 0) {
                lines[row].resize(std::min(cursor, lines[row].size()));
                lines.resize(row + 1);
                i += 2;
            } else if (text.compare(i, 2, "\033[") == 0) {
                const std::size_t up = text.find('A', i);
                row -= std::stoul(text.substr(i + 2, up - i - 2));
                i = up;
            } else if (text[i] == '\n') {
                cursor = 0;
                if (++row == lines.size()) lines.emplace_back();
            } else {
                if (cursor == lines[row].size()) lines[row] += ' ';
                lines[row][cursor++] = text[i];
            }
        }
        return lines;
    }
    /// The last line as it stands.
    [[nodiscard]] std::string line() const { return screen().back(); }
    [[nodiscard]] std::string all() const { return out_.str(); }

    std::size_t columns = 61, rows = 24;
    ProgressView::Clock::time_point now{};

  private:
    std::ostringstream out_;
    tutti::text::Output output_{out_};
};

}  // namespace

TEST_CASE("the bar grows with what is done") {
    FakeTerminal terminal;
    Progress progress(terminal.view(ProgressView::Kind::Bar), 4);
    CHECK(terminal.line() == "[....................] 0/4, 0 s");
    terminal.now += 1s;
    progress.working_on("ring/ring8");
    CHECK(terminal.line() == "[....................] 0/4, 1 s  ring/ring8");
    terminal.now += 1s;
    progress.done(false);
    terminal.now += 60s;
    progress.done(true);
    CHECK(terminal.line() == "[##########..........] 2/4, 1 failed, 1:02 min  ring/ring8");
}

TEST_CASE("the bar is drawn at most ten times a second, but always at the end") {
    FakeTerminal terminal;
    Progress progress(terminal.view(ProgressView::Kind::Bar), 2);
    const std::string before = terminal.all();
    terminal.now += 50ms;
    progress.done(false);
    CHECK(terminal.all() == before);
    terminal.now += 1ms;
    progress.done(false);
    CHECK(terminal.line() == "[####################] 2/2, 0 s");
}

TEST_CASE("the elapsed time is updated while nothing happens") {
    FakeTerminal terminal;
    Progress progress(terminal.view(ProgressView::Kind::Bar), 1);
    terminal.now += 2h + 5min;
    progress.tick();
    CHECK(terminal.line() == "[....................] 0/1, 2:05 h");
}

TEST_CASE("the bar never fills the last column, however long the name or narrow the window") {
    FakeTerminal terminal;
    for (const std::size_t columns : {0U, 1U, 2U, 10U, 40U, 200U}) {
        terminal.columns = columns;
        Progress progress(terminal.view(ProgressView::Kind::Bar), 3);
        terminal.now += 1s;
        progress.working_on(std::string(300, 'x'));
        CHECK(terminal.line().size() <= std::max<std::size_t>(columns, 2) - 1);
    }
}

TEST_CASE("a name is cut between characters, not within one") {
    FakeTerminal terminal;
    terminal.columns = 31;
    Progress progress(terminal.view(ProgressView::Kind::Bar), 1);
    terminal.now += 1s;
    progress.working_on("übergrößenträger");
    const std::string line = terminal.line();
    CHECK(line.starts_with("[..........] 0/1, 1 s  überg"));
    CHECK((static_cast<unsigned char>(line.back()) & 0xC0U) != 0xC0U);
}

TEST_CASE("the bar leaves a clean line behind") {
    FakeTerminal terminal;
    { const Progress progress(terminal.view(ProgressView::Kind::Bar), 4); }
    CHECK(terminal.line().empty());
}

TEST_CASE("without a terminal there is a plain line every five seconds") {
    FakeTerminal terminal;
    Progress progress(terminal.view(ProgressView::Kind::Lines), 3);
    progress.working_on("a/b");
    terminal.now += 4s;
    progress.done(false);
    CHECK(terminal.all().empty());
    terminal.now += 1s;
    progress.tick();
    CHECK(terminal.all() == "1 of 3 done, 5 s; now a/b\n");
    terminal.now += 4s;
    progress.done(true);
    terminal.now += 1s;
    progress.working_on("c");
    CHECK(terminal.all() == "1 of 3 done, 5 s; now a/b\n2 of 3 done, 1 failed, 10 s; now c\n");
}

TEST_CASE("a quiet progress view prints nothing") {
    FakeTerminal terminal;
    {
        Progress progress(terminal.view(ProgressView::Kind::Silent), 1);
        terminal.now += 100s;
        progress.working_on("x");
        progress.done(true);
    }
    CHECK(terminal.all().empty());
}

TEST_CASE("running tasks are listed below the bar, with their best results") {
    FakeTerminal terminal;
    terminal.columns = 91;
    {
        Progress progress(terminal.view(ProgressView::Kind::Bar), 4);
        progress.begin(0, "ring/a");
        progress.begin(1, "ring/b");
        progress.found(1, tutti::Ticks(42), tutti::Ticks(40));
        terminal.now += 10s;
        progress.tick();
        CHECK(terminal.screen() ==
              std::vector<std::string>{
                  "[..............................] 0/4, 2 running, 10 s",
                  "  ring/a                                        10 s",
                  "  ring/b                                        10 s  makespan 42, bound 40, gap 5.0 %"});
        terminal.now += 10s;
        progress.end(0, "it crashed");
        CHECK(terminal.screen() ==
              std::vector<std::string>{
                  "[#######.......................] 1/4, 1 failed, 1 running, 20 s, about 1:00 min left",
                  "  ring/b                                        20 s  makespan 42, bound 40, gap 5.0 %"});
    }
    CHECK(terminal.screen() == std::vector<std::string>{""});
}

TEST_CASE("a narrow window loses whole figures, never the end of a number") {
    for (std::size_t columns = 2; columns < 100; ++columns) {
        CAPTURE(columns);
        FakeTerminal terminal;
        terminal.columns = columns;
        Progress progress(terminal.view(ProgressView::Kind::Bar), 4000);
        progress.begin(0, "ring/a");
        progress.found(0, tutti::Ticks(488444960), tutti::Ticks(488444000));
        terminal.now += 10s;
        progress.tick();
        const auto ends_with_all = [](const std::string& line, const std::string& before,
                                      const std::string& number) {
            const std::size_t at = line.find(before);
            if (at == line.npos) return true;
            return line.compare(at + before.size(), number.size(), number) == 0;
        };
        CHECK(ends_with_all(terminal.screen().front(), "] 0/", "4000"));
        CHECK(ends_with_all(terminal.line(), "makespan ", "488444960"));
        CHECK(ends_with_all(terminal.line(), "bound ", "488444000"));
        CHECK(ends_with_all(terminal.line(), "gap ", "<0.1 %"));
        for (const std::string& line : terminal.screen()) CHECK(tutti::text::width_of(line) < columns);
    }
}

TEST_CASE("characters that take two columns do not break the lines") {
    FakeTerminal terminal;
    terminal.columns = 40;
    Progress progress(terminal.view(ProgressView::Kind::Bar), 1);
    progress.begin(
        0,
        "\u4e16\u754c\u4e16\u754c\u4e16\u754c\u4e16\u754c\u4e16\u754c\u4e16\u754c\u4e16\u754c\u4e16\u754c");
    terminal.now += 1s;
    progress.tick();
    CHECK(tutti::text::width_of("\u4e16\u754c") == 4);
    CHECK(tutti::text::width_of(terminal.line()) < 40);
}

TEST_CASE("no more tasks are shown than there are lines") {
    FakeTerminal terminal;
    terminal.rows = 4;
    Progress progress(terminal.view(ProgressView::Kind::Bar), 100);
    for (std::size_t i = 0; i < 50; ++i) progress.begin(i, "task " + std::to_string(i));
    terminal.now += 1s;
    progress.tick();
    CHECK(terminal.screen().size() == 3);
}

TEST_CASE("tasks of an earlier run count as done but not for the remaining time") {
    FakeTerminal terminal;
    terminal.columns = 91;
    Progress progress(terminal.view(ProgressView::Kind::Bar), 10);
    progress.kept(8, 2);
    progress.begin(8, "a");
    progress.begin(9, "b");
    terminal.now += 10s;
    progress.end(8, "");
    CHECK(terminal.screen().front() ==
          "[###########################...] 9/10, 2 failed, 1 running, 10 s, about 10 s left");
}

TEST_CASE("in a log each failure is a line as it happens") {
    FakeTerminal terminal;
    Progress progress(terminal.view(ProgressView::Kind::Lines), 3);
    progress.begin(0, "x/a");
    progress.begin(1, "x/b");
    progress.begin(2, "x/c");
    progress.end(0, "");
    progress.end(1, "it crashed");
    CHECK(terminal.all() == "failed: x/b: it crashed\n");
    terminal.now += 6s;
    progress.tick();
    CHECK(terminal.all() == "failed: x/b: it crashed\n2 of 3 done, 1 failed, 6 s, about 3 s left; now x/c\n");
}
