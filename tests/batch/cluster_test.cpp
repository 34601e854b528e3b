#include "batch/cluster/cluster_executor.hpp"
#include "batch/cluster/words.hpp"
#include "batch/cluster/worker.hpp"
#include "core/error.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

using namespace tutti;
using namespace tutti::batch;
using namespace tutti::batch::cluster;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A folder that goes with the test.
struct Folder {
    std::string path = (fs::temp_directory_path() / "tutti-cluster-XXXXXX").string();
    Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
    ~Folder() { fs::remove_all(path); }
};

Ranks ranks_of_job(unsigned rank, unsigned size) {
    Ranks ranks;
    ranks.rank = rank;
    ranks.size = ranks.on_this_host = size;
    ranks.job = "a job of a test";
    return ranks;
}

Task task_named(const std::string& name, unsigned threads = 1) {
    Task task;
    task.job = {"nowhere/" + name + ".json", "x", name, {}};
    task.key = task.job.label();
    task.stem = "schedules/x/" + name;
    task.variant.threads = threads;
    return task;
}

io::ResultLine fine(const Task& task) {
    io::ResultLine line;
    line.instance = task.job.name;
    line.method = "test";
    line.key = task.key;
    line.label = task.job.label();
    return line;
}

/// Rank 0 with one core, whose own children say "rank 0".
struct Rank0 {
    Folder folder;
    std::vector<std::string> remarks;
    Clock::time_point now = Clock::now();
    std::unique_ptr<ClusterExecutor> executor;

    explicit Rank0(unsigned size = 2, unsigned cores = 1) {
        ClusterExecutor::Settings settings;
        settings.ranks = ranks_of_job(0, size);
        settings.results = folder.path;
        settings.limits.time = 2.5;
        settings.cores = cores;
        settings.work = [](const Task& task, const std::string&, const Limits&, const TaskListener&) {
            while (task.job.name == "endless") ::pause();
            io::ResultLine line = fine(task);
            line.host = "rank 0";
            return line;
        };
        settings.now = [this] { return now; };
        executor = std::make_unique<ClusterExecutor>(std::move(settings));
        executor->on_remark([this](const std::string& text) { remarks.push_back(text); });
    }

    [[nodiscard]] Address address() const {
        const auto answer = Rendezvous(folder.path, "a job of a test").look();
        REQUIRE(answer.address);
        return *answer.address;
    }
    /// TaskEvent from now until there are any.
    std::vector<TaskEvent> events() {
        for (;;) {
            if (auto all = executor->wait(1000ms); !all.empty()) return all;
        }
    }
};

/// One who plays a worker, from this process.
struct Peer {
    Rank0& rank0;
    std::optional<cluster::Link> link;

    explicit Peer(Rank0& to) : rank0(to), link(connect_to("127.0.0.1", to.address().port, 1000ms)) {
        REQUIRE(link);
    }
    /// The next message of rank 0, or nothing when it closes the link.
    std::optional<std::string> heard() {
        for (;;) {
            (void)rank0.executor->wait(0ms);
            pollfd polled = link->polled();
            (void)::poll(&polled, 1, 10);
            if (auto messages = link->receive(); !messages.empty()) return messages.front();
            if (!link->open()) return std::nullopt;
        }
    }
    std::optional<std::string> say_hello(unsigned rank, const std::string& secret) {
        link->send(text_of(Hello{secret, rank, 1, "somewhere"}));
        return heard();
    }
    /// As a worker that is welcome.
    static Peer of_rank(unsigned rank, Rank0& to) {
        Peer peer(to);
        const auto answer = peer.say_hello(rank, to.address().secret);
        REQUIRE(answer);
        CHECK(welcome_in(*answer).limits.time == 2.5);
        return peer;
    }
};

/// A process that serves rank 0 with `work`, and its end.
struct WorkerProcess {
    pid_t pid = -1;
    WorkerProcess(const std::string& folder, unsigned rank, unsigned size, Work work) {
        Service service{ranks_of_job(rank, size), folder, nullptr, std::move(work)};
        pid = ::fork();
        if (pid == 0) ::_exit(10 + static_cast<int>(serve(service)));
    }
    ~WorkerProcess() {
        if (pid > 0) (void)::kill(pid, SIGKILL);
        if (pid > 0) (void)::waitpid(pid, nullptr, 0);
    }
    int exit_code() {
        int status = 0;
        (void)::waitpid(pid, &status, 0);
        pid = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) - 10 : -1;
    }
};

