// Exits: chunks that leave a part only once leave it with the whole sum of the part, which its inner links
// must have made before, and what leaves must then come to everybody else around the part. All others leave
// it twice.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tutti::verify {
namespace {

class ExitsCheck {
  public:
    ExitsCheck(const Instance& instance, const ExitsCertificate& claim)
        : instance_(instance), topology_(instance.topology()), claim_(claim) {}

    Objection operator()(Ticks value) {
        if (topology_.nodes() != topology_.npus()) return "the topology has switches";
        if (claim_.part.size() != topology_.npus()) return "there must be a part for every NPU";
        if (claim_.chunk.index() >= instance_.chunks()) return "there is no such chunk";
        const Demand like = instance_.demand(claim_.chunk);
        if (!like.reduction) return "the chunk is no reduction";
        Wide release = kNever;
        for (const Need& need : needs_of(instance_)) {
            const Demand demand = instance_.demand(need.chunk);
            const bool same = demand.reduction && demand.bytes == like.bytes &&
                              std::ranges::equal(demand.holders, like.holders) &&
                              std::ranges::equal(demand.receivers, like.receivers);
            if (!same) continue;
            chunks_ += need.count;
            release = std::min(release, Wide{instance_.release(need.chunk).count()});
        }
        if (chunks_ == 0) return "nothing of the chunk needs to be sent";
        // Within so long from the first release on.
        const Wide within = Wide{value.count()} - 1 - release;
        std::vector<std::uint32_t> parts(claim_.part);
        std::ranges::sort(parts);
        parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
        Wide sends = 0, needed = 0;
        for (const std::uint32_t part : parts) {
            const Wide holders = std::ranges::count_if(like.holders, [&](NodeId n) { return is(n, part); });
            if (holders == 0 || std::ranges::all_of(like.receivers, [&](NodeId n) { return is(n, part); }))
                continue;
            needed += 2 * chunks_;
            sends += ended(part, false, within, like.bytes);
            const Wide rest = rest_of(part, like);
            if (rest > within) continue;
            const Wide once =
                holders == 1 ? chunks_ : ended(part, true, within - rest, like.bytes) / (holders - 1);
            sends += std::min(chunks_, once);
        }
        if (sends < needed) return std::nullopt;
        return fmt::format("by {} there is room for {} sends out of parts where {} are needed",
                           text_of(Wide{value.count()} - 1), text_of(sends), text_of(needed));
    }

  private:
    [[nodiscard]] bool is(NodeId node, std::uint32_t part) const { return claim_.part[node.index()] == part; }
    [[nodiscard]] Wide time(LinkId id, Bytes bytes) const {
        return Wide{instance_.alpha(id).count()} + topology_.beta(id, bytes).count();
    }

    /// Sends of links inside the part, or out of it, that start and end within the time.
    [[nodiscard]] Wide ended(std::uint32_t part, bool inside, Wide within, Bytes bytes) const {
        Wide sends = 0;
        for (std::size_t e = 0; e < topology_.links().size(); ++e) {
            const Link& link = topology_.link(LinkId(e));
            if (!is(link.src, part) || is(link.dst, part) != inside) continue;
            const Wide spare = within - time(LinkId(e), bytes);
            if (spare < 0) continue;
            const Wide gap = busy(instance_, LinkId(e), bytes).count();
            sends += gap == 0 ? kNever : spare / gap + 1;
        }
        return sends;
    }

    /// From the start on a link out of the part to the farthest receiver elsewhere, never entering the part:
    /// by rounds over all links, until nothing gets shorter.
    [[nodiscard]] Wide rest_of(std::uint32_t part, const Demand& like) const {
        Wide least = kNever;
        for (std::size_t e = 0; e < topology_.links().size(); ++e) {
            const Link& out = topology_.link(LinkId(e));
            if (!is(out.src, part) || is(out.dst, part)) continue;
            std::vector<Wide> at(topology_.nodes(), kNever);
            at[out.dst.index()] = time(LinkId(e), like.bytes);
            for (bool shorter = true; shorter;) {
                shorter = false;
                for (std::size_t i = 0; i < topology_.links().size(); ++i) {
                    const Link& link = topology_.link(LinkId(i));
                    if (is(link.dst, part) || at[link.src.index()] >= kNever) continue;
                    const Wide there = at[link.src.index()] + time(LinkId(i), like.bytes);
                    if (there >= at[link.dst.index()]) continue;
                    at[link.dst.index()] = there;
                    shorter = true;
                }
            }
            Wide farthest = 0;
            for (const NodeId receiver : like.receivers) {
                if (!is(receiver, part)) farthest = std::max(farthest, at[receiver.index()]);
            }
            least = std::min(least, farthest);
        }
        return least;
    }

    const Instance& instance_;
    const Topology& topology_;
    const ExitsCertificate& claim_;
    Wide chunks_ = 0;
};

}  // namespace

Objection check_exits(const Instance& instance, const ExitsCertificate& exits, Ticks value) {
    expects(value > Ticks(0));
    return ExitsCheck(instance, exits)(value);
}

}  // namespace tutti::verify
