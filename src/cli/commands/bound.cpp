#include "app/bound.hpp"

#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/ranges.h>
#include <boost/program_options.hpp>

#include <algorithm>

namespace tutti::cli {
namespace {

app::BoundOptions bound_options(const Values& values) {
    app::BoundOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    options.variation = one_variation(values);
    options.time_limit = values.seconds("time-limit");
    options.options = chosen_options(values);
    return options;
}

/// A summary of a certificate, for a table.
class InWords {
  public:
    explicit InWords(const Instance& instance) : topology_(instance.topology()) {}

    std::string operator()(std::monostate) const { return "-"; }

    std::string operator()(const PathCertificate& path) const {
        const std::string release =
            path.release == Ticks(0) ? "" : fmt::format(", released at {}", path.release.count());
        return fmt::format("chunk {} from {} to {}, {} on the way{}", path.chunk.value(),
                           name_of(topology_, path.holder), name_of(topology_, path.receiver),
                           text::count_text(path.links.size(), "link"), release);
    }

    std::string operator()(const CutCertificate& cut) const {
        std::vector<bool> inside(topology_.nodes(), cut.complement);
        for (const NodeId node : cut.inside) inside[node.index()] = !cut.complement;
        const auto links = std::ranges::count_if(topology_.links(), [&](const Link& link) {
            return !inside[link.src.index()] && inside[link.dst.index()];
        });
        const std::string what = fmt::format("{} over {}", text::count_text(cut.transfers, "chunk"),
                                             text::count_text(static_cast<std::uint64_t>(links), "link"));
        const std::string who = cut.inside.size() == 1
                                    ? name_of(topology_, cut.inside.front())
                                    : fmt::format("{} nodes {}", cut.inside.size(), some_of(cut.inside));
        const std::string when = cut.earliest == Ticks(0) ? ""
                                 : cut.backwards
                                     ? fmt::format(", each {} before the end", cut.earliest.count())
                                     : fmt::format(", none there before {}", cut.earliest.count());
        return fmt::format("{} {}: {}{}", cut.complement ? "out of" : "into", who, what, when);
    }

    std::string operator()(const VolumeCertificate& volume) const {
        return fmt::format("{} over all {}", text::count_text(volume.transfers, "transfer"),
                           text::count_text(topology_.links().size(), "link"));
    }

    std::string operator()(const LengthsCertificate& lengths) const {
        const auto [least, most] = std::ranges::minmax(lengths.length);
        return least == most ? std::string("all links of one length")
                             : fmt::format("lengths from {} to {}", least, most);
    }

    std::string operator()(const TimedLengthsCertificate& timed) const {
        return fmt::format("{} on {} in time, none by {}", text::count_text(timed.weights.size(), "weight"),
                           timed.messages ? "links of messages" : "links", timed.horizon.count());
    }

    std::string operator()(const SmallTimesCertificate& small) const {
        return (*this)(small.timed) + " in small times";
    }

    std::string operator()(const WaveCertificate& wave) const {
        return fmt::format("{} {} nodes {}, what crosses {}", wave.backwards ? "out of" : "into",
                           wave.inside.size(), some_of(wave.inside),
                           wave.backwards ? fmt::format("{} before the end", wave.split.count())
                                          : fmt::format("from {} on", wave.split.count()));
    }

    std::string operator()(const TreesCertificate& trees) const {
        const auto used = std::ranges::count_if(trees.length, [](std::int64_t length) { return length > 0; });
        return fmt::format("trees over {} with lengths",
                           text::count_text(static_cast<std::uint64_t>(used), "link"));
    }

    std::string operator()(const GrowthCertificate& growth) const {
        const std::uint64_t parts =
            growth.part.empty() ? 0 : std::uint64_t{*std::ranges::max_element(growth.part)} + 1;
        return fmt::format("{} {} {} {}{}{}{}", growth.backwards ? "to" : "from",
                           name_of(topology_, growth.root), growth.backwards ? "out of" : "into",
                           text::count_text(parts, "part"), growth.nested ? ", NPU by NPU" : "",
                           growth.prices.empty() ? "" : ", inside or out",
                           growth.last_chunk ? ", for the last chunk" : "");
    }

    std::string operator()(const SumCertificate&) const { return "waiting and ways of all chunks"; }

    std::string operator()(const ContributionsCertificate& contributions) const {
        return fmt::format("contributions that {} can have received",
                           name_of(topology_, contributions.receiver));
    }

    std::string operator()(const SharedContributionsCertificate& shared) const {
        return fmt::format("contributions that all NPUs can pass on from {} on", shared.split.count());
    }

    std::string operator()(const PairsCertificate& pairs) const {
        return fmt::format("into {} nodes {}, what sends carry and whom they reach", pairs.inside.size(),
                           some_of(pairs.inside));
    }