io::ResultLine by_worker(const Task& task, const std::string&, const Limits& limits,
                         const TaskListener& hears) {
    hears.found(Ticks(9), Ticks(5));
    io::ResultLine line = fine(task);
    line.host = "worker";
    line.time_limit = limits.time;
    return line;
}

void until(Rank0& rank0, std::size_t members) {
    while (rank0.executor->members() != members) (void)rank0.executor->wait(10ms);
}

Ranks ranks_with(const std::map<std::string, std::string>& environment) {
    return ranks_in([&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}

}  // namespace

TEST_CASE("a rank is what its launcher says, and a batch script of Slurm is none") {
    CHECK(ranks_with({}).size == 1);
    const Ranks open_mpi = ranks_with({{"OMPI_COMM_WORLD_RANK", "2"},
                                       {"OMPI_COMM_WORLD_SIZE", "4"},
                                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                                       {"PMIX_NAMESPACE", "17"},
                                       {"SLURM_PROCID", "1"},
                                       {"SLURM_STEP_NUM_TASKS", "2"}});
    CHECK(open_mpi.rank == 2);
    CHECK(open_mpi.size == 4);
    CHECK(open_mpi.on_this_host == 3);
    CHECK(open_mpi.job.find("17") != std::string::npos);
    CHECK(open_mpi.detach);

    CHECK(ranks_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}).size == 1);
    const Ranks step = ranks_with({{"SLURM_PROCID", "7"},
                                   {"SLURM_STEP_NUM_TASKS", "8"},
                                   {"SLURM_JOB_ID", "99"},
                                   {"PMI_RANK", "7"},
                                   {"PMI_SIZE", "8"}});
    CHECK(step.rank == 7);
    CHECK_FALSE(step.detach);  // srun ends what leaves it
    const Ranks mpich = ranks_with(
        {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"PMI_RANK", "7"}, {"PMI_SIZE", "8"}});
    CHECK(mpich.rank == 7);
    CHECK(mpich.detach);

    CHECK(ranks_with({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).size == 1);
    CHECK(ranks_with({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).size == 1);
    CHECK(ranks_with({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"TUTTI_RANKS", "1"}})
              .size == 1);
    CHECK(ranks_with({{"TUTTI_RANKS", "3"}, {"TUTTI_RANK", "2"}}).rank == 2);
    CHECK_THROWS_AS((void)ranks_with({{"TUTTI_RANKS", "3"}, {"TUTTI_RANK", "3"}}), InputError);
    CHECK_THROWS_AS((void)ranks_with({{"TUTTI_RANK", "1"}}), InputError);
}

TEST_CASE("a task survives serialization to another rank, whatever bytes its path has") {
    Task task = task_named("odd", 3);
    task.job.path = "a/\xff\x01 \"b\".json";
    task.job.solu = "x.solu";
    task.variant = {"exact", ~std::uint64_t{0}, 3, 5, Bytes{1'000'000}};
    const Begin begin = begin_in(text_of(Begin{12, task}));
    CHECK(begin.number == 12);
    CHECK(begin.task == task);
    const Welcome welcome = welcome_in(text_of(Welcome{"/a\xfe", 4, {0.1, ~std::uint64_t{0}}}));
    CHECK(welcome.folder == "/a\xfe");
    CHECK(welcome.cores == 4);
    CHECK(welcome.limits == Limits{0.1, ~std::uint64_t{0}});
    CHECK_THROWS_AS((void)begin_in(R"({"begin":1})"), InputError);
    CHECK_THROWS_AS((void)begin_in("[["), InputError);
}

