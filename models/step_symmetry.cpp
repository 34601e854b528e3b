// Symmetric algorithms exist surprisingly often and are far easier to find: if the algorithm is invariant
// under a group, only one chunk of each orbit has to be routed, and the others follow. The group must act
// freely on the nodes, so that the images of a send are sends of different chunks. "Infeasible" proves
// nothing: then the whole model must be solved.

#include "models/step_symmetry.hpp"

#include "symmetry/automorphisms.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti::models {

std::vector<StepSymmetry> free_symmetries(const StepProblem& problem, const Stop& stop) {
    symmetry::SymmetryQuestion question;
    std::vector<std::int64_t> capacities;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> arc_of;
    for (const StepArc& arc : problem.arcs) {
        arc_of[{arc.src.index(), arc.dst.index()}] = capacities.size();
        capacities.push_back(arc.capacity);
    }
    const std::vector<std::uint32_t> labels = symmetry::ranked(capacities);
    for (std::size_t e = 0; e < labels.size(); ++e) {
        question.graph.arcs.push_back({problem.arcs[e].src.value(), problem.arcs[e].dst.value(), labels[e]});
    }
    question.graph.colours.resize(problem.nodes);

    std::map<std::pair<std::vector<NodeId>, std::vector<NodeId>>, std::uint32_t> class_of;
    for (const StepClass& kind : problem.classes) {
        class_of[{kind.holders, kind.receivers}] = static_cast<std::uint32_t>(class_of.size());
    }
    question.on_demands = [&](const symmetry::Permutation& nodes) -> std::optional<symmetry::Permutation> {
        const auto mapped = [&](std::vector<NodeId> list) {
            for (NodeId& node : list) node = NodeId(nodes[node.index()]);
            std::ranges::sort(list);
            return list;
        };
        symmetry::Permutation result;
        for (const StepClass& kind : problem.classes) {
            const auto image = class_of.find({mapped(kind.holders), mapped(kind.receivers)});
            if (image == class_of.end() || problem.classes[image->second].count != kind.count)
                return std::nullopt;
            result.push_back(image->second);
        }
        return result;
    };
    const bool one_holder =
        std::ranges::all_of(problem.classes, [](const StepClass& kind) { return kind.holders.size() == 1; });
    question.copies.assign(problem.classes.size(), 1);
    question.takes_part.assign(problem.nodes, true);
    question.must_move = question.takes_part;
    if (!one_holder)
        std::iota(question.graph.colours.begin(), question.graph.colours.end(), 0U);  // all differ

    std::vector<StepSymmetry> result;
    for (const symmetry::Symmetry& symmetry : symmetry::free_group(question, stop)) {
        StepSymmetry& step = result.emplace_back();
        step.nodes.assign(symmetry.nodes.begin(), symmetry.nodes.end());
        step.classes.assign(symmetry.demands.begin(), symmetry.demands.end());
        for (const StepArc& arc : problem.arcs) {
            step.arcs.push_back(arc_of.at({step.nodes[arc.src.index()], step.nodes[arc.dst.index()]}));
        }
    }
    return result;
}

}  // namespace tutti::models
