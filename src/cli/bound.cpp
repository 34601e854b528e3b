#include "cli/failure.hpp"
#include "cli/heartbeat.hpp"
#include "cli/run.hpp"
#include "core/outcome.hpp"
#include "io/bound_json.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "synth/bounding.hpp"
#include "synth/reachability.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace tutti::cli {
namespace {

/// All that is known to prove bounds, the largest first.
std::vector<Bound> bounds_of(const Instance& instance, const Stop& stop) {
    return synth::every_bound(instance, stop);
}

/// What a certificate says, in a few words for a table.
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
        return fmt::format("{} on links in time, none by {}",
                           text::count_text(timed.weights.size(), "weight"), timed.horizon.count());
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

std::string table_of(const Instance& instance, const std::vector<Bound>& bounds) {
    using text::Align;
    text::Table table(
        {{""}, {"kind"}, {"value", text::Align::Right}, {"seconds", text::Align::Right}, {"because of"}});
    for (const Bound& bound : bounds) {
        table.add({&bound == &bounds.front() ? ">" : "", bound.kind, std::to_string(bound.value.count()),
                   text::seconds_text(bound.seconds), std::visit(InWords(instance), bound.certificate)});
    }
    return table.text();
}

io::Json json_of(const Instance& instance, const std::string& file, const std::vector<Bound>& bounds,
                 bool stopped) {
    const Bound& best = bounds.front();
    io::Json json{{"instance", instance.name()},
                  {"lower_bound", best.value.count()},
                  {"bound_kind", best.kind},
                  {"file", file},
                  {"stopped", stopped}};
    io::Json& list = json["bounds"] = io::Json::array();
    for (const Bound& bound : bounds) list.push_back(io::bound_json(bound, bound.seconds));
    return json;
}

}  // namespace

ExitCode run_bound(const BoundOptions& options, const Process& process) {
    const Instance instance = io::read_instance(options.instance);
    const auto limit =
        options.time_limit ? std::optional(std::chrono::duration<double>(*options.time_limit)) : std::nullopt;
    const Stop stop(limit, process.interrupted);
    if (const auto who = synth::unreachable(instance)) throw InfeasibleError(*who);
    const std::vector<Bound> bounds = with_reproducer(instance, [&] {
        std::optional<Heartbeat> heartbeat;
        if (!options.quiet) heartbeat.emplace(process.streams);
        return bounds_of(instance, stop);
    });
    const bool stopped = stop.requested();
    if (options.json) {
        process.streams.out << io::json_line(json_of(instance, options.instance, bounds, stopped)) << '\n';
    } else {
        process.streams.out << table_of(instance, bounds)
                            << fmt::format(
                                   "\nno schedule of '{}' takes less than {}\n", instance.name(),
                                   text::ticks_text(bounds.front().value, instance.topology().units()));
    }
    if (stopped && !options.quiet) process.streams.err << "note: stopped early; more time may prove more\n";
    const bool interrupted = process.interrupted != nullptr && process.interrupted->load();
    return interrupted ? ExitCode::Interrupted : ExitCode::Done;
}

}  // namespace tutti::cli
