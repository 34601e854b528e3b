#include "compile/execution/schedule_draft.hpp"

#include <boost/dynamic_bitset.hpp>

#include <algorithm>
#include <unordered_map>

// A message is put into its receiver's memory by the sender, who must know that nobody there uses the place
// any more. What is added gets a place of its own in scratch, written once; so there is nothing to know, and
// no signal that says "ready". What replaces a value is put directly where the receiver keeps it if nobody
// has touched that place, or if the sender has learnt of everybody who did: what it sends was made from what
// they sent or wrote. A result of an all-reduce comes back to a rank only after that rank's own part has gone
// out, so nearly always it has. Otherwise the message lands in scratch and is copied.
//
// Who has learnt of what: each message has the set of messages of its chunk that are over when it is put. A
// rank's value was made by messages, each with such a set. Whoever replaces or adds to a value has waited for
// those who read it, so these are over as well (blocks.cpp). Two readers of one value know nothing of each
// other.

namespace tutti::compile::execution {
namespace {

using Known = boost::dynamic_bitset<>;

/// One reduced chunk. Plain chunks are never replaced.
class ChunkLandings {
  public:
    ChunkLandings(const msccl::Draft& draft, bool in_place, std::uint32_t chunk,
                  std::vector<std::uint32_t> numbers)
        : draft_(draft), in_place_(in_place), chunk_(chunk), numbers_(std::move(numbers)) {
        for (const std::uint32_t i : numbers_) messages_.push_back(draft.part.messages[i]);
        over_.assign(messages_.size(), Known(messages_.size()));
    }

    /// Of each message whether it may be put where it belongs, by its number in the part.
    void run(std::vector<bool>& direct) {
        for (const Event& event : events_of(messages_)) {
            if (event.arrives) {
                direct[numbers_[event.message]] = arrive(event.message);
            } else {
                leave(event.message);
            }
        }
    }

  private:
    struct Place {
        Known over;                          ///< when the value was there
        std::vector<std::uint32_t> readers;  ///< of the place, since it was written
        bool used = false;                   ///< the value lies at the place where results are kept
    };

    Place& place(std::uint32_t rank) {
        const auto [at, fresh] = places_.try_emplace(rank);
        if (fresh) {
            at->second.over.resize(messages_.size());
            const Places& places = draft_.places;
            at->second.used = in_place_ && places.input(rank, chunk_) && places.output(rank, chunk_);
        }
        return at->second;
    }

    void leave(std::uint32_t i) {
        Place& from = place(messages_[i].from);
        over_[i] = from.over;
        if (from.used) from.readers.push_back(i);
    }

    bool arrive(std::uint32_t i) {
        Place& to = place(messages_[i].to);
        // The value is what `over` made; all of it must be over for the sender.
        const bool knows_writers = !to.used || to.over.is_subset_of(over_[i]);
        const bool knows_readers =
            std::ranges::all_of(to.readers, [&](std::uint32_t reader) { return over_[i].test(reader); });
        to.over |= over_[i];
        to.over.set(i);
        for (const std::uint32_t reader : to.readers) to.over.set(reader);
        to.readers.clear();
        to.used = true;
        return messages_[i].op == Op::Copy && knows_writers && knows_readers;
    }

    const msccl::Draft& draft_;
    bool in_place_;
    std::uint32_t chunk_;
    std::vector<std::uint32_t> numbers_;  ///< in the part
    std::vector<RankMessage> messages_;
    std::vector<Known> over_;  ///< by message
    std::unordered_map<std::uint32_t, Place> places_;
};

std::vector<bool> direct_messages(const msccl::Draft& draft, bool in_place) {
    const auto& messages = draft.part.messages;
    std::vector<std::vector<std::uint32_t>> of_chunk(draft.part.chunks);
    for (std::uint32_t i = 0; i < messages.size(); ++i) of_chunk[messages[i].chunk].push_back(i);
    std::vector<bool> direct(messages.size(), true);
    for (std::uint32_t chunk = 0; chunk < of_chunk.size(); ++chunk) {
        if (!draft.places.demand(chunk).reduction) continue;
        ChunkLandings(draft, in_place, chunk, std::move(of_chunk[chunk])).run(direct);
    }
    return direct;
}

}  // namespace

std::vector<plan::Address> landings_of(msccl::Draft& moves, bool in_place) {
    const std::vector<bool> direct = direct_messages(moves, in_place);
    std::vector<plan::Address> landings;
    for (const msccl::Transfer& transfer : moves.transfers) {
        const bool all =
            std::ranges::all_of(transfer.messages, [&](std::uint32_t i) { return bool{direct[i]}; });
        if (all) {
            landings.push_back(transfer.target);
            continue;
        }
        std::int32_t& scratch = moves.scratch[transfer.to];
        landings.push_back({plan::Buffer::Scratch, plan::id_of<plan::ChunkOffset>(scratch)});
        scratch += transfer.count();
    }
    return landings;
}

}  // namespace tutti::compile::execution
