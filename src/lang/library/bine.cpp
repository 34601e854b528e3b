// Bine (binomial negabinary) trees and butterflies: as binomial ones, but partners are nearer. Where a usual
// butterfly goes 2^s away, this goes 1 - 2 + 4 - ... ± 2^s, about two thirds of it, even ranks forwards and
// odd ones backwards. So more messages stay inside of a node or below a switch. The way that the data of one
// rank takes through the butterfly is the Bine tree of that rank: in every round those that have it hand it
// to their partners. Seen so, the eight collectives are one structure read in two directions.
//
// Broadcast and reduce go far first (distance halving); scatter and gather hand each partner what is for
// those behind it; all-gather, reduce-scatter and all-reduce are the butterfly itself; in all-to-all every
// rank hands its partner, in each round, all blocks that are for ranks on the partner's side.
//
// An all-reduce among another number than a power of two folds the rest into the others first; the other
// collectives are for powers of two.
//
// Source: De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke and Hoefler, Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality, SC 2025, arXiv 2508.17311, sections 2 to 4.

#include "lang/library/algorithms.hpp"
#include "lang/library/butterfly.hpp"

#include <bit>
#include <map>
#include <numeric>

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

/// Far first. Ranks of a rooted collective are counted from the root, who is even then.
Butterfly far_first(std::uint32_t n) {
    Butterfly butterfly{n, {}};
    std::int64_t distance = 0;
    for (std::uint32_t s = 0; (1U << s) < n; ++s) {
        distance += (s % 2 == 0 ? 1 : -1) * (std::int64_t{1} << s);
        auto& round = butterfly.partner.emplace_back(n);
        for (std::uint32_t r = 0; r < n; ++r) {
            const std::int64_t to = std::int64_t{r} + (r % 2 == 0 ? distance : -distance);
            round[r] = static_cast<std::uint32_t>(((to % n) + n) % n);
        }
    }
    return reversed(std::move(butterfly));
}

/// One edge of the tree of member 0, in the order in which the data spreads.
struct Edge {
    std::size_t round;
    std::uint32_t from, to;
};

std::vector<Edge> tree_of_root(const Butterfly& butterfly) {
    std::vector<Edge> edges;
    std::vector<std::uint32_t> having{0};
    for (std::size_t s = 0; s < butterfly.rounds(); ++s) {
        const std::size_t old = having.size();
        for (std::size_t i = 0; i < old; ++i) {
            edges.push_back({s, having[i], butterfly.partner[s][having[i]]});
            having.push_back(edges.back().to);
        }
    }
    return edges;
}

/// The ranks of the butterfly; of an all-reduce there may be more.
std::uint32_t members_of(const Settings& settings) {
    const std::uint32_t n = settings.request.ranks;
    return settings.request.kind == Kind::AllReduce ? std::bit_floor(n) : n;
}

class Bine {
  public:
    Bine(Program& p, const Settings& settings)
        : p_(p),
          n_(members_of(settings)),
          k_(p.shape().chunks),
          root_(settings.request.root),
          butterfly_(far_first(n_)) {}

    void broadcast() {
        (void)p_.chunk(root_, kInput, 0, k_).copy(root_, kOutput, 0);
        for (std::uint32_t i = 0; i < k_; ++i) {
            for (const Edge& edge : tree_of_root(butterfly_)) {
                (void)p_.chunk(rank(edge.from), kOutput, i).copy(rank(edge.to), kOutput, i);
            }
        }
    }

