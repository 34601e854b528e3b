#include "plan/call_list.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

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

struct Names {
    std::string_view name;
    std::array<std::string_view, 4> others;
};

constexpr std::array<Names, 13> kTypes{{{"f64", {"double", "float64", "fp64"}},
                                        {"f32", {"float", "float32", "fp32", "single"}},
                                        {"f16", {"half", "float16", "fp16"}},
                                        {"bf16", {"bfloat16", "bfloat"}},
                                        {"i64", {"long", "int64", "s64"}},
                                        {"i32", {"int", "int32", "s32"}},
                                        {"i16", {"short", "int16", "s16"}},
                                        {"i8", {"char", "int8", "s8"}},
                                        {"u64", {"uint64", "unsignedlong"}},
                                        {"u32", {"uint32", "unsigned", "uint"}},
                                        {"u16", {"uint16", "unsignedshort"}},
                                        {"u8", {"uint8", "byte", "unsignedchar"}},
                                        {"bool", {"boolean", "pred"}}}};
constexpr std::array<Names, 5> kOperators{{{"sum", {"add", "plus", "addition"}},
                                           {"prod", {"product", "mul", "multiply"}},
                                           {"min", {"minimum"}},
                                           {"max", {"maximum"}},
                                           {"avg", {"average", "mean"}}}};

std::string common_name(std::span<const Names> names, std::string_view name) {
    std::string wanted = plain(name.substr(name.rfind('.') + 1));
    for (const std::string_view library : {"nccl", "rccl", "mpi"}) {
        if (wanted.starts_with(library)) wanted.erase(0, library.size());
    }
    for (const Names& one : names) {
        if (one.name == wanted ||
            (!wanted.empty() && std::ranges::find(one.others, wanted) != one.others.end()))
            return std::string(one.name);
    }
    return std::string(name);
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

std::string type_name(std::string_view name) { return common_name(kTypes, name); }

std::string operator_name(std::string_view name) { return common_name(kOperators, name); }

std::vector<std::string_view> call_kind_names() { return {kNames.begin(), kNames.end()}; }

}  // namespace tutti::plan
