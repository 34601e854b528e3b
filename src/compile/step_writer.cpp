#include "compile/step_writer.hpp"

#include <utility>

namespace tutti::compile {

using plan::Step;

void StepWriter::list(const plan::Address& first, std::int32_t count,
                      std::vector<std::size_t>& numbers) const {
    for (std::int32_t k = 0; k < count; ++k) numbers.push_back(places_.of(first.plus(k)));
}

void StepWriter::push_nop(Block& block, Step nop) {
    for (std::size_t i = 0; i < block.steps.size() && !block.has_nops; ++i) block.works.emplace_back(i);
    block.has_nops = true;
    nop.number = plan::StepId(block.steps.size());
    block.steps.push_back(nop);
}

std::vector<Step> StepWriter::take_steps(std::size_t block) {
    std::vector<Step>& steps = blocks_[block].steps;
    if (steps.size() < steps.capacity()) return {steps.begin(), steps.end()};  // without what is not used
    return std::move(steps);
}

void StepWriter::add(std::uint32_t block, Step step) {
    reads_.clear();
    writes_.clear();
    if (plan::uses_source(step.type)) list(step.src, step.count, reads_);
    if (step.type == plan::StepType::Reduce) list(step.dst, step.count, reads_);
    if (plan::stores(step.type)) list(step.dst, step.count, writes_);
    const std::vector<StepOf> waited = waits_.next(block, reads_, writes_);
    for (std::size_t k = 0; k < waited.size(); ++k) {
        Block& other = blocks_[waited[k].block];
        const plan::StepId number = number_of(other, waited[k].step);
        other.steps[number.index()].signals = true;
        Step nop{.count = 0};
        nop.dst.buffer = plan::Buffer::Output;
        const bool last = k + 1 == waited.size();
        Step& bearer = last ? step : nop;
        bearer.dep_block = plan::BlockId(waited[k].block);
        bearer.dep_step = number;
        if (!last) push_nop(blocks_[block], nop);
    }
    Block& own = blocks_[block];
    step.number = plan::StepId(own.steps.size());
    own.steps.push_back(step);
    if (own.has_nops) own.works.push_back(step.number);
}

}  // namespace tutti::compile