    void reduce() {
        const auto edges = tree_of_root(butterfly_);
        for (std::uint32_t i = 0; i < k_; ++i) {
            for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
                const Ref sent = writable(p_, rank(edge->to), i);
                (void)writable(p_, rank(edge->from), i).reduce(sent);
            }
            (void)p_.chunk(root_, work_buffer(p_), i).copy(root_, kOutput, i);
        }
    }

    /// What is behind an edge goes over it: blocks of the members that the receiver leads to, in scratch.
    void scatter() {
        const std::uint32_t passing = p_.scratch("scratch");
        for (const Edge& edge : tree_of_root(butterfly_)) {
            for (const std::uint32_t member : behind(edge)) {
                const Ref block = edge.from == 0 ? p_.chunk(root_, kInput, rank(member) * k_, k_)
                                                 : p_.chunk(rank(edge.from), passing, member * k_, k_);
                (void)(member == edge.to ? block.copy(rank(edge.to), kOutput, 0)
                                         : block.copy(rank(edge.to), passing, member * k_));
            }
        }
        (void)p_.chunk(root_, kInput, root_ * k_, k_).copy(root_, kOutput, 0);
    }

    void gather() {
        const std::uint32_t passing = p_.scratch("scratch");
        const auto edges = tree_of_root(butterfly_);
        for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
            for (const std::uint32_t member : behind(*edge)) {
                const Ref block = member == edge->to ? p_.chunk(rank(member), kInput, 0, k_)
                                                     : p_.chunk(rank(edge->to), passing, member * k_, k_);
                (void)(edge->from == 0 ? block.copy(root_, kOutput, rank(member) * k_)
                                       : block.copy(rank(edge->from), passing, member * k_));
            }
        }
        (void)p_.chunk(root_, kInput, 0, k_).copy(root_, kOutput, root_ * k_);
    }

    void sums_or_copies(Kind kind) {
        std::vector<std::uint32_t> ranks(n_);
        std::iota(ranks.begin(), ranks.end(), 0U);
        std::vector<Share> shares(n_);
        const std::uint32_t share = kind == Kind::AllReduce ? k_ / n_ : k_;
        for (std::uint32_t r = 0; r < n_; ++r) shares[r] = {{r * share, share}};
        // Near first for the first half of the data, far for little of it.
        const Butterfly near_first = reversed(butterfly_);
        if (kind == Kind::AllGather) {
            keep_own_share(p_);
        } else {
            if (kind == Kind::AllReduce) {
                fold_rest(p_, n_);
            } else {
                for (std::uint32_t r = 0; r < n_; ++r) (void)writable(p_, r, 0, n_ * share);
            }
            halve_sums(p_, ranks, shares, near_first, work_buffer(p_));
        }
        if (kind == Kind::ReduceScatter) {
            for (std::uint32_t r = 0; r < n_; ++r)
                (void)p_.chunk(r, work_buffer(p_), r * share, share).copy(r, kOutput, 0);
        } else {
            double_copies(p_, ranks, shares, near_first, kOutput);
        }
        if (kind == Kind::AllReduce) hand_back(p_, n_);
    }

    /// Blocks (from, to) wait in scratch at a place for each rank they are from, in the order of arrival.
    void all_to_all() {
        const auto sides = kept(butterfly_);
        // What a rank has: the block for `to` of `from` is at that place of scratch, or still in the input.
        using Block = std::pair<std::uint32_t, std::uint32_t>;
        std::vector<std::map<Block, Slot>> has(n_);
        std::vector<std::uint32_t> used(n_, 0);
        const std::uint32_t passing = p_.scratch("scratch");
        for (std::uint32_t r = 0; r < n_; ++r) {
            for (std::uint32_t to = 0; to < n_; ++to) has[r][{to, r}] = {r, kInput, to * k_};
        }
        for (std::size_t s = 0; s < butterfly_.rounds(); ++s) {
            auto after = has;
            for (std::uint32_t r = 0; r < n_; ++r) {
                const std::uint32_t other = butterfly_.partner[s][r];
                for (const std::uint32_t to : sides[s + 1][other]) {
                    for (auto at = has[r].lower_bound({to, 0}); at != has[r].end() && at->first.first == to;
                         ++at) {
                        after[r].erase(at->first);
                        const Slot& slot = at->second;
                        const Ref block = p_.chunk(r, slot.buffer, slot.index, k_);
                        if (to == other) {
                            (void)block.copy(to, kOutput, at->first.second * k_);
                            continue;
                        }
                        (void)block.copy(other, passing, used[other]);
                        after[other][at->first] = {other, passing, used[other]};
                        used[other] += k_;
                    }
                }
            }
            has = std::move(after);
        }
        for (std::uint32_t r = 0; r < n_; ++r) {
            for (const auto& [block, slot] : has[r]) {
                (void)p_.chunk(r, slot.buffer, slot.index, k_).copy(r, kOutput, block.second * k_);
            }
        }
    }

  private:
    [[nodiscard]] std::uint32_t rank(std::uint32_t member) const { return (member + root_) % n_; }

    /// The members that get their data through the receiver of the edge, itself among them.
    [[nodiscard]] std::vector<std::uint32_t> behind(const Edge& edge) const {
        std::vector<std::uint32_t> members{edge.to};
        for (std::size_t s = edge.round + 1; s < butterfly_.rounds(); ++s) {
            const std::size_t old = members.size();
            for (std::size_t i = 0; i < old; ++i) members.push_back(butterfly_.partner[s][members[i]]);
        }
        return members;
    }

    Program& p_;
    std::uint32_t n_, k_, root_;
    Butterfly butterfly_;
};

void write_bine(Program& p, const Settings& settings) {
    Bine bine(p, settings);
    switch (settings.request.kind) {
        case Kind::Broadcast:
            return bine.broadcast();
        case Kind::Reduce:
            return bine.reduce();
        case Kind::Scatter:
            return bine.scatter();
        case Kind::Gather:
            return bine.gather();
        case Kind::AllToAll:
            return bine.all_to_all();
        default:
            return bine.sums_or_copies(settings.request.kind);
    }
}

}  // namespace

Algorithm bine() {
    return {
        .name = "bine",
        .about = "trees and butterflies whose partners are a third nearer than binomial ones",
        .source = "De Sensi et al., SC 2025, arXiv 2508.17311",
        .kinds = {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll, Kind::Broadcast,
                  Kind::Reduce, Kind::Gather, Kind::Scatter},
        .parameters = {{"chunks", "chunks of a share, or that follow each other through a tree", 1, 1, 32}},
        .why_not = [](const Settings& settings) -> std::string {
            if (settings.request.kind == Kind::AllToAll && *settings.request.in_place)
                return "in place, blocks would be overwritten before they are sent";
            return power_of_two_only(members_of(settings));
        },
        .chunks =
            [](const Settings& settings) {
                return settings["chunks"] *
                       (settings.request.kind == Kind::AllReduce ? members_of(settings) : 1);
            },
        .write = write_bine};
}

}  // namespace tutti::lang::library
