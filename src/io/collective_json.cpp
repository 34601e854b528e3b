#include "io/collective_json.hpp"

#include "core/group_family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace tutti::io {
namespace {

constexpr std::int64_t kMaxChunkBytes = std::int64_t{1} << 53;
constexpr std::size_t kLongestName = 255;

/// Which kinds of collective a field belongs to; fields that are not here belong to all.
struct FieldUse {
    std::string_view field;
    bool (*belongs)(CollectiveKind kind);
};
constexpr FieldUse kFieldUses[] = {
    {"chunks",
     [](CollectiveKind kind) { return kind != CollectiveKind::AllToAllV && kind != CollectiveKind::Custom; }},
    {"root", has_root},
    {"counts", [](CollectiveKind kind) { return kind == CollectiveKind::AllToAllV; }},
    {"pairs", [](CollectiveKind kind) { return kind == CollectiveKind::Permute; }},
    {"demands", [](CollectiveKind kind) { return kind == CollectiveKind::Custom; }},
};

void check_fields(const JsonView& view, CollectiveKind kind) {
    view.only({"id", "kind", "group", "chunks", "root", "chunk_bytes", "release", "forwarding", "counts",
               "pairs", "demands"});
    for (const auto& [field, belongs] : kFieldUses) {
        const auto found = view.find(field);
        if (!found || belongs(kind)) continue;
        // These kinds have one chunk per item anyway, and some writers always give "chunks".
        if (field == "chunks" && found->json() == 1) continue;
        std::vector<std::string_view> kinds;
        for (const std::string_view name : collective_kind_names()) {
            if (belongs(*kind_named(name))) kinds.push_back(name);
        }
        found->fail(fmt::format("'{}' does not belong to {}; it belongs to {}", field, name_of(kind),
                                fmt::join(kinds, ", ")));
    }
}

std::vector<std::vector<std::uint64_t>> read_counts(const JsonView& view) {
    std::vector<std::vector<std::uint64_t>> counts;
    for (const JsonView& row : view.elements()) {
        auto& numbers = counts.emplace_back();
        for (const JsonView& number : row.elements()) {
            numbers.push_back(static_cast<std::uint64_t>(number.integer(0, DemandList::kMaxChunks)));
        }
    }
    return counts;
}

Rank read_rank(const JsonView& view, std::size_t ranks) {
    return Rank(static_cast<std::size_t>(
        view.integer(0, static_cast<std::int64_t>(std::max<std::size_t>(ranks, 1)) - 1)));
}

std::vector<std::pair<Rank, Rank>> read_pairs(const JsonView& view, std::size_t ranks) {
    std::vector<std::pair<Rank, Rank>> pairs;
    for (const JsonView& pair : view.elements()) {
        if (pair.size() != 2) pair.fail_expecting("a pair of ranks, [from, to]");
        pairs.emplace_back(read_rank(pair[0], ranks), read_rank(pair[1], ranks));
    }
    return pairs;
}

std::vector<CustomDemand> read_demands(const JsonView& view, const TopologyParts& topology) {
    std::vector<CustomDemand> demands;
    for (const JsonView& item : view.elements()) {
        item.only({"holders", "receivers", "reduce", "bytes"});
        CustomDemand& demand = demands.emplace_back();
        demand.holders = read_npus(item.at("holders"), topology);
        demand.receivers = read_npus(item.at("receivers"), topology);
        if (const auto reduce = item.find("reduce")) demand.reduction = reduce->boolean();
        if (const auto bytes = item.find("bytes")) demand.bytes = Bytes{bytes->bytes(1, kMaxChunkBytes)};
    }
    return demands;
}

/// The groups that a collective is for, and the ranks that each of them has at least.
struct Audience {
    NamedGroups groups;
    std::size_t ranks = 0;
    bool equal_ranks = true;  ///< all have that many
};

Audience read_audience(const JsonView& view, GroupTable& groups) {
    const auto group = view.find("group");
    Audience audience{group ? groups.named(group->string(), *group)
                            : groups.named(std::string(kAllGroup), view)};
    const std::size_t first = audience.groups.first.index();
    audience.ranks = groups.group(audience.groups.first).members.size();
    for (std::size_t i = 1; i < audience.groups.count; ++i) {
        const std::size_t ranks = groups.group(GroupId(first + i)).members.size();
        audience.equal_ranks = audience.equal_ranks && ranks == audience.ranks;
        audience.ranks = std::min(audience.ranks, ranks);
    }
    return audience;
}

/// One number of ticks, or a list of them by rank.
void read_release(const JsonView& view, const Audience& audience, Collective& collective) {
    constexpr std::string_view kExpected = "a number of ticks, or a list of them with one for each rank";
    const auto ticks = [](const JsonView& number) { return Ticks(number.integer(0, kMaxLinkTicks.count())); };
    if (view.is_number()) {
        collective.release = ticks(view);
        return;
    }
    if (!view.is_array()) view.fail_expecting(std::string(kExpected));
    if (!audience.equal_ranks)
        view.fail("the groups of this family have different numbers of ranks: expected one number of ticks");
    if (view.size() != audience.ranks) {
        view.fail(fmt::format("expected {} releases, one for each rank of the group, found {}",
                              audience.ranks, view.size()));
    }
    for (const JsonView& number : view.elements()) collective.releases.push_back(ticks(number));
}

Collective read_collective(const JsonView& view, std::size_t index, const Audience& audience,
                           const TopologyParts& topology, Forwarding usual) {
    Collective collective;
    collective.kind = *kind_named(collective_kind_names()[view.at("kind").choice(collective_kind_names())]);
    check_fields(view, collective.kind);
    const auto id = view.find("id");
    collective.id = id ? read_name(*id) : fmt::format("{}{}", name_of(collective.kind), index);
    collective.group = audience.groups.first;
    const std::size_t ranks = audience.ranks;
    if (const auto chunks = view.find("chunks")) {
        collective.chunks = static_cast<std::uint64_t>(chunks->integer(1, DemandList::kMaxChunks));
    }
    if (has_root(collective.kind)) {
        const auto root = view.find("root");
        collective.root = root ? read_rank(*root, ranks) : Rank(0);
    }
    if (const auto bytes = view.find("chunk_bytes"))
        collective.chunk_bytes = Bytes{bytes->bytes(1, kMaxChunkBytes)};
    if (const auto release = view.find("release")) read_release(*release, audience, collective);
    const auto forwarding = view.find("forwarding");
    collective.forwarding = forwarding ? read_forwarding(*forwarding) : usual;
    if (collective.kind == CollectiveKind::AllToAllV) collective.counts = read_counts(view.at("counts"));
    if (collective.kind == CollectiveKind::Permute) collective.pairs = read_pairs(view.at("pairs"), ranks);
    if (collective.kind == CollectiveKind::Custom) {
        if (audience.groups.count > 1)
            view.at("group").fail("custom demands name NPUs, not ranks: expected one group, found a family");
        collective.demands = read_demands(view.at("demands"), topology);
    }
    return collective;
}

}  // namespace

