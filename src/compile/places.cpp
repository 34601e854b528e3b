#include "compile/places.hpp"

#include <algorithm>

namespace tutti::compile {

Places::Places(const Instance& instance, CollectiveId id, std::span<const NodeId> relays)
    : instance_(instance),
      npus_(instance.groups()[instance.collective(id).group.index()].members),
      group_size_(static_cast<std::uint32_t>(npus_.size())),
      goal_(relays.empty() ? plan_kind_of(instance.collective(id).kind) : CollectiveKind::Custom) {
    const Collective& collective = instance.collective(id);
    npus_.insert(npus_.end(), relays.begin(), relays.end());
    for (std::uint32_t r = 0; r < npus_.size(); ++r) rank_[npus_[r]] = r;
    if (has_root(collective.kind)) root_ = collective.root.value_or(Rank(0)).value();
    std::uint32_t chunks = 0;
    for (std::uint32_t c = 0; c < instance.chunks(); ++c) {
        if (instance.demands().collective(ChunkId(c)) != id) continue;
        if (chunks++ == 0) first_ = c;
    }
    input_.resize(chunks);
    output_.resize(chunks);
    inputs_.assign(npus_.size(), 0);
    outputs_.assign(npus_.size(), 0);
    switch (collective.kind) {
        case CollectiveKind::AllToAll:
        case CollectiveKind::AllToAllV:
        case CollectiveKind::Permute:
            place_pairs(collective);
            break;
        case CollectiveKind::Custom:
            place_custom();
            break;
        default:
            place_by_share(collective);
    }
    size_buffers(collective);
    if (has_relays()) per_loop_ = largest_buffer();
}

/// The kinds whose chunks are numbered by the rank whose share they are.
void Places::place_by_share(const Collective& collective) {
    using enum CollectiveKind;
    const bool whole_input = collective.kind == Broadcast || collective.kind == Reduce ||
                             collective.kind == Scatter || collective.kind == ReduceScatter ||
                             collective.kind == AllReduce;
    const bool whole_output = collective.kind == Broadcast || collective.kind == Reduce ||
                              collective.kind == Gather || collective.kind == AllGather ||
                              collective.kind == AllReduce;
    for (std::uint32_t c = 0; c < input_.size(); ++c) {
        const auto in_share = static_cast<std::int64_t>(c % collective.chunks);
        input_[c] = whole_input ? c : in_share;
        output_[c] = whole_output ? c : in_share;
    }
}

/// The kinds whose chunks go from one rank to another: each rank's buffers hold its blocks one after the
/// other.
void Places::place_pairs(const Collective& collective) {
    std::uint32_t chunk = 0;
    const auto place = [&](std::size_t from, std::size_t to, std::uint64_t count) {
        if (from == to && collective.kind != CollectiveKind::Permute) {
            if (count == 0) return;
            own_blocks_.push_back({static_cast<std::uint32_t>(from), inputs_[from], outputs_[to],
                                   static_cast<std::int64_t>(count)});
            inputs_[from] += static_cast<std::int64_t>(count);
            outputs_[to] += static_cast<std::int64_t>(count);
            return;
        }
        for (std::uint64_t k = 0; k < count; ++k, ++chunk) {
            input_[chunk] = inputs_[from]++;
            output_[chunk] = outputs_[to]++;
        }
    };
    if (collective.kind == CollectiveKind::Permute) {
        for (const auto& [from, to] : collective.pairs) place(from.index(), to.index(), collective.chunks);
        return;
    }
    for (std::size_t from = 0; from < group_size_; ++from) {
        for (std::size_t to = 0; to < group_size_; ++to) {
            place(from, to,
                  collective.kind == CollectiveKind::AllToAll ? collective.chunks
                                                              : collective.counts[from][to]);
        }
    }
}

void Places::place_custom() {
    custom_input_.resize(npus_.size());
    custom_output_.resize(npus_.size());
    for (std::uint32_t c = 0; c < input_.size(); ++c) {
        for (const NodeId holder : demand(c).holders) {
            const std::uint32_t r = rank_.at(holder);
            custom_input_[r].emplace(c, inputs_[r]++);
        }
        for (const NodeId receiver : demand(c).receivers) {
            const std::uint32_t r = rank_.at(receiver);
            custom_output_[r].emplace(c, outputs_[r]++);
        }
    }
}

void Places::size_buffers(const Collective& collective) {
    using enum CollectiveKind;
    const auto n = static_cast<std::int64_t>(group_size_);
    const auto share = static_cast<std::int64_t>(collective.chunks);
    const auto set = [&](std::int64_t in, std::int64_t out, std::int64_t loop) {
        std::fill_n(inputs_.begin(), group_size_, in);
        std::fill_n(outputs_.begin(), group_size_, out);
        per_loop_ = loop;
    };
    switch (collective.kind) {
        case Broadcast:
        case Reduce:
        case AllToNext:
        case SendRecv:
            return set(share, share, share);
        case AllReduce:
        case AllToAll:
            return set(n * share, n * share, n * share);
        case AllGather:
            return set(share, n * share, n * share);
        case ReduceScatter:
            return set(n * share, share, n * share);
        case Gather:
            set(share, 0, share);
            outputs_[*root_] = n * share;
            return;
        case Scatter:
            set(0, share, share);
            inputs_[*root_] = n * share;
            return;
        case AllToAllV:
        case Permute:
        case Custom:
            per_loop_ = largest_buffer();
    }
}

std::int64_t Places::largest_buffer() const {
    return std::max(
        {std::int64_t{1}, *std::ranges::max_element(inputs_), *std::ranges::max_element(outputs_)});
}

std::optional<std::int64_t> Places::input(std::uint32_t rank, std::uint32_t chunk) const {
    if (!std::ranges::binary_search(demand(chunk).holders, npus_[rank])) return std::nullopt;
    return custom_input_.empty() ? input_[chunk] : custom_input_[rank].at(chunk);
}

std::optional<std::int64_t> Places::output(std::uint32_t rank, std::uint32_t chunk) const {
    if (!std::ranges::binary_search(demand(chunk).receivers, npus_[rank])) return std::nullopt;
    return custom_output_.empty() ? output_[chunk] : custom_output_[rank].at(chunk);
}

}  // namespace tutti::compile
