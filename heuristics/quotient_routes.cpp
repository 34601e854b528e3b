#include "heuristics/quotient_routes.hpp"
namespace tutti::heuristics {
std::optional<QuotientFlood> quotient_routes(const QuotientNetwork&, const std::vector<QuotientJob>&, Ticks,
                                             std::uint64_t, Rng&, const Stop&) {
    return std::nullopt;
}
}  // namespace tutti::heuristics