std::string read_name(const JsonView& view) {
    std::string name = view.string();
    const auto is_control = [](char ch) { return static_cast<unsigned char>(ch) < ' ' || ch == '\x7F'; };
    if (name.empty() || name.size() > kLongestName || std::ranges::any_of(name, is_control)) {
        view.fail_expecting(fmt::format("a name of 1 to {} bytes without control characters", kLongestName));
    }
    return name;
}

Forwarding read_forwarding(const JsonView& view) {
    return view.choice({"any", "group"}) == 0 ? Forwarding::Any : Forwarding::Group;
}

void CollectiveReader::add(const JsonView& view) {
    const Audience audience = read_audience(view, groups_);
    Collective collective = read_collective(view, in_file_, audience, topology_, usual_);
    const auto& [first, count, family] = audience.groups;
    expect_room(view, collective, count);
    for (std::size_t i = 0; family && i < count; ++i) {
        Collective& one = all_.emplace_back(collective);
        one.id = member_name(collective.id, i);
        one.group = GroupId(first.index() + i);
    }
    if (!family) all_.push_back(std::move(collective));
    origins_.resize(all_.size(), in_file_++);
}

InputError CollectiveReader::in_file(const InputError& error) const {
    constexpr std::string_view kList = "/collectives/";
    const std::string& place = error.place();
    if (!place.starts_with(kList)) return error;
    const std::size_t end = std::min(place.find('/', kList.size()), place.size());
    std::size_t index = 0;
    const auto [stop, failed] = std::from_chars(place.data() + kList.size(), place.data() + end, index);
    if (failed != std::errc() || index >= origins_.size()) return error;
    return error.at(fmt::format("{}{}{}", kList, origins_[index], place.substr(end)));
}

/// A few words of a file can ask for any number of them.
void CollectiveReader::expect_room(const JsonView& view, const Collective& collective,
                                   std::size_t count) const {
    constexpr std::size_t kMostCollectives = std::size_t{1} << 20, kMostNumbers = std::size_t{1} << 26;
    std::size_t numbers = collective.pairs.size() + collective.releases.size() + 1;
    for (const auto& row : collective.counts) numbers += row.size();
    const std::size_t room = kMostCollectives - std::min(kMostCollectives, all_.size());
    if (count == 1 || (count <= room && numbers <= kMostNumbers / count)) return;
    view.fail(fmt::format("this makes {} collectives, one for each group of the family: too many", count));
}

Json npu_numbers(const std::vector<NodeId>& nodes) {
    Json list = Json::array();
    for (const NodeId node : nodes) list.push_back(node.value());
    return list;
}

Json write_collective(const Collective& collective, const std::string& group) {
    Json json{{"id", collective.id}, {"kind", name_of(collective.kind)}, {"group", group}};
    if (collective.chunks != 1) json["chunks"] = collective.chunks;
    if (has_root(collective.kind)) json["root"] = collective.root.value_or(Rank(0)).value();
    if (collective.chunk_bytes.count > 0) json["chunk_bytes"] = collective.chunk_bytes.count;
    if (!collective.releases.empty()) {
        Json& releases = json["release"] = Json::array();
        for (const Ticks release : collective.releases) releases.push_back(release.count());
    } else if (collective.release != Ticks(0)) {
        json["release"] = collective.release.count();
    }
    if (collective.forwarding == Forwarding::Group) json["forwarding"] = "group";
    if (collective.kind == CollectiveKind::AllToAllV) json["counts"] = collective.counts;
    if (collective.kind == CollectiveKind::Permute) {
        Json& pairs = json["pairs"] = Json::array();
        for (const auto& [from, to] : collective.pairs)
            pairs.push_back(Json::array({from.value(), to.value()}));
    }
    if (collective.kind == CollectiveKind::Custom) {
        Json& demands = json["demands"] = Json::array();
        for (const CustomDemand& demand : collective.demands) {
            Json& item = demands.emplace_back(
                Json{{"holders", npu_numbers(demand.holders)}, {"receivers", npu_numbers(demand.receivers)}});
            if (demand.reduction) item["reduce"] = true;
            if (demand.bytes) item["bytes"] = demand.bytes->count;
        }
    }
    return json;
}

}  // namespace tutti::io
