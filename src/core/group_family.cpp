#include "core/group_family.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>

namespace tutti {
namespace {

struct SplitWord {
    std::string_view word;
    RankSplit::Op op;
};
constexpr std::array<SplitWord, 8> kSplitWords{{{"AND", RankSplit::Op::And},
                                                {"&", RankSplit::Op::And},
                                                {"OR", RankSplit::Op::Or},
                                                {"|", RankSplit::Op::Or},
                                                {"MOD", RankSplit::Op::Mod},
                                                {"%", RankSplit::Op::Mod},
                                                {"DIV", RankSplit::Op::Div},
                                                {"/", RankSplit::Op::Div}}};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool begins_with_word(std::string_view text, std::string_view word) {
    return text.size() >= word.size() &&
           std::ranges::equal(text.substr(0, word.size()), word, {}, upper, upper);
}

/// C would read 010 as eight, people as ten: neither is taken.
std::optional<std::uint32_t> value_in(std::string_view text) {
    int base = 10;
    if (begins_with_word(text, "0X")) base = 16;
    if (begins_with_word(text, "0B")) base = 2;
    if (base != 10) text.remove_prefix(2);
    if (base == 10 && text.size() > 1 && text.front() == '0') return std::nullopt;
    std::uint32_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), last, value, base);
    constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
    if (error != std::errc() || stop != last || value > kMost) return std::nullopt;
    return value;
}

/// The ranks that are reached by going along these axes, the last one fastest, from rank 0.
std::vector<std::size_t> offsets_along(const RankMesh& mesh, const std::vector<std::size_t>& along) {
    std::vector<std::size_t> strides(mesh.axes.size(), 1);
    for (std::size_t a = mesh.axes.size(); a-- > 1;) strides[a - 1] = strides[a] * mesh.axes[a].size;
    std::vector<std::size_t> offsets{0};
    for (const std::size_t axis : along) {
        std::vector<std::size_t> next;
        next.reserve(offsets.size() * mesh.axes[axis].size);
        for (const std::size_t offset : offsets) {
            for (std::size_t i = 0; i < mesh.axes[axis].size; ++i) next.push_back(offset + i * strides[axis]);
        }
        offsets = std::move(next);
    }
    return offsets;
}

}  // namespace

std::optional<std::size_t> RankMesh::ranks(std::size_t most) const {
    std::size_t product = 1;
    for (const Axis& axis : axes) {
        if (__builtin_mul_overflow(product, axis.size, &product) || product > most) return std::nullopt;
    }
    return product;
}

GroupFamily lines_along(const RankMesh& mesh, const std::vector<std::size_t>& along) {
    std::vector<std::size_t> others;
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
        expects(mesh.axes[a].size >= 1);
        if (std::ranges::find(along, a) == along.end()) others.push_back(a);
    }
    const auto members = offsets_along(mesh, along);
    GroupFamily family;
    for (const std::size_t first : offsets_along(mesh, others)) {
        auto& group = family.emplace_back();
        group.reserve(members.size());
        for (const std::size_t member : members) group.emplace_back(first + member);
    }
    return family;
}

std::uint32_t RankSplit::colour(std::uint32_t rank) const {
    switch (op) {
        case Op::And:
            return rank & value;
        case Op::Or:
            return rank | value;
        case Op::Mod:
            return rank % value;
        case Op::Div:
            break;
    }
    return rank / value;
}

std::optional<RankSplit> split_in(std::string_view text) {
    for (const auto& [word, op] : kSplitWords) {
        if (!begins_with_word(text, word)) continue;
        text.remove_prefix(word.size());
        while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
        const auto value = value_in(text);
        const bool divides = op == RankSplit::Op::Mod || op == RankSplit::Op::Div;
        if (!value || (divides && *value == 0)) return std::nullopt;
        return RankSplit{op, *value};
    }
    return std::nullopt;
}

GroupFamily split_ranks(std::size_t ranks, const RankSplit& split) {
    GroupFamily family;
    std::map<std::uint32_t, std::size_t> groups;  // by colour
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const auto [found, is_new] = groups.try_emplace(split.colour(rank), family.size());
        if (is_new) family.emplace_back();
        family[found->second].emplace_back(rank);
    }
    return family;
}

std::string member_name(std::string_view family, std::size_t i) { return fmt::format("{}[{}]", family, i); }

}  // namespace tutti
