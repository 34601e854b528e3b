// Verbs as bytes. A verb differs from the one before it in few of its twelve numbers, and by little: loops
// count something up. So of each verb two bytes say which numbers are others, and of each of those the
// difference follows, seven bits to a byte, small differences of either sign in one byte. Verbs of loops take
// 4 to 12 bytes instead of 48.

#include "lang/verbs_aside.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace tutti::lang {
namespace {

using Numbers = std::array<std::uint32_t, 12>;

Numbers numbers_of(const Verb& verb) {
    const auto number = [](std::int32_t of) { return static_cast<std::uint32_t>(of); };
    return {static_cast<std::uint32_t>(verb.kind),
            verb.from.rank,
            verb.from.buffer,
            verb.from.index,
            verb.to.rank,
            verb.to.buffer,
            verb.to.index,
            verb.count,
            number(verb.directive.send_block),
            number(verb.directive.receive_block),
            number(verb.directive.channel),
            verb.place};
}

Verb verb_of(const Numbers& n) {
    const auto sign = [](std::uint32_t of) { return static_cast<std::int32_t>(of); };
    return {.kind = static_cast<Verb::Kind>(n[0]),
            .from = {n[1], n[2], n[3]},
            .to = {n[4], n[5], n[6]},
            .count = n[7],
            .directive = {sign(n[8]), sign(n[9]), sign(n[10])},
            .place = n[11]};
}

/// Differences modulo 2^32: 0, -1, 1, -2, … as 0, 1, 2, 3, …; and back.
std::uint32_t folded(std::uint32_t difference) { return (difference << 1U) ^ (0U - (difference >> 31U)); }
std::uint32_t unfolded(std::uint32_t number) { return (number >> 1U) ^ (0U - (number & 1U)); }

void put(std::uint32_t number, std::vector<std::uint8_t>& bytes) {
    for (; number >= 0x80; number >>= 7U) bytes.push_back(static_cast<std::uint8_t>(number | 0x80U));
    bytes.push_back(static_cast<std::uint8_t>(number));
}
std::uint32_t next(const std::uint8_t*& at) {
    std::uint32_t number = 0;
    for (std::uint32_t shift = 0;; shift += 7) {
        const std::uint32_t byte = *at++;
        number |= (byte & 0x7FU) << shift;
        if (byte < 0x80) return number;
    }
}

}  // namespace

void VerbsAside::take(Trace& trace) {
    const std::vector<Verb> verbs = std::exchange(trace.verbs, {});
    verbs_ = verbs.size();
    bytes_.clear();
    bytes_.reserve(verbs.size() * 4);
    Numbers last{};
    for (const Verb& verb : verbs) {
        const Numbers now = numbers_of(verb);
        const std::size_t begin = bytes_.size();
        bytes_.resize(begin + 2);
        std::uint32_t others = 0;
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (now[i] == last[i]) continue;
            others |= 1U << i;
            put(folded(now[i] - last[i]), bytes_);
        }
        bytes_[begin] = static_cast<std::uint8_t>(others);
        bytes_[begin + 1] = static_cast<std::uint8_t>(others >> 8U);
        last = now;
    }
    bytes_.shrink_to_fit();
}

void VerbsAside::give_back(Trace& trace) {
    if (verbs_ == 0) return;
    trace.verbs.reserve(verbs_);
    const std::uint8_t* at = bytes_.data();
    Numbers now{};
    for (std::size_t v = 0; v < verbs_; ++v) {
        const std::uint32_t others = at[0] | (std::uint32_t{at[1]} << 8U);
        at += 2;
        for (std::size_t i = 0; i < now.size(); ++i) {
            if ((others >> i & 1U) != 0) now[i] += unfolded(next(at));
        }
        trace.verbs.push_back(verb_of(now));
    }
    verbs_ = 0;
    bytes_ = std::vector<std::uint8_t>();
}

}  // namespace tutti::lang
