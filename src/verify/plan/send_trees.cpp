// A tree's sends may be listed in any order. Every node but the root must be the destination of exactly one
// of them; then a search from the root reaches all nodes unless there is a cycle. O(sends + trees) time and
// O(nodes) memory besides the plan.

#include "verify/plan/send_trees.hpp"

#include "plan/send_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

namespace tutti::verify {
namespace {

using plan::ForestCollPlan;
using plan::ForestTree;
using plan::PlanNode;
using plan::TreeSend;

class TreeCheck {
  public:
    TreeCheck(const ForestCollPlan& plan, Findings& violations, Findings& warnings)
        : plan_(plan),
          violations_(violations),
          warnings_(warnings),
          depth_(nodes(), kUnreached),
          first_(nodes()) {}

    std::int64_t run() {
        for (std::uint32_t t = 0; t < plan_.trees.size(); ++t) {
            sends_ = plan_.trees[t].sends;
            check(t);
        }
        check_shares();
        return greatest_;
    }

  private:
    static constexpr std::int64_t kUnreached = -1;
    [[nodiscard]] std::size_t nodes() const { return plan_.node_names.size(); }
    [[nodiscard]] std::string name_of(PlanNode node) const { return plan::node_name(plan_.node_names, node); }
    [[nodiscard]] std::string text_of(const TreeSend& send) const {
        return fmt::format("{} sends to {}", name_of(send.src), name_of(send.dst));
    }
    [[nodiscard]] plan::Place place_of(std::uint32_t t, std::uint32_t i) const {
        return {.gpu = rank_of(sends_[i].src), .step = plan::StepId(t), .inner = plan::StepId(i)};
    }
    [[nodiscard]] std::string tree_name(std::uint32_t t) const {
        return fmt::format("the tree {} of {}", plan_.trees[t].index, name_of(plan_.trees[t].root));
    }

    void check(std::uint32_t t) {
        const ForestTree& tree = plan_.trees[t];
        touched_.assign(1, tree.root);
        depth_[tree.root.index()] = 0;
        // The sends of each node, as lists; and in the order in which nodes are reached.
        for (std::uint32_t i = 0; i < sends_.size(); ++i) first_[sends_[i].src.index()].clear();
        for (std::uint32_t i = 0; i < sends_.size(); ++i) first_[sends_[i].src.index()].push_back(i);
        for (std::size_t at = 0; at < touched_.size(); ++at) walk(t, touched_[at]);
        for (std::uint32_t i = 0; i < sends_.size(); ++i) {
            auto& left = first_[sends_[i].src.index()];
            if (!left.empty()) {
                report("not-held",
                       fmt::format("{} ({}), but the tree never reaches {}", text_of(sends_[i]), tree_name(t),
                                   name_of(sends_[i].src)),
                       place_of(t, i));
            }
            left.clear();
        }
        if (touched_.size() < nodes()) {
            violations_.open() ? report_unreached(t) : violations_.count_one();
        }
        std::int64_t height = 0;
        for (const PlanNode node : touched_) {
            std::int64_t& depth = depth_[node.index()];
            height = std::max(height, depth);
            depth = kUnreached;
        }
        greatest_ = std::max(greatest_, height);
        if (height != tree.height) {
            warnings_.add("claim", fmt::format("{} has height {}, the file says {}", tree_name(t), height,
                                               tree.height));
        }
    }

    void walk(std::uint32_t t, PlanNode node) {
        auto& out = first_[node.index()];
        for (const std::uint32_t i : out) {
            std::int64_t& depth = depth_[sends_[i].dst.index()];
            if (depth == kUnreached) {
                depth = depth_[node.index()] + 1;
                touched_.push_back(sends_[i].dst);
            } else {
                report("tree", fmt::format("{} ({}), which has it already", text_of(sends_[i]), tree_name(t)),
                       place_of(t, i));
            }
        }
        out.clear();
    }

    void report_unreached(std::uint32_t t) {
        const auto at = std::ranges::find(depth_, kUnreached);
        const auto node = plan::id_of<PlanNode>(at - depth_.begin());
        plan::Place place;
        place.gpu = rank_of(node);
        place.step = plan::StepId(t);
        report("value",
               fmt::format("{} reaches {} of {} nodes; the first that it lacks is {}", tree_name(t),
                           touched_.size(), nodes(), name_of(node)),
               place);
    }

    void check_shares() {
        std::vector<std::int64_t> share(nodes());
        std::set<std::pair<PlanNode, std::int64_t>> indices;
        for (const ForestTree& tree : plan_.trees) {
            std::int64_t& sum = share[tree.root.index()];
            sum = std::min(sum + tree.chunks, std::int64_t{1} << 60U);
            if (!indices.emplace(tree.root, tree.index).second) {
                report("tree", fmt::format("{} has two trees of number {}", name_of(tree.root), tree.index),
                       {});
            }
        }
        for (const PlanNode node : plan::nodes_below(plan_.nodes())) {
            const std::int64_t chunks = share[node.index()];
            if (chunks == plan_.chunks_per_node) continue;
            plan::Place place;
            place.gpu = rank_of(node);
            report("value",
                   fmt::format("the trees of {} carry {} chunks, its share has {}", name_of(node), chunks,
                               plan_.chunks_per_node),
                   place);
        }
    }

    void report(const char* code, std::string message, const plan::Place& place) {
        if (violations_.open()) {
            violations_.add(code, std::move(message), place);
        } else {
            violations_.count_one();
        }
    }

    const ForestCollPlan& plan_;
    Findings &violations_, &warnings_;
    std::span<const TreeSend> sends_;  ///< of the tree at hand
    std::vector<std::int64_t> depth_;  ///< by node
    std::vector<std::vector<std::uint32_t>>
        first_;                      ///< sends of the tree at hand, by source; empty between trees
    std::vector<PlanNode> touched_;  ///< reached nodes
    std::int64_t greatest_ = 0;
};

}  // namespace

std::int64_t check_trees(const ForestCollPlan& plan, Findings& violations, Findings& warnings) {
    return TreeCheck(plan, violations, warnings).run();
}

}  // namespace tutti::verify