TEST_CASE("the address file for the other ranks is readable by its user only and valid for its job only") {
    const Folder folder;
    const Rendezvous here(folder.path + "/new", "job 1");
    const Address address{{"192.0.2.1", "fd00::1"}, 4711, new_secret(), "boot"};
    here.publish(address);
    CHECK(address.secret.size() == 32);
    CHECK(here.look().address == address);
    CHECK_FALSE(Rendezvous(folder.path + "/new", "job 2").look().address);
    const fs::path file = fs::directory_iterator(folder.path + "/new")->path();
    CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));

    fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
    CHECK_FALSE(here.look().address);  // who knows who wrote it
    here.publish(address);
    CHECK(here.look().address == address);
    here.call_off();
    CHECK(here.look().over);
    here.remove();
    CHECK_FALSE(here.look().over);
    CHECK(fs::is_empty(folder.path + "/new"));
}

TEST_CASE("only processes that know the secret join, and others change nothing") {
    Rank0 rank0(3);
    const std::string secret = rank0.address().secret;
    CHECK_FALSE(Peer(rank0).say_hello(1, std::string(32, '0')));
    CHECK_FALSE(Peer(rank0).say_hello(1, secret.substr(1)));
    CHECK_FALSE(Peer(rank0).say_hello(3, secret));  // there are ranks 0 to 2
    CHECK_FALSE(Peer(rank0).say_hello(0, secret));
    CHECK(rank0.executor->members() == 1);

    Peer garbage(rank0);
    garbage.link->send("{\"protocol\":");
    CHECK_FALSE(garbage.heard());
    Peer longwinded(rank0);
    longwinded.link->send(std::string(100'000, 'x'));
    CHECK_FALSE(longwinded.heard());
    Peer silent(rank0);
    (void)rank0.executor->wait(0ms);
    rank0.now += 11s;
    CHECK_FALSE(silent.heard());

    // More than it listens to at once, none of whom says a word: there is room for who does.
    std::vector<Peer> crowd;
    for (int i = 0; i < 100; ++i) crowd.emplace_back(rank0);
    const Peer good = Peer::of_rank(1, rank0);
    CHECK(rank0.executor->members() == 2);
    CHECK_FALSE(Peer(rank0).say_hello(1, secret));  // it is there already
    CHECK(rank0.executor->members() == 2);
    CHECK(rank0.remarks.empty());
}

TEST_CASE("a worker process gives the same results as the local executor") {
    Rank0 rank0;
    WorkerProcess worker(rank0.folder.path, 1, 2, by_worker);
    until(rank0, 2);
    rank0.executor->begin(7, task_named("a"));
    rank0.executor->begin(8, task_named("b"));
    CHECK_FALSE(rank0.executor->has_room(1));
    std::map<std::size_t, io::ResultLine> lines;
    bool found = false;
    while (lines.size() < 2) {
        for (const TaskEvent& event : rank0.events()) {
            found |= event.kind == TaskEvent::Kind::Found && event.makespan == Ticks(9) &&
                     event.who.starts_with("rank 1 on");
            if (event.kind == TaskEvent::Kind::Ended) lines[event.task] = *event.line;
        }
    }
    CHECK(found);
    CHECK(lines[7].key == "x/a");
    CHECK(lines[7].host == "worker");  // rather another than rank 0
    CHECK(lines[7].time_limit == 2.5);
    CHECK(lines[8].host == "rank 0");
    rank0.executor->stop();
    CHECK(worker.exit_code() == static_cast<int>(Served::ToTheEnd));
    CHECK(fs::is_empty(rank0.folder.path));
    CHECK(rank0.remarks.empty());
}

TEST_CASE("a wide task waits for a rank that is wide enough, and takes one alone where none is") {
    Rank0 rank0(2, 4);
    CHECK(rank0.executor->has_room(4));
    CHECK(rank0.executor->has_room(9));
    rank0.executor->begin(0, task_named("endless", 3));
    CHECK(rank0.executor->has_room(1));
    CHECK_FALSE(rank0.executor->has_room(2));
    CHECK_FALSE(rank0.executor->has_room(9));
    const Peer peer = Peer::of_rank(1, rank0);  // of four cores too, as rank 0 says
    CHECK(rank0.executor->has_room(4));
    CHECK(rank0.executor->has_room(9));
}

TEST_CASE("the tasks of a worker are lost when it closes, is silent or breaks the protocol") {
    Rank0 rank0(4);
    std::vector<Peer> peers;
    for (unsigned rank = 1; rank < 4; ++rank) peers.push_back(Peer::of_rank(rank, rank0));
    for (std::size_t i = 0; i < 3; ++i) rank0.executor->begin(i, task_named("t"));
    std::map<std::size_t, std::size_t> task_of;  // by the peer
    for (std::size_t i = 0; i < 3; ++i) task_of[i] = begin_in(*peers[i].heard()).number;

    peers[0].link->close();
    auto events = rank0.events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == TaskEvent::Kind::Lost);
    CHECK(events[0].task == task_of[0]);
    CHECK(events[0].who == "rank 1 on somewhere");

    // Of a task that another is at.
    peers[1].link->send(message_of({TaskEvent::Kind::Ended, task_of[2], {}, {}, fine(task_named("t")), {}}));
    events = rank0.events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == TaskEvent::Kind::Lost);
    CHECK(events[0].task == task_of[1]);

    rank0.now += 50s;
    peers[2].link->send(kBeat);
    CHECK(rank0.executor->wait(100ms).empty());
    rank0.now += 50s;
    CHECK(rank0.executor->wait(100ms).empty());  // 50 s after the beat
    rank0.now += 20s;
    events = rank0.events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].task == task_of[2]);
    CHECK(rank0.executor->members() == 1);
    CHECK(rank0.remarks.size() == 3);
}

