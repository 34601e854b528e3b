// Expansion, tick by tick. Each of the tick's sends (at most one per link orbit) is expanded to a row: the
// chunks that its images carry, by group element. Then one sweep over the links in order picks the chunk for
// each link of a used orbit. So nothing is sorted, and memory is accessed in order. About 4 ns per send on a
// torus. A tick that uses few of the links, or a link orbit twice (which no valid schedule does), is listed
// and sorted instead.
//
// If s is a send of chunk c on link l, and l is element a of its orbit (l = a.base), then element e of the
// orbit carries (e - a).c: the row of c, rotated. GroupAction::sums gives the rotation.

#include "symmetry/symmetric_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace tutti::symmetry {
namespace {

constexpr std::size_t kSendsAtOnce = 4096;
/// A tick that uses fewer than 1/kSparse of all links is listed and sorted.
constexpr std::size_t kSparse = 16;

}  // namespace

SymmetricSource::SymmetricSource(const Instance& instance, const SymmetricSchedule& schedule)
    : schedule_(schedule),
      action_(schedule.generators, instance.topology().npus()),
      links_(instance.topology(), action_) {
    const auto& sends = schedule.sends;
    const ChunkAction chunks(instance);
    std::vector<std::vector<std::uint32_t>> images;
    for (const Generator& generator : schedule.generators) images.push_back(chunks.images(generator));
    std::unordered_map<std::uint32_t, std::uint32_t> row_of;
    std::vector<std::uint32_t> row;
    for (std::size_t i = 0; i < sends.size(); ++i) {
        const auto refuse = [&](const std::string& message) {
            throw InputError(message, fmt::format("/sends/{}", i));
        };
        if (sends[i].chunk.index() >= instance.chunks()) refuse("unknown chunk");
        if (sends[i].link.index() >= instance.topology().links().size()) refuse("unknown link");
        if (links_.orbit_of(sends[i].link) == kNoImage)
            refuse(fmt::format("{} has images under the symmetries that do not exist",
                               name_of(instance.topology(), sends[i].link)));
        const auto [known, is_new] =
            row_of.try_emplace(sends[i].chunk.value(), static_cast<std::uint32_t>(row_of.size()));
        if (is_new) {
            if (!chunk_row(action_, images, sends[i].chunk, row)) {
                refuse(fmt::format("chunk {} has images under the symmetries that do not exist",
                                   sends[i].chunk.value()));
            }
            rows_.insert(rows_.end(), row.begin(), row.end());
        }
        row_of_.push_back(known->second);
    }
    order_.resize(sends.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t s) { return sends[s].start; });
    send_on_.assign(links_.size() + 1, kNoImage);
    // Links in no orbit share an extra last orbit, which is never used.
    for (std::size_t l = 0; l < instance.topology().links().size(); ++l) {
        const std::uint32_t orbit = links_.orbit_of(LinkId(l));
        link_orbit_.push_back(orbit == kNoImage ? static_cast<std::uint32_t>(links_.size()) : orbit);
    }
    link_ = link_orbit_.size();
    batch_.reserve(kSendsAtOnce);
    origins_.reserve(kSendsAtOnce);
}

void SymmetricSource::fill(const Send& send, std::uint32_t* chunks) const {
    const std::uint32_t shift = action_.inverse(links_.element_of(send.link));
    const std::uint32_t* row =
        rows_.data() +
        std::size_t{row_of_[static_cast<std::size_t>(&send - schedule_.sends.data())]} * action_.size();
    std::vector<std::uint32_t> rotated;
    action_.sums(shift, rotated);
    for (std::size_t e = 0; e < rotated.size(); ++e) chunks[e] = row[rotated[e]];
}

void SymmetricSource::begin_tick() {
    const auto& sends = schedule_.sends;
    for (std::size_t i = begin_; i < end_; ++i) send_on_[links_.orbit_of(sends[order_[i]].link)] = kNoImage;
    begin_ = end_;
    if (begin_ == sends.size()) return;
    bool twice = false;
    for (; end_ < sends.size() && sends[order_[end_]].start == sends[order_[begin_]].start; ++end_) {
        std::uint32_t& on = send_on_[links_.orbit_of(sends[order_[end_]].link)];
        twice = twice || on != kNoImage;
        on = static_cast<std::uint32_t>(end_ - begin_);
    }
    chunks_.resize((end_ - begin_) * action_.size());
    for (std::size_t i = begin_; i < end_; ++i)
        fill(sends[order_[i]], chunks_.data() + (i - begin_) * action_.size());
    listed_ = twice || chunks_.size() < link_orbit_.size() / kSparse;
    link_ = 0;
}

void SymmetricSource::list_tick() {
    std::vector<std::pair<Send, std::uint64_t>> all;
    all.reserve(chunks_.size());
    for (std::size_t i = begin_; i < end_; ++i) {
        const Send& send = schedule_.sends[order_[i]];
        const std::size_t orbit = links_.orbit_of(send.link);
        for (std::uint32_t e = 0; e < action_.size(); ++e) {
            const std::uint32_t chunk = chunks_[(i - begin_) * action_.size() + e];
            all.push_back({{ChunkId(chunk), links_.link(orbit, e), send.start, send.op}, order_[i]});
        }
    }
    std::ranges::sort(all, starts_before, &std::pair<Send, std::uint64_t>::first);
    batch_.clear();
    origins_.clear();
    for (const auto& [send, origin] : all) {
        batch_.push_back(send);
        origins_.push_back(origin);
    }
    link_ = link_orbit_.size();
}

std::span<const Send> SymmetricSource::next() {
    if (link_ == link_orbit_.size()) begin_tick();
    batch_.clear();
    origins_.clear();
    if (begin_ == end_) return batch_;
    if (listed_) {
        list_tick();
        return batch_;
    }
    const Ticks start = schedule_.sends[order_[begin_]].start;
    while (batch_.size() < kSendsAtOnce && link_ < link_orbit_.size()) {
        const std::uint32_t on = send_on_[link_orbit_[link_]];
        if (on != kNoImage) {
            const std::uint32_t origin = order_[begin_ + on];
            const std::uint32_t chunk =
                chunks_[std::size_t{on} * action_.size() + links_.element_of(LinkId(link_))];
            batch_.push_back({ChunkId(chunk), LinkId(link_), start, schedule_.sends[origin].op});
            origins_.push_back(origin);
        }
        ++link_;
    }
    // The batch may be empty when the tick ends with idle links.
    return batch_.empty() ? next() : std::span<const Send>(batch_);
}

Schedule expanded(const Instance& instance, const SymmetricSchedule& schedule) {
    SymmetricSource source(instance, schedule);
    Schedule result{schedule.instance, schedule.makespan, {}};
    result.sends.reserve(source.size());
    for (auto sends = source.next(); !sends.empty(); sends = source.next())
        result.sends.insert(result.sends.end(), sends.begin(), sends.end());
    return result;
}

}  // namespace tutti::symmetry
