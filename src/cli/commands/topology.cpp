#include "cli/commands/topology.hpp"

#include "app/topology_facts.hpp"
#include "cli/option_groups.hpp"
#include "text/table.hpp"

#include <boost/program_options.hpp>

namespace tutti::cli {
namespace {

TopologyPage topology_page(const Values& values) {
    TopologyPage page;
    app::TopologyOptions& options = page.topology;
    options.fields = values.free_fields();
    if (!values.list("what").empty()) {
        options.what = values.one_positional("what", "a generator's kind, a file or a JSON text");
    }
    page.links = values.flag("links");
    if (options.what.empty() && !options.fields.empty()) {
        values.refuse(
            fmt::format("option --{} needs a generator's kind before it", options.fields.front().first));
    }
    if (values.flag("json") && page.links)
        values.refuse("--links is for people; --json already lists the links");
    return page;
}

std::string range_text(const std::pair<std::size_t, std::size_t>& range) {
    return range.first == range.second ? std::to_string(range.first)
                                       : fmt::format("{} to {}", range.first, range.second);
}

text::SafeText topology_summary(const Topology& topology) {
    const app::TopologyFacts facts = app::facts_of(topology);
    const bool physical = topology.units() == Units::Physical;
    const std::string diameter = facts.diameter               ? fmt::format("{} hops", *facts.diameter)
                                 : !facts.unreachable.empty() ? "infinite"
                                                              : "not computed: too large";
    return text::fact_sheet({{"npus", std::to_string(topology.npus())},
                             {"switches", std::to_string(topology.switches())},
                             {"links", std::to_string(topology.links().size())},
                             {"links out", range_text(facts.out_degree) + " per NPU"},
                             {"links in", range_text(facts.in_degree) + " per NPU"},
                             {"diameter", diameter},
                             {"connected", facts.unreachable.empty() ? "every NPU reaches every other"
                                                                     : "no: " + facts.unreachable},
                             {"units", physical ? "physical (ticks of 1 ps)" : "abstract (ticks)"},
                             {"busy", topology.busy() == Busy::Beta ? "beta" : "alpha+beta"}});
}

text::SafeText links_table(const Topology& topology) {
    using text::Align;
    const bool physical = topology.units() == Units::Physical;
    text::Table table({{"link", text::Align::Right},
                       {"from"},
                       {"to"},
                       {physical ? "latency_ns" : "alpha", text::Align::Right},
                       {physical ? "bandwidth_GBps" : "beta", text::Align::Right}});
    for (std::size_t i = 0; i < topology.links().size(); ++i) {
        const Link& link = topology.link(LinkId(i));
        const auto latency = static_cast<double>(link.wire.alpha.count()) / 1000;
        table.add({std::to_string(i), name_of(topology, link.src), name_of(topology, link.dst),
                   physical ? fmt::format("{}", latency) : std::to_string(link.wire.alpha.count()),
                   physical ? fmt::format("{}", to_double(link.wire.bandwidth))
                            : std::to_string(link.wire.beta.count())});
    }
    return table.text();
}

std::string kinds_for_people() {
    std::string text = "Kinds of topologies, each with an example to paste:\n";
    for (const io::GeneratorKind& kind : app::topology_kinds()) {
        text += fmt::format("\n{}{}: {}\n  tutti topology '{}'\n", kind.name,
                            kind.alias.empty() ? "" : fmt::format(" (or {})", kind.alias), kind.help,
                            kind.example);
    }
    return text + "\nThe fields of an example are options too: tutti topology torus --dims 4,4 --beta 2\n";
}

ExitCode run_topology(const TopologyPage& page, const Talk& talk, const Process& process) {
    const text::Output& out = process.streams.out;
    if (page.topology.what.empty()) {
        out << text::SafeText::lines(talk.json ? io::json_line(app::topology_kinds_json()) + "\n"
                                               : kinds_for_people());
        return ExitCode::Done;
    }
    const Topology topology = app::topology(page.topology, {.interrupted = process.interrupted});
    if (talk.json) {
        out << text::SafeText::lines(io::json_page(app::json_of(topology)));
    } else if (page.links) {
        out << links_table(topology);
    } else {
        out << topology_summary(topology);
    }
    return ExitCode::Done;
}

}  // namespace

Command topology_command() {
    Command command;
    command.name = "topology";
    command.summary = "show what a topology looks like, and how its links are numbered";
    command.usage = "[KIND | FILE | JSON] [--FIELD VALUE...] [options]";
    command.about =
        "Shows a topology that a generator makes or that a file holds (- is standard\n"
        "input): an instance, a topology, an ASTRA-sim network.yml, or the XML that NCCL\n"
        "writes to NCCL_TOPO_DUMP_FILE. Without arguments it lists the generators.\n"
        "Every field of a generator is an option: a number, a comma-separated list or JSON.\n"
        "So are busy, remove and slow, which change what was generated.\n"
        "With --json it prints the topology link by link, in order of their numbers; the\n"
        "output can stand as the \"topology\" of an instance.\n";
    command.examples =
        "tutti topology\n"
        "tutti topology torus --dims 4,4 --alpha 1 --beta 2\n"
        "tutti topology ring --npus 4 --remove '[[0, 1]]' --links\n"
        "tutti topology '{\"kind\": \"star\", \"npus\": 8, \"copy\": true}' --json\n"
        "tutti topology mesh3x3.json --links\n";
    OptionGroup show{"Topology"};
    show.options.add_options()  //
        ("links", flag(), "print the table of links with their numbers");
    command.groups = std::vector<OptionGroup>{show, common_options()};
    command.positional = "what";
    command.free_options = true;
    command.parse = parsed_by(topology_page, run_topology);
    return command;
}

}  // namespace tutti::cli
