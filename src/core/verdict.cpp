#include "core/verdict.hpp"

#include <array>

namespace tutti {

std::string_view code_of(Rule rule) {
    static constexpr std::array<std::string_view, kRules> kCodes{
        "unknown_chunk",   "unknown_link",      "bad_start",       "out_of_order", "link_overlap",
        "not_held",        "before_release",    "relay_forbidden", "switch_copy",  "switch_reduce",
        "buffer_overflow", "cut_through",       "double_count",    "arrival_race", "demand_unmet",
        "demand_wrong",    "makespan_mismatch", "not_symmetric"};
    return kCodes[static_cast<std::size_t>(rule)];
}

}  // namespace tutti
