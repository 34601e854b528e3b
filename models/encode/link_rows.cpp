#include "models/encode/link_rows.hpp"

#include <algorithm>

namespace tutti::models {
namespace {

void at_most_one(Program& program, std::vector<Literal> literals) {
    std::ranges::sort(literals);
    std::vector<Literal> once;
    for (const Literal literal : literals) {
        if (!once.empty() && once.back() == literal) {
            program.fix(!literal);
        } else {
            once.push_back(literal);
        }
    }
    if (once.size() > 1) program.choice(Promise::AtMostOne, once);
}

}  // namespace

void add_link_rows(Program& program, std::vector<LinkUse> uses, const std::function<bool()>& may_continue) {
    std::ranges::sort(uses, {}, &LinkUse::begin);
    std::vector<LinkUse> active;
    for (std::size_t i = 0; i < uses.size() && may_continue();) {
        const Units64 now = uses[i].begin;
        std::erase_if(active, [&](const LinkUse& use) { return use.end <= now; });
        for (; i < uses.size() && uses[i].begin == now; ++i) active.push_back(uses[i]);
        // A later row that holds all of these makes this one idle.
        if (i < uses.size() &&
            std::ranges::none_of(active, [&](const LinkUse& use) { return use.end <= uses[i].begin; }))
            continue;
        std::vector<Literal> literals;
        for (const LinkUse& use : active) literals.push_back(use.literal);
        at_most_one(program, std::move(literals));
    }
}

}  // namespace tutti::models
