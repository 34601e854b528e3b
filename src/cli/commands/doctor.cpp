#include "app/doctor.hpp"

#include "app/version.hpp"
#include "cli/option_groups.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <boost/program_options.hpp>

namespace tutti::cli {
namespace {

struct DoctorOptions {
    bool require_all = false;
    bool options = false;  ///< list the search options instead
};

DoctorOptions doctor_options(const Values& values) {
    return {values.flag("require-all"), values.flag("options")};
}

void print_for_people(const std::vector<app::Examination>& examinations, const app::Machine& machine,
                      const Streams& streams) {
    streams.out << text::fact_sheet({{"tutti", std::string(app::version())},
                                     {"compiler", machine.compiler},
                                     {"build", machine.build},
                                     {"threads", std::to_string(machine.threads)},
                                     {"memory", text::size_text(machine.memory_bytes)}});
    for (const app::Examination& examination : examinations) {
        const std::string title = fmt::format("{} ({})", examination.name, examination.solver);
        if (!examination.present()) {
            streams.out.print("\n{}: not present\n{}", title,
                              text::fact_sheet({{"reason", examination.absence}}, 2));
            continue;
        }
        const bool right = examination.right();
        const std::string toy = fmt::format("{} {} {}, {}", examination.found(),
                                            right ? "==" : "!=", app::kToyExpected, examination.answer.words);
        streams.out.print(
            "\n{}: {}\n{}", title,
            right ? toned(Tone::Good, "works", streams.colour_out)
                  : toned(Tone::Bad, "ANSWERS WRONGLY", streams.colour_out),
            text::fact_sheet(
                {{"version", examination.library.version}, {"file", examination.library.file}, {"toy", toy}},
                2));
    }
}

void list_search_options(bool as_json, const text::Output& out) {
    if (as_json) {
        io::Json json = app::search_options_json();
        json["exit_code"] = 0;
        out.print("{}\n", io::json_line(json));
        return;
    }
    for (const SearchOption& option : search_option_table()) {
        out.print("{}={}: {}\n    {}\n", option.name, option_text(option.value(SearchOptions{})),
                  option.range(), option.meaning);
    }
}

ExitCode run_doctor(const DoctorOptions& options, const Talk& talk, const Process& process) {
    if (options.options) {
        list_search_options(talk.json, process.streams.out);
        return ExitCode::Done;
    }
    const std::vector<app::Examination> examinations = app::examine_solvers();
    ExitCode code = ExitCode::Done;
    for (const app::Examination& examination : examinations) {
        if (examination.ill() || (options.require_all && !examination.present())) code = ExitCode::Failed;
    }
    if (talk.json) {
        io::Json json = app::json_of(examinations, app::this_machine());
        json["exit_code"] = static_cast<int>(code);
        process.streams.out.print("{}\n", io::json_line(json));
    } else {
        print_for_people(examinations, app::this_machine(), process.streams);
    }
    if (code != ExitCode::Done && !talk.quiet)
        process.streams.err.print("error: a solver is missing or does not work\n");
    return code;
}

}  // namespace

Command doctor_command() {
    Command command;
    command.name = "doctor";
    command.summary = "check that this program and its solvers work";
    command.usage = "[options]";
    command.about =
        "Prints version, compiler and machine, and for each solver whether it is there, its\n"
        "version and file, and its answer to a toy problem. Solvers that are not there are\n"
        "only listed; one that is there and answers wrongly means exit code 1.\n";
    command.examples = "tutti doctor\ntutti doctor --require-all --json\ntutti doctor --options\n";
    OptionGroup check{"Check"};
    check.options.add_options()                                          //
        ("require-all", flag(), "exit code 1 if any solver is missing")  //
        ("options", flag(),
         "list the search options that --option of synth and batch turns, and nothing else");
    command.groups = std::vector<OptionGroup>{check, common_options()};
    command.parse = parsed_by(doctor_options, run_doctor);
    return command;
}

}  // namespace tutti::cli
