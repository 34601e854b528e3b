#include "rewrite/schedule.hpp"

#include "rewrite/transformations.hpp"

#include <fmt/format.h>

#include <variant>

namespace tutti::rewrite {
namespace {

struct Applied {
    const tensor::Program& program;

    tensor::Program operator()(const tensor::Split& step) const { return split(program, step); }
    tensor::Program operator()(const tensor::Reorder& step) const { return reorder(program, step); }
    tensor::Program operator()(const tensor::Distribute& step) const { return distribute(program, step); }
    tensor::Program operator()(const tensor::AsSlice& step) const { return as_slice(program, step); }
    tensor::Program operator()(const tensor::Fuse& step) const { return fuse(program, step); }
    tensor::Program operator()(const tensor::Coalesce& step) const { return coalesce(program, step); }
    tensor::Program operator()(const tensor::OverlapStep& step) const { return overlap(program, step); }
};

}  // namespace

tensor::Program apply_step(const tensor::Program& program, const tensor::Step& step) {
    return std::visit(Applied{program}, step);
}

tensor::Program replay(const tensor::Program& program, std::span<const tensor::Step> steps) {
    tensor::Program current = program;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        try {
            current = apply_step(current, steps[i]);
        } catch (const tensor::Refusal& refusal) {
            throw refusal.at_place(fmt::format("/steps/{}", i));
        }
    }
    return current;
}

}  // namespace tutti::rewrite
