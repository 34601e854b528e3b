#include "app/compare_algorithms.hpp"

#include "cli/algorithms_text.hpp"
#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"

#include <boost/program_options.hpp>

#include <algorithm>

namespace tutti::cli {
namespace {

app::AlgorithmsOptions algorithms_options(const Values& values) {
    app::AlgorithmsOptions options;
    const std::vector<std::string> names = values.list("name");
    if (names.size() > 1) values.refuse("expected one name, or none for all");
    if (!names.empty()) options.name = names.front();
    options.topology = values.text("topology");
    options.sizes = byte_sizes(values, "bytes");
    std::ranges::sort(options.sizes);
    const auto repeated = std::ranges::unique(options.sizes);
    options.sizes.erase(repeated.begin(), repeated.end());
    if (values.flag("mode")) options.in_place = values.choice("mode", {"in-place", "out-of-place"}) == 0;
    if (values.flag("collective")) {
        options.kind = static_cast<CollectiveKind>(values.choice("collective", collective_kind_names()));
    }
    if (options.topology && options.sizes.empty()) values.refuse("expected --bytes LIST with --topology");
    for (const char* name : {"bytes", "collective", "mode"}) {
        if (values.flag(name) && !options.topology) {
            values.refuse(fmt::format("--{} is for --topology FILE", name));
        }
    }
    return options;
}

ExitCode run_algorithms(const app::AlgorithmsOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    if (!options.topology) {
        if (talk.json) {
            streams.out.print("{}\n", io::json_line(app::library_json(options.name)));
        } else {
            streams.out.print("{}", text::SafeText::lines(app::library_text(options.name)));
        }
        return ExitCode::Done;
    }
    try {
        const app::ComparedAlgorithms compared = [&] {
            Heartbeat heartbeat(streams, talk);
            return app::compare_algorithms(options, heartbeat.watch(process));
        }();
        if (talk.json) {
            streams.out.print("{}\n", io::json_line(app::json_of(compared)));
            return ExitCode::Done;
        }
        streams.out.print("{}", algorithms_page(compared));
        return ExitCode::Done;
    } catch (const LimitError&) {
        streams.err.print("error: interrupted\n");
        return ExitCode::Interrupted;
    }
}

}  // namespace

Command algorithms_command() {
    Command command;
    command.name = "algorithms";
    command.summary = "the library of hand-written algorithms, and which is best on a network";
    command.usage = "[NAME] [options]";
    command.about =
        "Lists the algorithms that 'tutti compile NAME --ranks N' makes plans of, with their\n"
        "collectives, parameters and sources. With a topology each that serves all its NPUs is\n"
        "compiled, verified and timed at each size, with the parameters that are the best there,\n"
        "beside the lower bound of the collective: which one should be used here, from which size\n"
        "on, and how far is it from the best there can be? 'tutti synth' looks for better ones.\n";
    command.examples =
        "tutti algorithms\n"
        "tutti algorithms ring --json\n"
        "tutti algorithms --topology dgx1.json --bytes 1K,1M,1G\n"
        "tutti algorithms --topology h100.json --collective all_gather --bytes 1K:1G\n";
    OptionGroup network{"On a network"};
    network.options.add_options()                                                                      //
        ("topology", text_value("FILE"), "time them there (anything that 'tutti topology' reads)")     //
        ("bytes", text_value("LIST"), "sizes of the call, as nccl-tests counts them: 1K,1M or 1K:1G")  //
        ("collective", text_value("KIND"),
         "all_reduce (default), all_gather, reduce_scatter, all_to_all, ...")  //
        ("mode", text_value("MODE"),
         "in-place or out-of-place calls (default: in-place where an algorithm can do that)");
    command.groups = std::vector<OptionGroup>{network, common_options()};
    command.positional = "name";
    command.parse = parsed_by(algorithms_options, run_algorithms);
    return command;
}

}  // namespace tutti::cli