TEST_CASE("a task that kills its worker restarts on another worker, and other tasks continue") {
    Rank0 rank0(3);
    const auto deadly = [](const Task& task, const std::string& results, const Limits& limits,
                           const TaskListener& hears) {
        // As if the whole machine went down: the parent of this child is the worker.
        if (task.job.name == "deadly") (void)::kill(::getppid(), SIGKILL);
        return by_worker(task, results, limits, hears);
    };
    const WorkerProcess first(rank0.folder.path, 1, 3, deadly), second(rank0.folder.path, 2, 3, deadly);
    until(rank0, 3);
    std::set<std::string> who;
    for (int attempt = 0; attempt < 2; ++attempt) {
        rank0.executor->begin(4, task_named("deadly"));
        const auto events = rank0.events();
        REQUIRE(events.size() == 1);
        CHECK(events[0].kind == TaskEvent::Kind::Lost);
        CHECK(events[0].task == 4);
        who.insert(events[0].who.substr(0, 6));
    }
    CHECK(who == std::set<std::string>{"rank 1", "rank 2"});
    CHECK(rank0.executor->members() == 1);
    rank0.executor->begin(5, task_named("good"));
    CHECK(rank0.events().at(0).line->host == "rank 0");
}

TEST_CASE("a worker ends when rank 0 stops, and one that starts later ends too") {
    auto rank0 = std::make_unique<Rank0>(3);
    WorkerProcess late(rank0->folder.path, 2, 3, by_worker);
    until(*rank0, 2);
    rank0->executor->stop();
    CHECK(late.exit_code() == static_cast<int>(Served::ToTheEnd));
    CHECK(rank0->remarks == std::vector<std::string>{"1 of 3 ranks had not come"});
    // It finds a note that says so.
    WorkerProcess too_late(rank0->folder.path, 1, 3, by_worker);
    CHECK(too_late.exit_code() == static_cast<int>(Served::ToTheEnd));
}

TEST_CASE("a worker whose rank 0 vanishes ends its children and itself") {
    Folder folder;
    // A rank 0 that gives a task and dies, as one that is killed would.
    const pid_t doomed = ::fork();
    if (doomed == 0) {
        ClusterExecutor::Settings settings;
        settings.ranks = ranks_of_job(0, 2);
        settings.results = folder.path;
        settings.cores = 1;
        ClusterExecutor executor(std::move(settings));
        while (executor.members() < 2) (void)executor.wait(10ms);
        executor.begin(0, task_named("endless"));
        while (executor.wait(10ms).empty()) {
        }
        ::_exit(0);
    }
    WorkerProcess worker(folder.path, 1, 2,
                         [&](const Task& task, const std::string&, const Limits&, const TaskListener& hears) {
                             hears.found(Ticks(1), {});
                             for (;;) ::pause();
                             return fine(task);
                         });
    CHECK(worker.exit_code() == static_cast<int>(Served::Cut));
    (void)::waitpid(doomed, nullptr, 0);
}