    std::string operator()(const ExitsCertificate& exits) const {
        const std::uint64_t parts =
            exits.part.empty() ? 0 : std::uint64_t{*std::ranges::max_element(exits.part)} + 1;
        return fmt::format("out of {}, as whole sums or more often", text::count_text(parts, "part"));
    }

    std::string operator()(const DeadlinesCertificate& deadlines) const {
        return fmt::format("what must {} in the {} {}", deadlines.backwards ? "start" : "arrive",
                           deadlines.backwards ? "first" : "last",
                           text::count_text(static_cast<std::uint64_t>(deadlines.window.count()), "tick"));
    }

    std::string operator()(const SolverProof& proof) const {
        return fmt::format("{}: no schedule by {}", proof.solver, proof.horizon.count());
    }

  private:
    static std::string some_of(const std::vector<NodeId>& nodes) {
        constexpr std::size_t kMost = 8;
        std::vector<std::uint32_t> shown;
        for (std::size_t i = 0; i < std::min(kMost, nodes.size()); ++i) shown.push_back(nodes[i].value());
        return fmt::format("{{{}{}}}", fmt::join(shown, ","), nodes.size() > kMost ? ",..." : "");
    }

    const Topology& topology_;
};

text::SafeText table_of(const Instance& instance, const std::vector<Bound>& bounds) {
    using text::Align;
    text::Table table(
        {{""}, {"kind"}, {"value", text::Align::Right}, {"seconds", text::Align::Right}, {"because of"}});
    for (const Bound& bound : bounds) {
        table.add({&bound == &bounds.front() ? ">" : "", bound.kind, std::to_string(bound.value.count()),
                   text::seconds_text(bound.seconds), std::visit(InWords(instance), bound.certificate)});
    }
    return table.text();
}

ExitCode run_bound(const app::BoundOptions& options, const Talk& talk, const Process& process) {
    const app::Bounded bounded = [&] {
        Heartbeat heartbeat(process.streams, talk);
        return app::bound(options, heartbeat.watch(process));
    }();
    const Instance& instance = bounded.instance;
    if (talk.json) {
        process.streams.out.print("{}\n", io::json_line(app::json_of(bounded)));
    } else {
        process.streams.out.print("{}\nno schedule of '{}' takes less than {}\n",
                                  table_of(instance, bounded.bounds), instance.name(),
                                  text::ticks_text(bounded.best().value, instance.topology().units()));
        if (!bounded.skipped.empty())
            process.streams.out.print("skipped: {}\n", text::skipped_text(bounded.skipped));
    }
    if (bounded.stopped && !talk.quiet)
        process.streams.err.print("note: stopped early; more time may prove more\n");
    return process.was_interrupted() ? ExitCode::Interrupted : ExitCode::Done;
}

}  // namespace

Command bound_command() {
    Command command;
    command.name = "bound";
    command.summary = "say how good any schedule can be, and why";
    command.usage = "INSTANCE [options]";
    command.about =
        "Prints lower bounds of the makespan: no schedule of the instance (- is standard\n"
        "input) takes less time. The largest comes first, marked with >. Each has a reason that\n"
        "can be checked without trust, which --json prints in full and docs/bounds.md explains:\n"
        "  latency          the slowest of all fastest ways from a holder to a receiver\n"
        "  ingress, egress  what must pass through the links of one NPU\n"
        "  cut              what must pass from some nodes to the others\n"
        "  wave             what follows in a part once the last chunks have entered it\n"
        "  volume           all transfers, over all links\n"
        "  flow             all ways, over links of certain lengths\n"
        "  trees            all messages, over links of certain lengths\n"
        "  growth           how fast what one NPU has can be in many places\n"
        "  sum              start, way and time left of all chunks together\n"
        "  contributions    how much a message of a reduction can carry by when\n"
        "  time-expanded    ways through time, over links that are dear at certain ticks\n"
        "Those that would take too long are skipped, which it says: the same as with synth and\n"
        "verify, so that all name the same bound. A schedule whose makespan meets a bound is\n"
        "optimal.\n";
    command.examples =
        "tutti bound mesh3x3.json\n"
        "tutti bound mesh3x3.json --json\n"
        "tutti bound dgx1.json --bytes 64M --chunks 4\n"
        "tutti bound huge.json --time-limit 10\n";
    OptionGroup search{"Search"};
    search.options.add_options()                                                                          //
        ("time-limit", text_value("SECONDS"), "stop after about this time with the bounds found so far")  //
        ("option", text_value("NAME=VALUE"),
         "turn what a search may be turned in, such as bound-entries; may be given several times "
         "('tutti doctor --options' lists them)");
    command.groups = std::vector<OptionGroup>{variation_options(), search, common_options()};
    command.positional = "instance";
    command.parse = parsed_by(bound_options, run_bound);
    return command;
}

}  // namespace tutti::cli
