#include "batch/single_task.hpp"

#include "app/solve.hpp"
#include "batch/batch.hpp"
#include "batch/result_line.hpp"
#include "batch/results_folder.hpp"
#include "batch/row_files.hpp"
#include "batch/task_locks.hpp"
#include "core/error.hpp"
#include "io/found_results.hpp"
#include "tests/batch/scratch.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>

using namespace tutti;
using namespace tutti::batch;

namespace {

namespace fs = std::filesystem;
using Keys = std::vector<std::string>;

constexpr const char* kRing =
    R"({"tutti": 1, "topology": {"generate": {"kind": "ring", "npus": 4}}, "collectives": [{"kind": "all_gather"}]})";

io::ResultLine refuse_work(const Task&, const std::string&, const Limits&, const TaskListener&) {
    std::abort();
}

/// A folder all/ of instances, and out/ for their results.
struct Folder {
    test::ScratchTree scratch;

    explicit Folder(const Keys& names = {"a", "b"}) {
        for (const std::string& name : names) scratch.put("all/x/" + name + ".json", kRing);
    }
    [[nodiscard]] std::string out() const { return scratch.at("out"); }
    [[nodiscard]] Settings settings(Settings settings) const {
        settings.results = out();
        settings.run.instances = {scratch.at("all")};
        return settings;
    }
    [[nodiscard]] Keys list(Settings how = {}) const {
        how = settings(how);
        Keys keys;
        (void)list_tasks(Plan(expand(how.run.instances), how.run.matrix), how, [&](const std::string& key) {
            keys.push_back(key);
            return true;
        });
        return keys;
    }
    [[nodiscard]] SingleTask task(const std::string& key, const Work& work = app::solve) const {
        return run_single_task(out(), key, work, {});
    }
    /// The run that goes on with what is there.
    [[nodiscard]] Outcome resume(Settings how = {}, const Work& work = app::solve) const {
        how.resume = true;
        how = settings(how);
        Executor executor({how.results, how.run.limits, 2, work});
        return run(Plan(expand(how.run.instances), how.run.matrix), how, executor, {});
    }
};

/// Rows by key, without what differs between two runs of the same task.
std::map<std::string, io::ResultLine> rows_of(const std::string& folder) {
    std::map<std::string, io::ResultLine> rows;
    for (io::ResultLine line : io::find_results(folder).lines) {
        line.seconds = 0;
        line.candidates.clear();
        line.peak_memory_bytes.reset();
        line.finished = line.host = "";
        line.schedule = fs::path(line.schedule).filename().string();
        rows.emplace(line.key, line);
    }
    return rows;
}

/// A place where two processes meet: whoever comes first waits for the other.
class Meeting {
  public:
    explicit Meeting(const test::ScratchTree& scratch, const std::string& name) : path_(scratch.at(name)) {
        REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
    }
    void come() const { meet(O_WRONLY); }
    void wait() const { meet(O_RDONLY); }

  private:
    void meet(int how) const { ::close(::open(path_.c_str(), how)); }
    std::string path_;
};

/// Another process that does `work` and ends; it is killed at the end of its scope.
class Other {
  public:
    explicit Other(const std::function<void()>& work) : pid_(::fork()) {
        if (pid_ != 0) return;
        work();
        ::_exit(0);
    }
    Other(const Other&) = delete;
    Other& operator=(const Other&) = delete;
    ~Other() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

  private:
    pid_t pid_;
};

[[noreturn]] void sleep_for_ever() {
    for (;;) ::pause();
}

/// Locks a task in another process, for as long as that is there.
std::unique_ptr<Other> locked_elsewhere(const Folder& folder, const std::string& key) {
    const Meeting locked(folder.scratch, "locked");
    auto other = std::make_unique<Other>([&] {
        const TaskLocks locks(folder.out());
        if (locks.lock(key)) locked.come();
        sleep_for_ever();
    });
    locked.wait();
    return other;
}

}  // namespace

TEST_CASE("tasks that are run one by one, in any order and twice, give the rows of one run") {
    const Folder folder({"a", "b", "c d", "e=f"});
    folder.scratch.put("all/x/broken.json", "{");
    Settings seeds;
    seeds.run.matrix.seeds = {1, 2};
    const Keys keys = folder.list(seeds);
    REQUIRE(keys.size() == 10);
    CHECK_FALSE(fs::exists(folder.scratch.at("out/results.jsonl")));
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) CHECK_FALSE(folder.task(*key).was_done);
    for (const std::string& key : keys) {
        const SingleTask again = folder.task(key, refuse_work);
        CHECK(again.was_done);
        CHECK(again.is_final);
    }
    const Outcome outcome = folder.resume(seeds, refuse_work);
    CHECK(outcome.complete());
    CHECK(outcome.kept == 10);
    CHECK(outcome.failures() == 2);
    const auto collected = rows_of(folder.out());
    fs::rename(folder.out(), folder.scratch.at("collected"));
    Settings whole = folder.settings(seeds);
    Executor executor({folder.out(), {}, 2, app::solve});
    (void)run(Plan(expand(whole.run.instances), whole.run.matrix), whole, executor, {});
    CHECK(collected == rows_of(folder.out()));
    CHECK(outcome.rows[0].line.schedule == folder.scratch.at("out/schedules/x/a.schedule.json"));
}

