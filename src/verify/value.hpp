#pragma once

#include <boost/dynamic_bitset.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

namespace tutti::verify {

/// The set of contributions in a value. Immutable and shared: a copy of a value costs a pointer.
struct Contributions : boost::intrusive_ref_counter<Contributions, boost::thread_unsafe_counter> {
    explicit Contributions(std::size_t size) : bits(size) {}
    boost::dynamic_bitset<std::uint64_t> bits;
};

/// A node's value of a chunk; null when it has none. A plain chunk is a reduction of one contribution, the
/// data.
using Value = boost::intrusive_ptr<const Contributions>;

[[nodiscard]] inline Value singleton(std::size_t size, std::size_t contribution) {
    boost::intrusive_ptr<Contributions> value(new Contributions(size));
    value->bits.set(contribution);
    return value;
}

/// The sum of two values; either may be null.
[[nodiscard]] inline Value sum(const Value& a, const Value& b) {
    if (!a || !b) return a ? a : b;
    boost::intrusive_ptr<Contributions> value(new Contributions(a->bits.size()));
    value->bits = a->bits | b->bits;
    return value;
}

[[nodiscard]] inline bool overlap(const Value& a, const Value& b) {
    return a && b && a->bits.intersects(b->bits);
}

[[nodiscard]] inline bool equal(const Value& a, const Value& b) {
    return a == b || (a && b && a->bits == b->bits);
}

}  // namespace tutti::verify
