#pragma once

#include "plan/call_list.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::io {

/// The fields of a list of calls, of a rank in it, and of a call.
enum class TopField : std::uint8_t { Format, Name, About, Groups, Ranks };
enum class RankField : std::uint8_t { Groups, Calls };
enum class CallField : std::uint8_t {
    Kind,
    Group,
    Count,
    Dtype,
    Reduction,
    Root,
    Peer,
    Tag,
    Stream,
    After,
    Batch,
    Buffered,
    SendCounts,
    ReceiveCounts,
    About
};
inline constexpr std::array<std::string_view, 5> kListFields{"tutti_calls", "name", "about", "groups",
                                                             "ranks"};
inline constexpr std::array<std::string_view, 2> kRankFields{"groups", "calls"};
inline constexpr std::array<std::string_view, 15> kCallFields{
    "call",   "group", "count", "dtype",    "op",          "root",           "peer", "tag",
    "stream", "after", "batch", "buffered", "send_counts", "receive_counts", "about"};

/// Where in a list of calls its reader is. Paths are built only for errors.
struct CallListPlace {
    enum class Level : std::uint8_t {
        Outside,
        Top,
        Groups,   ///< the object of groups, of all or of a rank
        Members,  ///< the list of one of them
        Ranks,
        Rank,   ///< the object of a rank
        Calls,  ///< the list of its calls
        Call,
        List,  ///< a list in a call
    };

    const plan::CallList& list;
    Level level = Level::Outside;
    std::size_t field = 0;                ///< of the object that is being read
    bool in_rank = false;                 ///< groups are those of a rank
    bool rank_is_object = false;          ///< not only a list of calls
    std::string group{};                  ///< whose members are read
    std::vector<std::int64_t> numbers{};  ///< of the list that is being read

    [[nodiscard]] bool is(TopField other) const {
        return level == Level::Top && field == static_cast<std::size_t>(other);
    }
    [[nodiscard]] bool is(RankField other) const {
        return level == Level::Rank && field == static_cast<std::size_t>(other);
    }
    /// Precondition: level is Call or List.
    [[nodiscard]] CallField call_field() const { return static_cast<CallField>(field); }

    /// Of the current value, and of the things around it.
    [[nodiscard]] std::string path() const;
    [[nodiscard]] std::string rank_path() const;
    [[nodiscard]] std::string calls_path() const;
    [[nodiscard]] std::string call_path() const;
    /// What stands here in a list of calls.
    [[nodiscard]] std::string_view expectation() const;
    [[noreturn]] void refuse(std::string_view found) const;
};

}  // namespace tutti::io
