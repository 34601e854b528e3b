#include "compile/step_writer.hpp"

namespace tutti::compile {

using plan::Step;

void StepWriter::list(const plan::Address& first, std::int32_t count,
                      std::vector<std::size_t>& numbers) const {
    for (std::int32_t k = 0; k < count; ++k) numbers.push_back(places_.of(first.plus(k)));
}

void StepWriter::push(std::uint32_t block, Step step) {
    auto& steps = blocks_[block].steps;
    step.number = plan::StepId(steps.size());
    steps.push_back(step);
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
        const plan::StepId number = other.works[waited[k].step];
        other.steps[number.index()].signals = true;
        Step nop{.count = 0};
        nop.dst.buffer = plan::Buffer::Output;
        const bool last = k + 1 == waited.size();
        Step& bearer = last ? step : nop;
        bearer.dep_block = plan::BlockId(waited[k].block);
        bearer.dep_step = number;
        if (!last) push(block, nop);
    }
    push(block, step);
    blocks_[block].works.push_back(blocks_[block].steps.back().number);
}

}  // namespace tutti::compile
