// The three parts of V18. Which chunk is the image of which is proposed by `symmetry` and checked here, chunk
// by chunk: equal size, kind and release, and corresponding node sets. A node set's image is compared once
// for each pair of sets and generator, so an all-gather of n ranks, whose chunks have the same n receivers,
// costs O(n).

#include "verify/symmetric_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tutti::verify {
namespace {

class Structure {
  public:
    Structure(const Instance& instance, const symmetry::SymmetricSchedule& schedule, Report& report)
        : instance_(instance),
          topology_(instance.topology()),
          schedule_(schedule),
          generators_(schedule.generators),
          npus_(topology_.npus()),
          report_(report) {}

    std::optional<SymmetricStructure> run(std::span<const std::uint32_t> sends) {
        if (topology_.switches() > 0) return refuse("symmetric schedules are for networks of NPUs only");
        if (!group_acts_freely() || !link_orbits(sends) || !chunk_orbits(sends)) return std::nullopt;
        return std::move(result_);
    }

  private:
    std::nullopt_t refuse(std::string message) {
        report_.add(Rule::NotSymmetric, [&] {
            Violation v;
            v.message = std::move(message);
            return v;
        });
        return std::nullopt;
    }
    bool refuse_send(std::uint32_t send, std::string message) {
        report_.add(Rule::NotSymmetric, [&] {
            Violation v;
            v.message = std::move(message);
            v.sends = {send};
            v.link = schedule_.sends[send].link;
            v.chunk = schedule_.sends[send].chunk;
            return v;
        });
        return false;
    }

    /// a.
    bool group_acts_freely() {
        for (std::size_t g = 0; g < generators_.size(); ++g) {
            const auto& images = generators_[g].images;
            std::vector<bool> met(npus_, false);
            bool is_permutation = images.size() == npus_ && generators_[g].order >= 2;
            for (const NodeId image : images) {
                is_permutation = is_permutation && image.index() < npus_ && !met[image.index()];
                if (is_permutation) met[image.index()] = true;
            }
            if (!is_permutation)
                return refuse_group(
                    fmt::format("generator {} is no permutation of the NPUs of order 2 or more", g));
            result_.group *= generators_[g].order;
            if (result_.group > npus_) return refuse_group("the group has more elements than there are NPUs");
        }
        for (std::size_t g = 0; g < generators_.size(); ++g) {
            for (std::size_t h = 0; h < g; ++h) {
                for (std::size_t n = 0; n < npus_; ++n) {
                    if (moved(g, moved(h, NodeId(n))) == moved(h, moved(g, NodeId(n)))) continue;
                    return refuse_group(
                        fmt::format("generators {} and {} do not commute at NPU {}", h, g, n));
                }
            }
        }
        met_.assign(npus_, false);
        for (std::uint32_t first = 0; first < npus_; ++first) {
            if (!met_[first] && !walk_orbit(first)) return false;
        }
        return true;
    }
    bool refuse_group(std::string message) {
        refuse(std::move(message));
        return false;
    }
    [[nodiscard]] NodeId moved(std::size_t generator, NodeId npu) const {
        return generators_[generator].images[npu.index()];
    }

    /// Applies all products of powers to one NPU: the orbit's members in the order of the elements.
    bool walk_orbit(std::uint32_t first) {
        const std::size_t base = walk_.size();
        const auto meet = [&](NodeId npu) {
            if (met_[npu.index()]) return false;
            met_[npu.index()] = true;
            walk_.push_back(npu);
            return true;
        };
        (void)meet(NodeId(first));
        for (std::size_t g = 0; g < generators_.size(); ++g) {
            const std::size_t block = walk_.size() - base;
            NodeId power(first);
            for (std::uint32_t k = 1; k < generators_[g].order; ++k) {
                power = moved(g, power);
                for (std::size_t i = 0; i < block; ++i) {
                    const NodeId next = moved(g, walk_[walk_.size() - block]);
                    if (!meet(next)) {
                        return refuse_group(fmt::format(
                            "the group does not act freely: NPU {} is met twice in the orbit of NPU {}",
                            next.value(), first));
                    }
                }
            }
            if (moved(g, power) != NodeId(first)) {
                return refuse_group(
                    fmt::format("generator {} does not lead NPU {} back after {} applications", g, first,
                                generators_[g].order));
            }
        }
        return true;
    }