TEST_CASE("a row is collected once, and a later run reads it from results.jsonl") {
    const Folder folder;
    for (const std::string& key : folder.list()) (void)folder.task(key);
    CHECK(folder.resume({}, refuse_work).kept == 2);
    CHECK(folder.resume({}, refuse_work).kept == 2);
    CHECK(io::read_results(folder.scratch.at("out/results.jsonl")).size() == 2);
}

TEST_CASE("a row that contradicts a .solu file is collected once, and judged") {
    const Folder folder;
    folder.scratch.put("all/x/x.solu", "=opt= a 5\n");
    for (const std::string& key : folder.list()) (void)folder.task(key);
    for (int i = 0; i < 3; ++i) CHECK(folder.resume({}, refuse_work).failures() == 1);
    CHECK(io::read_results(folder.scratch.at("out/results.jsonl")).size() == 2);
}

TEST_CASE("a task that fails in the same way in two processes has one line") {
    const Folder folder;
    folder.scratch.put("all/x/a.json", "{");
    (void)folder.list();
    CHECK(folder.resume().failures() == 1);
    (void)folder.task("x/a");
    CHECK(folder.resume({}, refuse_work).failures() == 1);
    CHECK(io::read_results(folder.scratch.at("out/results.jsonl")).size() == 2);
}

TEST_CASE("what is missing is done by the run that collects, unless it is only to collect") {
    const Folder folder({"a", "b", "c"});
    (void)folder.list();
    (void)folder.task("x/b");
    const Outcome collected = folder.resume({.collect = true}, refuse_work);
    CHECK(collected.rows.size() == 1);
    CHECK_FALSE(collected.complete());
    CHECK(folder.list({.resume = true}) == Keys{"x/a", "x/c"});
    const Outcome whole = folder.resume();
    CHECK(whole.complete());
    CHECK(whole.kept == 1);
}

TEST_CASE("a task whose instance has changed is run again, and its new row counts") {
    const Folder folder;
    for (const std::string& key : folder.list()) (void)folder.task(key);
    CHECK(folder.resume().kept == 2);
    folder.scratch.put("all/x/a.json", std::string(kRing) + " ");
    CHECK(folder.list({.resume = true}) == Keys{"x/a"});
    CHECK_FALSE(folder.task("x/a").was_done);
    CHECK(folder.resume({}, refuse_work).kept == 2);
}

TEST_CASE("failed tasks are listed again only on demand, and then done again") {
    const Folder folder;
    (void)folder.list();
    const SingleTask crashed = folder.task("x/a", refuse_work);
    REQUIRE(crashed.line);
    CHECK(crashed.line->failure == io::Failure::Crash);
    CHECK(crashed.is_final);
    CHECK(folder.task("x/a").was_done);
    (void)folder.task("x/b");
    CHECK(folder.resume({}, refuse_work).failures() == 1);
    CHECK(folder.list({.resume = true}).empty());
    CHECK(folder.list({.resume = true, .retry_failed = true}) == Keys{"x/a"});
    CHECK_FALSE(folder.task("x/a").was_done);
    const Outcome mended = folder.resume({}, refuse_work);
    CHECK(mended.kept == 2);
    CHECK(mended.failures() == 0);
    CHECK(folder.resume({}, refuse_work).failures() == 0);
}

TEST_CASE("a failure that may pass leaves its row, and the next try does the task again") {
    const Folder folder;
    (void)folder.list();
    fs::remove(folder.scratch.at("all/x/a.json"));
    const SingleTask missing = folder.task("x/a");
    REQUIRE(missing.line);
    CHECK(missing.line->failure == io::Failure::Input);
    CHECK_FALSE(missing.is_final);
    folder.scratch.put("all/x/a.json", kRing);
    const SingleTask found = folder.task("x/a");
    CHECK(found.line->verified);
    CHECK(found.is_final);
}

TEST_CASE("a task whose child was killed by somebody is done again") {
    const Folder folder;
    (void)folder.list();
    const SingleTask killed = folder.task("x/a", [](auto&&...) -> io::ResultLine {
        ::raise(SIGKILL);
        sleep_for_ever();
    });
    REQUIRE(killed.line);
    CHECK(killed.line->failure == io::Failure::Lost);
    CHECK_FALSE(killed.is_final);
    CHECK(folder.resume().failures() == 0);
}

