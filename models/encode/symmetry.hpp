#pragma once

#include "core/stop.hpp"
#include "models/routing.hpp"

namespace tutti::models {

/// A group of automorphisms of topology and demands under which no commodity stays what it is: it goes
/// elsewhere, or to another that is alike. A schedule invariant under it is known from one commodity of each
/// orbit; a commodity's transfers are those of its representative, hop by hop. Without symmetry every
/// commodity represents itself.
struct Quotient {
    std::size_t order = 1;                           ///< elements of the group
    std::vector<std::size_t> representative;         ///< per commodity
    std::vector<std::vector<std::uint32_t>> hop_at;  ///< per commodity and own hop: the representative's hop
    std::vector<bool> counts;                        ///< per link: the first of its orbit

    [[nodiscard]] std::uint32_t hop(std::size_t commodity, std::uint32_t own) const {
        return hop_at[commodity].empty() ? own : hop_at[commodity][own];
    }
};

/// The trivial one.
[[nodiscard]] Quotient no_quotient(const Routing& routing);

/// The largest such group that a limited search finds (models/automorphisms: meant for networks of up to some
/// hundred nodes), and below it subgroups, each smaller than the one before: they allow more schedules. None
/// where there is no symmetry, or switches have limited buffers. At most three.
[[nodiscard]] std::vector<Quotient> quotients_of(const Routing& routing, const Stop& stop);

/// The first of them.
[[nodiscard]] std::optional<Quotient> quotient_of(const Routing& routing, const Stop& stop);

}  // namespace tutti::models
