#include "plan/call_list.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace tutti::plan {
namespace {

constexpr std::array<std::string_view, 14> kNames{
    "all_reduce", "reduce",       "all_gather", "reduce_scatter", "broadcast", "gather", "scatter",
    "all_to_all", "all_to_all_v", "barrier",    "send",           "receive",   "wait",   "local"};

/// Without '_', in small letters: "all_to_all_v", "AllToAllv" and "ALL_TO_ALL_V" are the same.
std::string plain(std::string_view name) {
    std::string letters;
    for (const char c : name) {
        if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return letters;
}

}  // namespace

std::string_view name_of(CallKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<CallKind> call_kind(std::string_view name) {
    const std::string wanted = plain(name);
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (plain(kNames[i]) == wanted) return static_cast<CallKind>(i);
    }
    if (wanted == "recv") return CallKind::Receive;
    return std::nullopt;
}

std::vector<std::string_view> call_kind_names() { return {kNames.begin(), kNames.end()}; }

}  // namespace tutti::plan
