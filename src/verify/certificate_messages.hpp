#pragma once

#include "core/bound.hpp"
#include "verify/certificate_paths.hpp"

#include <map>
#include <vector>

namespace tutti::verify {

/// What chunks must pay for messages under weights through time (TimedLengthsCertificate with `messages`).
class MessagePrices {
  public:
    /// All must outlive this. Windows are as long as links are busy with `bytes`.
    MessagePrices(const Instance& instance, const TimedLengthsCertificate& timed, Bytes bytes);

    /// Whether the messages of these chunks have their transfers to themselves: plain chunks where no switch
    /// copies, sums that one node wants where no switch adds, and no switch cuts through.
    [[nodiscard]] bool counts(const Need& need) const;

    /// The least price of a chunk's messages, one for each receiver that does not hold it (of a sum: one for
    /// each holder that does not want it). kNever if one of them cannot be in time. Precondition:
    /// counts(need).
    [[nodiscard]] Wide of(const Need& need);

  private:
    /// From `tick` on, a start costs `price`.
    struct Step {
        Wide tick, price;
    };
    struct Fall {
        Wide tick;
        LinkId link;
    };
    /// What starts cost, in time from the beginning, or for sums in time left to the end, from their arrival.
    struct Prices {
        std::vector<std::vector<Step>> steps;  ///< per link
        std::vector<Fall> falls;               ///< when a link's price falls, in order of time
        [[nodiscard]] Wide at(LinkId link, Wide tick) const;
    };
    [[nodiscard]] const Prices& prices(ChunkId chunk, Direction direction);
    [[nodiscard]] std::vector<Wide> ready(ChunkId chunk, Direction direction) const;

    const Instance& instance_;
    const TimedLengthsCertificate& timed_;
    const Bytes bytes_;
    bool copies_ = false, adds_ = false, cuts_through_ = false;  ///< some switch
    std::map<std::pair<Bytes, Direction>, Prices> known_;
};

}  // namespace tutti::verify