TEST_CASE("rows of tasks that a run no longer asks for stay in its results") {
    const Folder folder;
    Settings two;
    two.run.matrix.seeds = {1, 2};
    for (const std::string& key : folder.list(two)) (void)folder.task(key);
    const Outcome outcome = folder.resume({}, refuse_work);
    CHECK(outcome.rows.size() == 2);
    CHECK(rows_of(folder.out()).size() == 4);
}

TEST_CASE("a row that cannot be read, or that is about another task, is not believed") {
    const Folder folder;
    for (const std::string& key : folder.list()) (void)folder.task(key);
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder.scratch.at("out/tasks"))) {
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    REQUIRE(files.size() == 2);
    fs::remove(files[0]);
    fs::copy_file(files[1], files[0]);
    std::string text = test::content_of(files[1].string());
    const std::string inside = "\"schedule\":\"schedules/";
    REQUIRE(text.find(inside) != text.npos);
    text.replace(text.find(inside), inside.size(), "\"schedule\":\"schedules/../../");
    std::ofstream(files[1]) << text;
    CHECK(folder.resume({.collect = true}, refuse_work).rows.empty());
    CHECK(folder.resume().complete());
}

TEST_CASE("a row keeps an absolute path, also of a folder whose name begins with that of the results") {
    const test::ScratchTree scratch;
    const RowFiles rows(scratch.at("out"));
    Task task;
    task.key = "x/a";
    task.job = {scratch.at("out2/a.json"), "x", "a", {}};
    rows.write(failed_line(task, {}, io::Failure::Limit, "no time"));
    REQUIRE(rows.find("x/a"));
    CHECK(rows.find("x/a")->file == scratch.at("out2/a.json"));
}

TEST_CASE("a run waits for a task that another process is running, and takes its row") {
    const Folder folder;
    (void)folder.list();
    const Meeting begun(folder.scratch, "begun"), go_on(folder.scratch, "go_on");
    const Other other([&] {
        const auto work = [&](const Task& task, const std::string& out, const Limits& limits,
                              const TaskListener& listener) {
            begun.come();
            go_on.wait();
            return app::solve(task, out, limits, listener);
        };
        (void)run_single_task(folder.out(), "x/a", work, {});
    });
    begun.wait();
    const auto work = [&](const Task& task, const std::string& out, const Limits& limits,
                          const TaskListener& listener) {
        if (task.key == "x/a") std::abort();
        go_on.come();
        return app::solve(task, out, limits, listener);
    };
    const Outcome outcome = folder.resume({}, work);
    CHECK(outcome.complete());
    CHECK(outcome.failures() == 0);
}

TEST_CASE("a task whose process was killed is done by whoever comes next") {
    const Folder folder;
    (void)folder.list();
    {
        const Meeting begun(folder.scratch, "begun");
        const Other other([&] {
            const auto work = [&](auto&&...) -> io::ResultLine {
                begun.come();
                sleep_for_ever();
            };
            (void)run_single_task(folder.out(), "x/a", work, {});
        });
        begun.wait();
    }
    const SingleTask task = folder.task("x/a");
    REQUIRE(task.line);
    CHECK(task.line->verified);
}

TEST_CASE("while tasks are running their run cannot start anew, and nothing of theirs is removed") {
    const Folder folder;
    (void)folder.list();
    const std::string half = folder.scratch.put("out/schedules/x/.tutti-1-0.tmp", "half a schedule");
    {
        const auto other = locked_elsewhere(folder, "x/a");
        CHECK_THROWS_WITH_AS((void)folder.list(), doctest::Contains("--resume"), InputError);
        CHECK(folder.list({.resume = true}).size() == 2);
        CHECK(fs::exists(half));
    }
    (void)folder.task("x/a");
    CHECK(folder.list().size() == 2);
    CHECK_FALSE(fs::exists(half));
    CHECK(fs::exists(folder.scratch.at("out/tasks.old/list")));
    CHECK_FALSE(folder.task("x/a").was_done);
}

TEST_CASE("of two locks on one task only one is had, and none once its process has ended") {
    const Folder folder;
    const TaskLocks here(folder.out());
    {
        const auto other = locked_elsewhere(folder, "a");
        CHECK_FALSE(here.lock("a"));
        CHECK(here.lock("b"));
        here.unlock("b");
        CHECK_FALSE(here.lock_all());
    }
    CHECK(here.lock("a"));
    CHECK(here.lock_all());
}

TEST_CASE("a task that waits for another process ends when it is interrupted") {
    const Folder folder;
    (void)folder.list();
    const auto other = locked_elsewhere(folder, "x/a");
    const std::atomic<bool> interrupted{true};
    CHECK_FALSE(run_single_task(folder.out(), "x/a", refuse_work, Stop({}, &interrupted)).line);
}
