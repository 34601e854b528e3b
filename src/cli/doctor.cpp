#include "cli/run.hpp"
#include "cli/version.hpp"
#include "core/search_options.hpp"
#include "io/json_text.hpp"
#include "io/source.hpp"
#include "models/backends/registry.hpp"
#include "text/table.hpp"

#include <unistd.h>

#include <thread>

namespace tutti::cli {
namespace {

constexpr std::int64_t kToyExpected = -models::kToyOptimum;

/// What there is to say of one solver.
struct Examination {
    std::string_view name, solver;
    std::string absence;  ///< why it is not there; empty where it is
    models::SolverLibrary library;
    models::Answer answer;  ///< to the toy

    [[nodiscard]] bool present() const { return absence.empty(); }
    [[nodiscard]] bool right() const {
        return answer.ended == models::Ended::Optimal && answer.objective == models::kToyOptimum;
    }
    [[nodiscard]] bool ill() const { return present() && !right(); }
    /// The toy is to be maximised, and solvers are asked to minimise its negation; 0 if there is no answer.
    [[nodiscard]] std::int64_t found() const { return -answer.objective.value_or(0); }
};

Examination examine(const models::BackendEntry& entry) {
    Examination examination{entry.name, entry.solver, {}, {}, {}};
    const models::OpenedBackend opened = entry.open();
    if (!opened) {
        examination.absence = opened.absence.empty() ? "not there" : opened.absence;
        return examination;
    }
    examination.library = opened.backend->library();
    examination.answer = opened.backend->solve(models::toy(), {});
    return examination;
}

std::string build_type() {
#ifdef NDEBUG
    std::string type = "release";
#else
    std::string type = "debug (asserts on)";
#endif
#ifdef __SANITIZE_ADDRESS__
    type += ", address sanitizer";
#endif
    return type;
}

std::string compiler() {
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

std::uint64_t memory_bytes() {
    const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
    return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

io::Json examination_json(const Examination& examination) {
    io::Json json{
        {"name", examination.name}, {"solver", examination.solver}, {"present", examination.present()}};
    if (!examination.present()) {
        json["reason"] = examination.absence;
        return json;
    }
    json["version"] = examination.library.version;
    json["file"] = examination.library.file;
    json["works"] = examination.right();
    json["toy"] = {
        {"expected", kToyExpected}, {"found", examination.found()}, {"status", examination.answer.words}};
    return json;
}

void print_for_people(const std::vector<Examination>& examinations, const Streams& streams) {
    streams.out << text::fact_sheet({{"tutti", std::string(version())},
                                     {"compiler", compiler()},
                                     {"build", build_type()},
                                     {"threads", std::to_string(std::thread::hardware_concurrency())},
                                     {"memory", io::size_name(memory_bytes())}});
    for (const Examination& examination : examinations) {
        const std::string title = fmt::format("{} ({})", examination.name, examination.solver);
        if (!examination.present()) {
            streams.out << fmt::format("\n{}: not present\n", title)
                        << text::fact_sheet({{"reason", examination.absence}}, 2);
            continue;
        }
        const bool right = examination.right();
        const std::string toy = fmt::format("{} {} {}, {}", examination.found(),
                                            right ? "==" : "!=", kToyExpected, examination.answer.words);
        streams.out << fmt::format("\n{}: {}\n", title,
                                   right ? toned(Tone::Good, "works", streams.colour_out)
                                         : toned(Tone::Bad, "ANSWERS WRONGLY", streams.colour_out))
                    << text::fact_sheet({{"version", examination.library.version},
                                         {"file", examination.library.file},
                                         {"toy", toy}},
                                        2);
    }
}

void print_json(const std::vector<Examination>& examinations, ExitCode code, std::ostream& out) {
    io::Json json{{"tutti", version()},
                  {"compiler", compiler()},
                  {"build", build_type()},
                  {"threads", std::thread::hardware_concurrency()},
                  {"memory_bytes", memory_bytes()}};
    io::Json& backends = json["backends"] = io::Json::array();
    for (const Examination& examination : examinations) backends.push_back(examination_json(examination));
    json["exit_code"] = static_cast<int>(code);
    out << io::json_line(json) << '\n';
}

ExitCode list_options(bool as_json, std::ostream& out) {
    const SearchOptions usual;
    io::Json list = io::Json::array();
    for (const SearchOption& option : search_option_table()) {
        const double value = option.value(usual);
        if (!as_json) {
            out << fmt::format("{}={}: {}\n    {}\n", option.name, option_text(value), option.range(),
                               option.meaning);
            continue;
        }
        list.push_back({{"name", option.name},
                        {"default", io::number_json(value)},
                        {"least", io::number_json(option.least)},
                        {"most", io::number_json(option.most)},
                        {"whole", option.is_count()},
                        {"meaning", option.meaning}});
    }
    if (as_json) out << io::json_line({{"options", list}, {"exit_code", 0}}) << '\n';
    return ExitCode::Done;
}

}  // namespace

ExitCode run_doctor(const DoctorOptions& options, const Process& process) {
    if (options.options) return list_options(options.json, process.streams.out);
    std::vector<Examination> examinations;
    ExitCode code = ExitCode::Done;
    for (const models::BackendEntry& entry : models::backends()) {
        examinations.push_back(examine(entry));
        const Examination& last = examinations.back();
        if (last.ill() || (options.require_all && !last.present())) code = ExitCode::Failed;
    }
    if (options.json) {
        print_json(examinations, code, process.streams.out);
    } else {
        print_for_people(examinations, process.streams);
    }
    if (code != ExitCode::Done && !options.quiet) {
        process.streams.err << "error: a solver is missing or does not work\n";
    }
    return code;
}

}  // namespace tutti::cli
