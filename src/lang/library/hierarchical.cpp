// Two levels: sums inside the node (each rank gets a share), then across nodes between ranks of one number,
// each on its own rail, then copies inside. Between nodes only one n-th of the data goes over each link.
// Reduce-scatter is the first half of it, all-gather the second. Inside and across, the ranks form rings,
// send to all at once, or halve and double; with all pairs on both levels it is the multi-node all-pairs of
// MSCCLang, with rings on both it is a ring in each dimension of a 2-D torus. With several channels a share
// is cut into parts that follow each other: one is summed up inside while another one is on its way across.
// Source: Cho, Finkler, Serrano, Kung and Hunter, BlueConnect, MLSys 2019; Cowan et al., MSCCLang, ASPLOS
// 2023, section 2.

#include "lang/library/algorithms.hpp"
#include "lang/library/stages.hpp"

#include <fmt/format.h>

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

/// Share (i, b): summed up by number i of node b. Of all-reduce shares of one i are neighbours; of the others
/// the collective says where a rank's share is.
class Hierarchical {
  public:
    Hierarchical(Program& p, const Settings& settings)
        : p_(p),
          kind_(settings.request.kind),
          gpus_(settings["gpus"]),
          nodes_(p.ranks() / gpus_),
          channels_(settings["channels"]),
          part_(p.shape().chunks / (kind_ == Kind::AllReduce ? p.ranks() : 1)),
          inner_(static_cast<Style>(settings["inner"])),
          outer_(static_cast<Style>(settings["outer"])) {}

    void write() {
        if (kind_ == Kind::AllGather) {
            keep_own_share(p_);
        } else {
            const std::uint32_t shares = p_.ranks() * part_;
            for (std::uint32_t r = 0; r < p_.ranks(); ++r) (void)writable(p_, r, 0, shares);
        }
        for (std::uint32_t channel = 0; channel < channels_; ++channel) write(channel);
        if (kind_ != Kind::ReduceScatter) return;
        for (std::uint32_t r = 0; r < p_.ranks(); ++r) {
            (void)p_.chunk(r, work_buffer(p_), r * part_, part_).copy(r, kOutput, 0);
        }
    }

  private:
    [[nodiscard]] std::uint32_t rank(std::uint32_t node, std::uint32_t i) const { return node * gpus_ + i; }
    /// The share of a rank, on one channel.
    [[nodiscard]] Run share(std::uint32_t node, std::uint32_t i, std::uint32_t channel) const {
        const std::uint32_t position = kind_ == Kind::AllReduce ? i * nodes_ + node : rank(node, i);
        return {position * part_ + channel * (part_ / channels_), part_ / channels_};
    }
    [[nodiscard]] std::vector<std::uint32_t> node(std::uint32_t b) const {
        std::vector<std::uint32_t> members;
        for (std::uint32_t i = 0; i < gpus_; ++i) members.push_back(rank(b, i));
        return members;
    }
    [[nodiscard]] std::vector<std::uint32_t> rail(std::uint32_t i) const {
        std::vector<std::uint32_t> members;
        for (std::uint32_t b = 0; b < nodes_; ++b) members.push_back(rank(b, i));
        return members;
    }

    void write(std::uint32_t channel) {
        std::vector<Share> inside(gpus_);
        std::vector<std::vector<Share>> across(gpus_);
        for (std::uint32_t i = 0; i < gpus_; ++i) {
            for (std::uint32_t b = 0; b < nodes_; ++b) {
                inside[i].push_back(share(b, i, channel));
                across[i].push_back({inside[i].back()});
            }
            inside[i] = joined({&inside[i], 1}, std::vector<std::uint32_t>{0});
        }
        const auto on = [&](std::int32_t stage) {
            return Directive{.channel = static_cast<std::int32_t>(channel) * 3 + stage};
        };
        if (kind_ != Kind::AllGather) {
            const std::uint32_t work = work_buffer(p_);
            for (std::uint32_t b = 0; b < nodes_; ++b) sum_shares(p_, node(b), inside, inner_, work, on(0));
            for (std::uint32_t i = 0; i < gpus_; ++i) sum_shares(p_, rail(i), across[i], outer_, work, on(1));
        }
        if (kind_ != Kind::ReduceScatter) {
            for (std::uint32_t i = 0; i < gpus_; ++i)
                spread_shares(p_, rail(i), across[i], outer_, kOutput, on(1));
            for (std::uint32_t b = 0; b < nodes_; ++b)
                spread_shares(p_, node(b), inside, inner_, kOutput, on(2));
        }
    }

    Program& p_;
    Kind kind_;
    std::uint32_t gpus_, nodes_, channels_, part_;
    Style inner_, outer_;
};

}  // namespace

Algorithm hierarchical() {
    return {.name = "hierarchical",
            .about = "sums inside nodes, across nodes between ranks of one number, copies inside",
            .source = "Cho et al. (BlueConnect), MLSys 2019",
            .kinds = {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter},
            .parameters = {{"gpus", "ranks of a node, which are neighbours", 8, 1, 1024, Knob::Divisors},
                           {"inner", "inside of a node: 0 ring, 1 all pairs, 2 halving and doubling", 0, 0, 2,
                            Knob::Any},
                           {"outer", "across nodes: 0 ring, 1 all pairs, 2 halving and doubling", 0, 0, 2,
                            Knob::Any},
                           {"channels", "parts of the data that follow each other", 1, 1, 10}},
            .why_not = [](const Settings& settings) -> std::string {
                const std::uint32_t n = settings.request.ranks, g = settings["gpus"];
                if (n % g != 0) return fmt::format("{} ranks are no nodes of {} (parameter gpus)", n, g);
                const std::string inside = why_not(static_cast<Style>(settings["inner"]), g);
                return inside.empty() ? why_not(static_cast<Style>(settings["outer"]), n / g) : inside;
            },
            .chunks =
                [](const Settings& settings) {
                    return settings["channels"] *
                           (settings.request.kind == Kind::AllReduce ? settings.request.ranks : 1);
                },
            .write = [](Program& p, const Settings& settings) { Hierarchical(p, settings).write(); }};
}

}  // namespace tutti::lang::library
