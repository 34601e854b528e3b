#include "report/bound_view.hpp"

#include "text/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::report {
namespace {

std::string count_of(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::vector<bool> inside_of(const Topology& topology, const CutCertificate& cut) {
    std::vector<bool> inside(topology.nodes(), cut.complement);
    for (const NodeId node : cut.inside) inside[node.index()] = !cut.complement;
    return inside;
}

std::vector<std::uint32_t> links_into(const Topology& topology, const std::vector<bool>& inside) {
    std::vector<std::uint32_t> links;
    for (std::uint32_t i = 0; i < topology.links().size(); ++i) {
        const Link& link = topology.link(LinkId(i));
        if (!inside[link.src.index()] && inside[link.dst.index()]) links.push_back(i);
    }
    return links;
}

class Sentence {
  public:
    Sentence(const Instance& instance, Ticks value) : topology_(instance.topology()), value_(value) {}

    std::string operator()(std::monostate) const {
        return fmt::format("No schedule takes less than {}.", time(value_));
    }
    std::string operator()(const PathCertificate& path) const {
        const std::string release =
            path.release == Ticks(0) ? "" : fmt::format(", released at {},", time(path.release));
        return fmt::format("Chunk {}{} cannot get from {} to {} before {}, on a fastest way of {}.",
                           path.chunk.value(), release, name_of(topology_, path.holder),
                           name_of(topology_, path.receiver), time(value_),
                           count_of(path.links.size(), "link"));
    }
    std::string operator()(const CutCertificate& cut) const {
        const std::size_t links = links_into(topology_, inside_of(topology_, cut)).size();
        const std::string who = cut.inside.size() == 1
                                    ? name_of(topology_, cut.inside.front())
                                    : fmt::format("{} nodes ({})", cut.inside.size(), some_of(cut.inside));
        const std::string when = cut.earliest == Ticks(0) ? ""
                                 : cut.backwards
                                     ? fmt::format(", each at least {} before the end", time(cut.earliest))
                                     : fmt::format(", where none can be before {}", time(cut.earliest));
        return fmt::format("{} must pass {} {} over {}{}: that takes {}.", count_of(cut.transfers, "chunk"),
                           cut.complement ? "out of" : "into", who, count_of(links, "link"), when,
                           time(value_));
    }
    std::string operator()(const VolumeCertificate& volume) const {
        return fmt::format("All chunks together need {}, which {} cannot carry in less than {}.",
                           count_of(volume.transfers, "transfer"), count_of(topology_.links().size(), "link"),
                           time(value_));
    }
    std::string operator()(const LengthsCertificate& lengths) const {
        const auto [least, most] = std::ranges::minmax(lengths.length);
        return fmt::format(
            "Give every link a length ({} to {}): the ways of all chunks together are longer than what the "
            "links can carry in less than {}. This is the dual of a flow.",
            least, most, time(value_));
    }
    std::string operator()(const TimedLengthsCertificate& timed) const {
        return fmt::format(
            "With {} on links at certain ticks, {} pay more than the links allow, so they do not all end by "
            "{}. "
            "This is the dual of a linear program over time.",
            count_of(timed.weights.size(), "weight"), who_pays(timed), time(timed.horizon));
    }
    std::string operator()(const SmallTimesCertificate& small) const {
        return fmt::format(
            "Let links take small times in place of their own. With {} on links at certain ticks, {} pay "
            "more "
            "than the links allow up to {} small ticks, and what is longer takes {}.",
            count_of(small.timed.weights.size(), "weight"), who_pays(small.timed),
            small.timed.horizon.count(), time(value_));
    }
    std::string operator()(const WaveCertificate& wave) const {
        const std::string who = fmt::format("{} nodes ({})", wave.inside.size(), some_of(wave.inside));
        if (wave.backwards) {
            return fmt::format(
                "Some chunks leave {} for the last time {} before the end or earlier, and what they sum up "
                "must have been collected there by then: that takes {}.",
                who, time(wave.split), time(value_));
        }
        return fmt::format(
            "Some chunks enter {} at {} or later, and must still get to all their receivers there: that "
            "takes {}.",
            who, time(wave.split), time(value_));
    }
    std::string operator()(const TreesCertificate& trees) const {
        const auto used = std::ranges::count_if(trees.length, [](std::int64_t length) { return length > 0; });
        return fmt::format(
            "Give {} a length: the messages that all chunks need together keep them busy for longer than "
            "they can be in less than {}.",
            count_of(static_cast<std::uint64_t>(used), "link"), time(value_));
    }
    std::string operator()(const GrowthCertificate& growth) const {
        return fmt::format("What {} alone {} {}: that takes {}.", name_of(topology_, growth.root),
                           growth.backwards ? "wants" : "has",
                           growth.backwards ? "is collected only as fast as those who pass it on can receive"
                                            : "spreads only as fast as those who have it can send",
                           time(value_));
    }
    std::string operator()(const SumCertificate&) const {
        return fmt::format(
            "Before its start, on its way and after its arrival the average chunk spends at least {}.",
            time(value_));
    }
    std::string operator()(const ContributionsCertificate& contributions) const {
        return fmt::format("{} cannot have received all contributions to its sums before {}.",
                           name_of(topology_, contributions.receiver), time(value_));
    }
    std::string operator()(const SharedContributionsCertificate& shared) const {
        return fmt::format(
            "What NPUs have received and can pass on from {} on does not complete all sums before {}.",
            time(shared.split), time(value_));
    }
    std::string operator()(const PairsCertificate& pairs) const {
        return fmt::format("Sends into {} nodes ({}) cannot bring everything to everybody there before {}.",
                           pairs.inside.size(), some_of(pairs.inside), time(value_));
    }
    std::string operator()(const ExitsCertificate&) const {
        return fmt::format(
            "Sums leave each part of the network whole or more than once: the links between parts "
            "have no room for that before {}.",
            time(value_));
    }
    std::string operator()(const DeadlinesCertificate& deadlines) const {
        return fmt::format("More must {} in the {} {} than links have room for, if all is to end before {}.",
                           deadlines.backwards ? "start" : "arrive", deadlines.backwards ? "first" : "last",
                           time(deadlines.window), time(value_));
    }
    std::string operator()(const SolverProof& proof) const {
        return fmt::format("{} found that no schedule ends by {}.", proof.solver, time(proof.horizon));
    }

  private:
    [[nodiscard]] std::string time(Ticks ticks) const {
        if (topology_.units() == Units::Abstract)
            return count_of(static_cast<std::uint64_t>(ticks.count()), "tick");
        return text::time_text(ticks, topology_.units());
    }
    static std::string some_of(const std::vector<NodeId>& nodes) {
        constexpr std::size_t kMost = 8;
        std::vector<std::uint32_t> shown;
        for (std::size_t i = 0; i < std::min(kMost, nodes.size()); ++i) shown.push_back(nodes[i].value());
        return fmt::format("{}{}", fmt::join(shown, ", "), nodes.size() > kMost ? ", …" : "");
    }

    static std::string who_pays(const TimedLengthsCertificate& timed) {
        return timed.messages ? "the messages that receivers need" : "the chunks";
    }

    const Topology& topology_;
    Ticks value_;
};

io::Json cut_json(const Topology& topology, const std::optional<CutCertificate>& cut) {
    if (!cut) return nullptr;
    std::vector<std::uint32_t> nodes;
    for (const NodeId node : cut->inside) nodes.push_back(node.value());
    std::ranges::sort(nodes);
    return {{"inside", std::move(nodes)},
            {"links", links_into(topology, inside_of(topology, *cut))},
            {"out", cut->complement}};
}

io::Json path_json(const PathCertificate* path) {
    if (path == nullptr) return nullptr;
    std::vector<std::uint32_t> links;
    for (const LinkId link : path->links) links.push_back(link.value());
    return {{"links", std::move(links)}};
}

/// The nodes and links of a bound that are drawn as a cut. A wave is about a cut too.
std::optional<CutCertificate> cut_of(const Bound& bound) {
    if (const auto* const cut = std::get_if<CutCertificate>(&bound.certificate)) return *cut;
    if (const auto* const wave = std::get_if<WaveCertificate>(&bound.certificate))
        return CutCertificate{
            .inside = wave->inside, .complement = wave->backwards, .earliest = {}, .bytes = {}};
    if (const auto* const pairs = std::get_if<PairsCertificate>(&bound.certificate))
        return CutCertificate{.inside = pairs->inside, .earliest = {}, .bytes = {}};
    return std::nullopt;
}

bool can_be_drawn(const Bound& bound) {
    return cut_of(bound) || std::holds_alternative<PathCertificate>(bound.certificate);
}

/// The largest; of several as large the one that the claim is about, so that table and picture agree; without
/// a claim one that can be drawn.
const Bound& best_of(const std::vector<Bound>& bounds, const std::optional<BoundClaim>& claim) {
    const Bound& first = bounds.front();
    const auto same = std::ranges::find_if(bounds, [&](const Bound& bound) {
        return bound.value == first.value && (claim ? bound.kind == claim->kind : can_be_drawn(bound));
    });
    return same == bounds.end() ? first : *same;
}

/// A bound that cannot be drawn, where nobody says more about it.
std::string words_for(const Instance& instance, const BoundClaim& claim) {
    const Units units = instance.topology().units();
    return fmt::format("No schedule takes less than {}{}: {}", text::time_text(claim.value, units),
                       units == Units::Abstract ? " ticks" : "",
                       claim.kind == "solver" ? "a solver has proven it"
                                              : fmt::format("it is proven by the bound '{}'", claim.kind));
}

}  // namespace

std::optional<BoundClaim> claim_of(const io::ResultLine& line) {
    if (!line.lower_bound) return std::nullopt;
    // Of a line that is not optimal, the sentence says why there is no proof.
    return BoundClaim{*line.lower_bound, line.bound_kind,
                      line.status == Status::Optimal ? line.proof : std::string()};
}

std::string bound_sentence(const Instance& instance, const Bound& bound) {
    return std::visit(Sentence(instance, bound.value), bound.certificate);
}

io::Json bound_view(const Instance& instance, const std::vector<Bound>& bounds,
                    const std::optional<BoundClaim>& claim) {
    const Bound& best = best_of(bounds, claim);
    const auto drawable = std::ranges::find_if(bounds, can_be_drawn);
    const bool drawn = drawable != bounds.end();
    const Bound& shown = can_be_drawn(best) || !drawn ? best : *drawable;
    const bool claimed = claim && claim->value > best.value;
    const bool weaker = drawn && (claimed || shown.value < best.value);
    std::string text = bound_sentence(instance, claimed ? shown : best);
    const std::string_view less = drawn ? "What is drawn proves less:" : "Without that:";
    if (claimed) {
        text = fmt::format("{}. {} {}", claim->proof.empty() ? words_for(instance, *claim) : claim->proof,
                           less, text);
    } else if (weaker) {
        text = fmt::format("{} {} {}", text, less, bound_sentence(instance, shown));
    }
    return {{"lower_bound", claimed ? claim->value.count() : best.value.count()},
            {"bound_kind", claimed ? claim->kind : best.kind},
            {"bound_text", std::move(text)},
            {"bound_weaker", weaker},
            {"cut", cut_json(instance.topology(), cut_of(shown))},
            {"path", path_json(std::get_if<PathCertificate>(&shown.certificate))}};
}

}  // namespace tutti::report
