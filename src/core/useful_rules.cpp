// Two abilities of switches cannot make a schedule shorter:
//
// - to copy, where no chunk has two receivers. Of a valid schedule keep the sends that the receiver's value
//   comes from: for plain chunks the last arrival there and what it was sent from, back to a holder; for a
//   reduction all sends whose contributions are in the receiver's value at the end. Two sends of one copy
//   would bring the same contributions twice, so of each copy at most one is kept. The others can be left
//   out: no link is busy longer, copies leave a switch in the order in which they did and not later, and
//   what cuts through is paired as before, because pairs are in order of links.
// - to reduce, where nothing is a reduction. Added to a copy of itself a plain chunk would count twice, so
//   every arrival with `reduce` at a switch is a new copy, as one with `copy` is.
//
// So searches need not look for such uses, bounds that hold only for switches that forward hold there too,
// and an ability that is of no use to an instance cannot make the schedule that is found for it any longer.

#include "core/useful_rules.hpp"

namespace tutti {

std::optional<Instance> with_useful_rules(const Instance& instance) {
    bool copies = false, reduces = false;
    for (const SwitchRule& rule : instance.topology().parts().switches) {
        copies = copies || rule.copy;
        reduces = reduces || rule.reduce;
    }
    for (std::size_t c = 0; c < instance.chunks() && (copies || reduces); ++c) {
        const ChunkId chunk(c);
        if (instance.demands().set(instance.demands().receiver_set(chunk)).size() > 1) copies = false;
        if (instance.demands().is_reduction(chunk)) reduces = false;
    }
    // What is left of the two is of no use.
    if (!copies && !reduces) return std::nullopt;
    TopologyParts topology = instance.topology().parts();
    for (SwitchRule& rule : topology.switches) {
        if (copies) rule.copy = false;
        if (reduces) rule.reduce = false;
    }
    return Instance({instance.name(), std::move(topology), instance.groups(), instance.collectives()});
}

}  // namespace tutti
