#include "core/collective.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace tutti {
namespace {

using enum CollectiveKind;

/// One row per kind: its name in instances and in plans. The last kind exists in plans only.
struct Row {
    CollectiveKind kind;
    std::string_view name, in_plans;
};
constexpr std::array<Row, 13> kRows{{
    {Broadcast, "broadcast", "broadcast"},
    {Scatter, "scatter", "scatter"},
    {Gather, "gather", "gather"},
    {Reduce, "reduce", "reduce"},
    {AllGather, "all_gather", "allgather"},
    {ReduceScatter, "reduce_scatter", "reduce_scatter"},
    {AllReduce, "all_reduce", "allreduce"},
    {AllToAll, "all_to_all", "alltoall"},
    {AllToAllV, "all_to_all_v", "custom"},
    {AllToNext, "all_to_next", "alltonext"},
    {Permute, "permute", "custom"},
    {Custom, "custom", "custom"},
    {SendRecv, "send_recv", "sendrecv"},
}};
constexpr std::size_t kInstanceKinds = kRows.size() - 1;

constexpr bool in_order() {
    for (std::size_t i = 0; i < kRows.size(); ++i) {
        if (static_cast<std::size_t>(kRows[i].kind) != i) return false;
    }
    return true;
}
static_assert(in_order());

const Row& row_of(CollectiveKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

/// Spellings of plans compare without underscores, dashes and case.
std::string folded(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (c == '_' || c == '-') continue;
        text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text;
}

}  // namespace

std::string_view name_of(CollectiveKind kind) { return row_of(kind).name; }

std::optional<CollectiveKind> kind_named(std::string_view name) {
    for (const Row& row : std::span(kRows).first(kInstanceKinds)) {
        if (row.name == name) return row.kind;
    }
    return std::nullopt;
}

std::vector<std::string_view> collective_kind_names() {
    std::vector<std::string_view> names;
    for (const Row& row : std::span(kRows).first(kInstanceKinds)) names.push_back(row.name);
    return names;
}

void set_release(Collective& collective, Ticks release) {
    collective.release = release;
    collective.releases.clear();
}

Ticks last_release(const Collective& collective) {
    return collective.releases.empty() ? collective.release : std::ranges::max(collective.releases);
}

bool has_root(CollectiveKind kind) {
    return kind == Broadcast || kind == Scatter || kind == Gather || kind == Reduce;
}

std::string_view plan_name_of(CollectiveKind kind) { return row_of(kind).in_plans; }

std::optional<CollectiveKind> kind_in_plan(std::string_view name) {
    const std::string wanted = folded(name);
    for (const Row& row : kRows) {
        if (folded(row.in_plans) == wanted) return plan_kind_of(row.kind);
    }
    for (const char* silent : {"none", "test", "send", "recv", "alltoallv"}) {
        if (wanted == silent) return Custom;
    }
    return std::nullopt;
}

CollectiveKind plan_kind_of(CollectiveKind kind) {
    return row_of(kind).in_plans == row_of(Custom).in_plans ? Custom : kind;
}

std::vector<std::string_view> plan_kind_names() {
    std::vector<std::string_view> names;
    for (const CollectiveKind kind : {AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, Reduce,
                                      Gather, Scatter, AllToNext, SendRecv, Custom}) {
        names.push_back(plan_name_of(kind));
    }
    return names;
}

}  // namespace tutti