    /// b.
    bool link_orbits(std::span<const std::uint32_t> sends) {
        result_.link_orbit.assign(schedule_.sends.size(), symmetry::kNoImage);
        std::vector<std::uint32_t> known(topology_.links().size(), symmetry::kNoImage);
        std::uint32_t orbits = 0;
        sort_links();
        for (const std::uint32_t s : sends) {
            const LinkId link = schedule_.sends[s].link;
            if (known[link.index()] == symmetry::kNoImage) {
                if (!walk_link(s, link, orbits, known)) return false;
                ++orbits;
            }
            result_.link_orbit[s] = known[link.index()];
        }
        return true;
    }

    using Ends = std::tuple<NodeId, NodeId>;
    [[nodiscard]] Ends ends(LinkId id) const { return {topology_.link(id).src, topology_.link(id).dst}; }

    /// By source, destination, wire and number: parallel links of one wire are adjacent.
    void sort_links() {
        for (std::size_t n = 0; n < npus_; ++n) {
            row_begin_.push_back(by_ends_.size());
            const auto out = topology_.out_links(NodeId(n));
            by_ends_.insert(by_ends_.end(), out.begin(), out.end());
            std::sort(by_ends_.begin() + static_cast<std::ptrdiff_t>(row_begin_.back()), by_ends_.end(),
                      [&](LinkId a, LinkId b) {
                          return std::tuple(ends(a), topology_.link(a).wire, a) <
                                 std::tuple(ends(b), topology_.link(b).wire, b);
                      });
        }
        row_begin_.push_back(by_ends_.size());
    }
    /// The first of the links with those ends and that wire, as a position in by_ends_.
    [[nodiscard]] std::size_t first_of(NodeId src, NodeId dst, const Wire& wire) const {
        const auto begin = by_ends_.begin() + static_cast<std::ptrdiff_t>(row_begin_[src.index()]);
        const auto end = by_ends_.begin() + static_cast<std::ptrdiff_t>(row_begin_[src.index() + 1]);
        const auto found = std::partition_point(begin, end, [&](LinkId a) {
            return std::tie(topology_.link(a).dst, topology_.link(a).wire) < std::tie(dst, wire);
        });
        return static_cast<std::size_t>(found - by_ends_.begin());
    }

    bool walk_link(std::uint32_t send, LinkId link, std::uint32_t orbit, std::vector<std::uint32_t>& known) {
        const auto [src, dst, wire] = topology_.link(link);
        std::size_t place = first_of(src, dst, wire);
        std::size_t j = 0;
        while (by_ends_[place + j] != link) ++j;
        // Source and destination are moved through their orbits together, by the same products of powers.
        std::vector<NodeId> to(result_.group);
        to[0] = dst;
        std::vector<NodeId> from(result_.group);
        from[0] = src;
        std::size_t block = 1;
        for (std::size_t g = 0; g < generators_.size(); ++g) {
            const std::size_t end = block * generators_[g].order;
            for (std::size_t e = block; e < end; ++e) {
                from[e] = moved(g, from[e - block]);
                to[e] = moved(g, to[e - block]);
            }
            block = end;
        }
        for (std::size_t e = 0; e < from.size(); ++e) {
            place = first_of(from[e], to[e], wire) + j;
            const bool exists = place < row_begin_[from[e].index() + 1] &&
                                topology_.link(by_ends_[place]) == Link{from[e], to[e], wire};
            if (!exists) {
                return refuse_send(
                    send,
                    fmt::format("an image of {} would lead from NPU {} to NPU {}, but there is no such link "
                                "with the same times",
                                name_of(topology_, link), from[e].value(), to[e].value()));
            }
            known[by_ends_[place].index()] = orbit;
        }
        return true;
    }

    /// c.
    bool chunk_orbits(std::span<const std::uint32_t> sends) {
        const symmetry::ChunkAction chunks(instance_);
        for (const symmetry::Generator& generator : generators_) images_.push_back(chunks.images(generator));
        pairs_.resize(generators_.size());
        result_.covered.assign(instance_.chunks(), false);
        std::vector<bool> is_first(instance_.chunks(), true);
        for (const std::uint32_t s : sends) {
            const ChunkId chunk = schedule_.sends[s].chunk;
            if (!is_first[chunk.index()]) continue;
            is_first[chunk.index()] = false;
            if (!walk_chunk(s, chunk)) return false;
        }
        return true;
    }

