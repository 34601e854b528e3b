// Dependencies: the step whose signal each step waits for, and nops that runtimes interpret differently.

#include "verify/plan/msccl_structure.hpp"

#include <fmt/format.h>

namespace tutti::verify {
namespace {

using plan::Place;
using plan::Step;
using plan::StepType;

class DependencyResolver {
  public:
    DependencyResolver(const PlanReading& reading, MscclStructure& structure, Findings& violations,
                       Findings& warnings)
        : reading_(reading), structure_(structure), violations_(violations), warnings_(warnings) {}

    void resolve_dependencies() {
        std::vector<std::vector<std::uint32_t>> signals(structure_.blocks.size());  // made when asked for
        for (std::uint32_t block = 0; block < structure_.blocks.size(); ++block) {
            plan::OpId id = structure_.blocks[block].first;
            for (const Step& step : structure_.blocks[block].block->steps)
                resolve_dependency(id++, step, block, signals);
        }
    }

    void warn_of_nops() {
        for (const MscclStructure::Block& block : structure_.blocks) {
            bool pending = false;  // nops with a dependency wait for a real step to carry it
            const auto& steps = block.block->steps;
            for (std::size_t i = 0; i < steps.size(); ++i) {
                const plan::OpId id = block.first + static_cast<plan::OpId>(i);
                const bool depends = steps[i].dep_block.has_value();
                if (steps[i].type == StepType::Nop) {
                    if (!depends)
                        warnings_.add(
                            "idle-nop",
                            step_message(id, "has no dependency: runtimes miscount the steps after it"),
                            structure_.place(id));
                    pending = pending || depends;
                } else {
                    if (pending && !depends) {
                        warnings_.add(
                            "nop-dependency",
                            step_message(id,
                                         "follows dependency nops but has no dependency of its own: "
                                         "runtimes refuse the file"),
                            structure_.place(id));
                    }
                    pending = false;
                }
            }
            if (pending) {
                warnings_.add(
                    "trailing-nop",
                    fmt::format("gpu {} tb {} ends with a dependency nop: runtimes lose that dependency",
                                block.gpu, block.block->id),
                    structure_.place(block));
            }
        }
    }

  private:
    [[nodiscard]] std::string step_message(plan::OpId id, std::string_view what) const {
        return fmt::format("{} {}", structure_.named(id), what);
    }

    void resolve_dependency(plan::OpId id, const Step& step, std::uint32_t block,
                            std::vector<std::vector<std::uint32_t>>& signals) {
        if (!step.dep_block && !step.dep_step) return;
        const MscclStructure::Block& own = structure_.blocks[block];
        const auto blocks = structure_.blocks_of(own.gpu);
        const bool exists = step.dep_block && step.dep_step && (*step.dep_block).index() < blocks.size() &&
                            (*step.dep_step).index() < blocks[(*step.dep_block).index()].block->steps.size();
        if (!exists) {
            violations_.add(
                "dependency",
                step_message(id, fmt::format("depends on tb {} step {}, which gpu {} does not have",
                                             plan::file_number(step.dep_block),
                                             plan::file_number(step.dep_step), own.gpu)),
                structure_.place(id));
            return;
        }
        const std::uint32_t on = structure_.first_block[own.gpu.index()] + (*step.dep_block).value();
        const plan::OpId named = structure_.blocks[on].first + (*step.dep_step).value();
        if (on == block && named < id) return;  // an earlier step of the same block
        if (on == block) {
            violations_.add("deadlock",
                            step_message(id, named == id ? "depends on itself"
                                                         : "depends on a later step of its own thread block"),
                            structure_.place(id), {structure_.place(named)});
            return;
        }
        depend(id, named, on, signals[on]);
    }

    void depend(plan::OpId id, plan::OpId named, std::uint32_t on, std::vector<std::uint32_t>& signals) {
        const MscclStructure::Block& block = structure_.blocks[on];
        if (gives_signal(block.block->steps[named - block.first])) return;
        if (signals.empty()) {
            // signals[i]: the first step from i on that signals; one past the last if there is none
            const auto& steps = block.block->steps;
            signals.assign(steps.size() + 1, static_cast<std::uint32_t>(steps.size()));
            for (std::size_t i = steps.size(); i-- > 0;) {
                signals[i] = gives_signal(steps[i]) ? static_cast<std::uint32_t>(i) : signals[i + 1];
            }
        }
        const std::uint32_t serving = signals[named - block.first];
        if (serving == block.block->steps.size()) {
            const Place other = structure_.place(named);
            violations_.add(
                "deadlock",
                step_message(id, fmt::format("waits for ever for {}: neither it nor a later step of that "
                                             "thread block signals (hasdep=1)",
                                             text_of(other))),
                structure_.place(id), {other});
            return;
        }
        structure_.served_by[named] = block.first + serving;
        const Place place = structure_.place(id), other = structure_.place(named);
        const std::string message = fmt::format(
            "depends on {}, which does not signal (hasdep=0); step {} does", text_of(other), serving);
        if (reading_.strict_dependencies) {
            violations_.add("dependency", message, place, {other});
        } else {
            warnings_.add("unsignalled-dependency", message, place, {other});
        }
    }

    const PlanReading& reading_;
    MscclStructure& structure_;
    Findings& violations_;
    Findings& warnings_;
};

}  // namespace

void resolve_dependencies(const PlanReading& reading, MscclStructure& structure, Findings& violations,
                          Findings& warnings) {
    DependencyResolver resolver(reading, structure, violations, warnings);
    resolver.resolve_dependencies();
    resolver.warn_of_nops();
}

}  // namespace tutti::verify