    bool walk_chunk(std::uint32_t send, ChunkId first) {
        row_.assign(1, first);
        for (std::size_t g = 0; g < generators_.size(); ++g) {
            const std::size_t end = row_.size() * generators_[g].order, block = row_.size();
            while (row_.size() < end) {
                const ChunkId before = row_[row_.size() - block];
                const std::uint32_t image = images_[g][before.index()];
                if (image == symmetry::kNoImage || !corresponds(g, before, ChunkId(image))) {
                    return refuse_send(send,
                                       fmt::format("chunk {} has no image under generator {}: no demand is "
                                                   "its own with the NPUs moved",
                                                   before.value(), g));
                }
                row_.emplace_back(image);
            }
        }
        for (const ChunkId chunk : row_) {
            if (result_.covered[chunk.index()]) {
                return refuse_send(send,
                                   fmt::format("chunk {} is more than once the image of a chunk that is sent",
                                               chunk.value()));
            }
            result_.covered[chunk.index()] = true;
        }
        if (instance_.collectives().size() > 1) list_collectives(first);
        return true;
    }

    /// Of the images that row_ holds.
    void list_collectives(ChunkId first) {
        std::vector<CollectiveId> collectives;
        for (const ChunkId chunk : row_) collectives.push_back(instance_.demands().collective(chunk));
        std::ranges::sort(collectives);
        const auto repeated = std::ranges::unique(collectives);
        collectives.erase(repeated.begin(), repeated.end());
        for (const CollectiveId collective : collectives) result_.collectives.emplace_back(first, collective);
    }

    /// Whether the demand of `b` is that of `a` with the NPUs moved.
    bool corresponds(std::size_t g, ChunkId a, ChunkId b) {
        const DemandList& demands = instance_.demands();
        const Collective& of_a = instance_.collective_of(a);
        const Collective& of_b = instance_.collective_of(b);
        if (demands.size_class(a) != demands.size_class(b) ||
            demands.is_reduction(a) != demands.is_reduction(b) || of_a.forwarding != of_b.forwarding)
            return false;
        if (!sets_correspond(g, demands.holder_set(a), demands.holder_set(b)) ||
            !sets_correspond(g, demands.receiver_set(a), demands.receiver_set(b)) ||
            !releases_correspond(g, a, b))
            return false;
        return of_a.forwarding == Forwarding::Any ||
               carriers_correspond(g, demands.collective(a), demands.collective(b));
    }

    bool sets_correspond(std::size_t g, std::uint32_t a, std::uint32_t b) {
        auto& known = pairs_[g].sets;
        if (known.empty()) known.assign(instance_.demands().sets(), symmetry::kNoImage);
        if (known[a] == b) return true;
        std::vector<NodeId> image;
        for (const NodeId node : instance_.demands().set(a)) image.push_back(moved(g, node));
        std::ranges::sort(image);
        if (!std::ranges::equal(image, instance_.demands().set(b))) return false;
        known[a] = b;
        return true;
    }
    bool releases_correspond(std::size_t g, ChunkId a, ChunkId b) const {
        if (instance_.release(a) != instance_.release(b)) return false;
        if (!instance_.is_staggered(a) && !instance_.is_staggered(b)) return true;
        return std::ranges::all_of(instance_.demand(a).holders, [&](NodeId holder) {
            return instance_.release(a, holder) == instance_.release(b, moved(g, holder));
        });
    }
    bool carriers_correspond(std::size_t g, CollectiveId a, CollectiveId b) {
        auto& known = pairs_[g].collectives;
        if (known.contains({a, b})) return true;
        for (std::size_t n = 0; n < npus_; ++n) {
            if (instance_.may_carry(NodeId(n), a) != instance_.may_carry(moved(g, NodeId(n)), b))
                return false;
        }
        known[{a, b}] = true;
        return true;
    }

    /// Node sets and collectives known to be images, for one generator.
    struct Pairs {
        std::vector<std::uint32_t> sets;
        std::map<std::pair<CollectiveId, CollectiveId>, bool> collectives;
    };

    const Instance& instance_;
    const Topology& topology_;
    const symmetry::SymmetricSchedule& schedule_;
    const std::vector<symmetry::Generator>& generators_;
    const std::uint32_t npus_;
    Report& report_;
    SymmetricStructure result_;
    std::vector<NodeId> walk_;
    std::vector<bool> met_;
    std::vector<LinkId> by_ends_;
    std::vector<std::size_t> row_begin_;
    std::vector<std::vector<std::uint32_t>> images_;
    std::vector<Pairs> pairs_;
    std::vector<ChunkId> row_;
};

}  // namespace

std::optional<SymmetricStructure> SymmetricStructure::check(const Instance& instance,
                                                            const symmetry::SymmetricSchedule& schedule,
                                                            std::span<const std::uint32_t> sends,
                                                            Report& report) {
    return Structure(instance, schedule, report).run(sends);
}

}  // namespace tutti::verify
