#include "verify/calls/call_matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tutti::verify {
namespace {

using plan::Call;
using plan::CallGroup;
using plan::CallKind;
using plan::CallList;

/// "rank 3", "ranks 3 and 5", "rank 0 and 6 others".
std::string ranks_text(const std::vector<std::uint32_t>& ranks) {
    if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
    if (ranks.size() == 2) return fmt::format("ranks {} and {}", ranks[0], ranks[1]);
    return fmt::format("rank {} and {} others", ranks[0], ranks.size() - 1);
}

std::string members_text(const std::vector<std::uint32_t>& members) {
    constexpr std::size_t kMost = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(members.size(), kMost); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", members[i]);
    return members.size() > kMost ? fmt::format("[{}, ... {} in all]", text, members.size())
                                  : fmt::format("[{}]", text);
}

/// The calls that are compared at one position of a group, and a value of each.
class Comparison {
  public:
    void add(CallPlace place, std::int64_t value) { entries_.push_back({place, value}); }

    /// The value that most have, where not all have the same; of equally many the first.
    [[nodiscard]] std::optional<std::int64_t> usual() const {
        if (entries_.empty()) return std::nullopt;
        const auto differs = [&](const Entry& entry) { return entry.value != entries_.front().value; };
        if (std::ranges::none_of(entries_, differs)) return std::nullopt;
        std::map<std::int64_t, std::size_t> times;
        for (const Entry& entry : entries_) ++times[entry.value];
        const Entry* best = &entries_.front();
        for (const Entry& entry : entries_) {
            if (times[entry.value] > times[best->value]) best = &entry;
        }
        return best->value;
    }
    /// The first with this value, or without it.
    [[nodiscard]] CallPlace first(std::int64_t value, bool with) const {
        return std::ranges::find_if(entries_,
                                    [&](const Entry& entry) { return (entry.value == value) == with; })
            ->place;
    }
    [[nodiscard]] std::int64_t value_of(CallPlace place) const {
        return std::ranges::find(entries_, place, &Entry::place)->value;
    }
    [[nodiscard]] std::vector<std::uint32_t> ranks_with(std::int64_t value) const {
        std::vector<std::uint32_t> ranks;
        for (const Entry& entry : entries_) {
            if (entry.value == value) ranks.push_back(entry.place.rank);
        }
        return ranks;
    }

  private:
    struct Entry {
        CallPlace place;
        std::int64_t value;
    };
    std::vector<Entry> entries_;
};

/// A property in which the calls of one collective must agree.
struct Property {
    const char* code;
    const char* words;
    std::int64_t (*value)(const Call& call);
    std::string (*text)(const CallList& list, std::int64_t value);
};

std::string name_text(const CallList& list, std::int64_t value) {
    return list.names[static_cast<std::size_t>(value)];
}
std::string number_text(const CallList&, std::int64_t value) { return std::to_string(value); }

bool is_said(std::int64_t value) { return value >= 0 && value != static_cast<std::int64_t>(Call::kNone); }

constexpr Property kProperties[] = {
    {"count", "count", [](const Call& call) { return call.count; }, number_text},
    {"dtype", "dtype", [](const Call& call) { return static_cast<std::int64_t>(call.dtype); }, name_text},
    {"operator", "operator", [](const Call& call) { return static_cast<std::int64_t>(call.reduction); },
     name_text},
    {"root", "root", [](const Call& call) { return static_cast<std::int64_t>(call.peer); }, number_text},
};

class Matcher {
  public:
    Matcher(const CallList& list, bool buffer_all, CallFindings& findings)
        : list_(list), buffer_all_(buffer_all), findings_(findings) {}

    CallMatching run() {
        number();
        check_views();
        sort_calls();
        for (std::uint32_t group = 0; group < list_.groups.size(); ++group) match_group(group);
        match_messages();
        return std::move(matching_);
    }

  private:
    struct Member {
        std::uint32_t rank, position;
    };

    [[nodiscard]] const Call& call_at(CallPlace place) const {
        return list_.ranks[place.rank].calls[place.call];
    }
    [[nodiscard]] std::uint32_t number_of(CallPlace place) const {
        return matching_.first_of_rank[place.rank] + place.call;
    }

    void number() {
        std::uint32_t next = 0;
        for (const plan::RankCalls& rank : list_.ranks) {
            matching_.first_of_rank.push_back(next);
            next += static_cast<std::uint32_t>(rank.calls.size());
        }
        matching_.first_of_rank.push_back(next);
        matching_.event_of.assign(next, Call::kNone);
    }

    void check_views() {
        for (const CallGroup& group : list_.groups) {
            for (const auto& [rank, members] : group.others) {
                findings_.add({"members",
                               fmt::format("rank {} takes group {} for {}, others for {}", rank, group.name,
                                           members_text(members), members_text(group.members)),
                               {},
                               {}});
            }
        }
    }

    /// Fills `calls_`: of every group and member the collectives that it issues on it.
    void sort_calls() {
        members_.resize(list_.groups.size());
        calls_.resize(list_.groups.size());
        for (std::size_t g = 0; g < list_.groups.size(); ++g) {
            const auto& members = list_.groups[g].members;
            for (std::uint32_t i = 0; i < members.size(); ++i) members_[g].push_back({members[i], i});
            std::ranges::sort(members_[g], {}, &Member::rank);
            calls_[g].resize(members.size());
        }
        for (std::uint32_t rank = 0; rank < list_.ranks.size(); ++rank) {
            const auto& calls = list_.ranks[rank].calls;
            for (std::uint32_t i = 0; i < calls.size(); ++i) {
                if (is_collective(calls[i].kind)) {
                    sort_in({rank, i});
                } else if (!is_message(calls[i].kind)) {
                    matching_.event_of[number_of({rank, i})] = matching_.events++;
                }
            }
        }
    }

    void sort_in(CallPlace place) {
        const std::uint32_t group = call_at(place).group;
        const auto& members = members_[group];
        const auto found = std::ranges::lower_bound(members, place.rank, {}, &Member::rank);
        if (found != members.end() && found->rank == place.rank) {
            calls_[group][static_cast<std::size_t>(found - members.begin())].push_back(place.call);
            return;
        }
        matching_.event_of[number_of(place)] = matching_.events++;
        findings_.add({"not-a-member",
                       fmt::format("rank {} calls {}, of which it is no member: {}", place.rank,
                                   words_of(list_, place), members_text(list_.groups[group].members)),
                       {place},
                       {}});
    }

    void match_group(std::uint32_t group) {
        const auto& members = members_[group];
        const auto& calls = calls_[group];
        std::size_t most = 0;
        for (const auto& of_member : calls) most = std::max(most, of_member.size());
        bool comparable = true;
        for (std::size_t n = 0; n < most; ++n) {
            const std::uint32_t event = matching_.events++;
            together_.clear();
            for (std::size_t m = 0; m < members.size(); ++m) {
                if (n >= calls[m].size()) continue;
                together_.push_back({members[m].rank, calls[m][n]});
                matching_.event_of[number_of(together_.back())] = event;
            }
            // Behind a call of another kind or one that is missing all others are shifted: no news.
            comparable = comparable && agree(group, n);
        }
    }

    /// False if the calls at this position are no one collective.
    bool agree(std::uint32_t group, std::size_t n) {
        Comparison kinds;
        for (const CallPlace place : together_)
            kinds.add(place, static_cast<std::int64_t>(call_at(place).kind));
        if (const auto usual = kinds.usual()) {
            const CallPlace odd = kinds.first(*usual, false), even = kinds.first(*usual, true);
            findings_.add(
                {"collective",
                 fmt::format("call {} on {}: rank {} calls {} where {} call{} {}", n,
                             list_.groups[group].name, odd.rank, name_of(call_at(odd).kind),
                             ranks_text(kinds.ranks_with(*usual)),
                             kinds.ranks_with(*usual).size() == 1 ? "s" : "", name_of(call_at(even).kind)),
                 {odd, even},
                 {}});
            return false;
        }
        if (!all_there(group, n)) return false;
        for (const Property& property : kProperties) compare(group, n, property);
        if (call_at(together_[0]).kind == CallKind::AllToAllV) compare_counts(group, n);
        return true;
    }

    bool all_there(std::uint32_t group, std::size_t n) {
        std::vector<std::uint32_t> missing;
        for (std::size_t m = 0; m < members_[group].size(); ++m) {
            const std::uint32_t rank = members_[group][m].rank;
            if (list_.ranks[rank].known && n >= calls_[group][m].size()) missing.push_back(rank);
        }
        if (missing.empty()) return true;
        std::vector<std::uint32_t> there;
        for (const CallPlace place : together_) there.push_back(place.rank);
        findings_.add(
            {"missing-call",
             fmt::format("call {} on {}: {} call{} {}, but {} never do{}", n, list_.groups[group].name,
                         ranks_text(there), there.size() == 1 ? "s" : "", name_of(call_at(together_[0]).kind),
                         ranks_text(missing), missing.size() == 1 ? "es" : ""),
             {together_[0]},
             {}});
        return false;
    }

    void compare(std::uint32_t group, std::size_t n, const Property& property) {
        Comparison values;
        for (const CallPlace place : together_) {
            if (const auto value = property.value(call_at(place)); is_said(value)) values.add(place, value);
        }
        const auto usual = values.usual();
        if (!usual) return;
        const CallPlace odd = values.first(*usual, false), even = values.first(*usual, true);
        findings_.add(
            {property.code,
             fmt::format("call {} on {}, {}: rank {} has {} {} where {} ha{} {}", n, list_.groups[group].name,
                         name_of(call_at(odd).kind), odd.rank, property.words,
                         property.text(list_, values.value_of(odd)), ranks_text(values.ranks_with(*usual)),
                         values.ranks_with(*usual).size() == 1 ? "s" : "ve", property.text(list_, *usual)),
             {odd, even},
             {}});
    }

    /// What member i says it sends to member j, and what j says it receives from i.
    void compare_counts(std::uint32_t group, std::size_t n) {
        const std::size_t members = members_[group].size();
        std::vector<const std::int64_t*> of(members, nullptr);
        std::vector<CallPlace> places(members);
        for (const CallPlace place : together_) {
            const Call& call = call_at(place);
            if (call.counts_begin == call.counts_end) continue;
            const auto at = std::ranges::lower_bound(members_[group], place.rank, {}, &Member::rank);
            if (call.counts_end - call.counts_begin != 2 * members) {
                findings_.add({"counts",
                               fmt::format("call {} on {}: rank {} gives {} counts where the group has {} "
                                           "members, each with one to send and one to receive",
                                           n, list_.groups[group].name, place.rank,
                                           call.counts_end - call.counts_begin, members),
                               {place},
                               {}});
                return;
            }
            of[at->position] = list_.ranks[place.rank].counts.data() + call.counts_begin;
            places[at->position] = place;
        }
        for (std::size_t i = 0; i < members; ++i) {
            for (std::size_t j = 0; j < members; ++j) {
                if (of[i] == nullptr || of[j] == nullptr || of[i][j] == of[j][members + i]) continue;
                findings_.add({"counts",
                               fmt::format("call {} on {}, all_to_all_v: rank {} sends {} to rank {}, which "
                                           "receives {} from it",
                                           n, list_.groups[group].name, places[i].rank, of[i][j],
                                           places[j].rank, of[j][members + i]),
                               {places[i], places[j]},
                               {}});
                return;
            }
        }
    }

    struct Ends {
        std::vector<CallPlace> sends, receives;
    };

    void match_messages() {
        using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
        std::map<Key, Ends> messages;
        for (std::uint32_t rank = 0; rank < list_.ranks.size(); ++rank) {
            const auto& calls = list_.ranks[rank].calls;
            for (std::uint32_t i = 0; i < calls.size(); ++i) {
                const Call& call = calls[i];
                if (!is_message(call.kind)) continue;
                const bool sends = call.kind == CallKind::Send;
                const auto peer = static_cast<std::uint32_t>(call.peer);
                Ends& ends = messages[Key{call.group, sends ? rank : peer, sends ? peer : rank, call.tag}];
                (sends ? ends.sends : ends.receives).push_back({rank, i});
            }
        }
        for (const auto& [key, ends] : messages) match_ends(ends);
    }

    void match_ends(const Ends& ends) {
        const std::size_t pairs = std::min(ends.sends.size(), ends.receives.size());
        for (std::size_t i = 0; i < pairs; ++i) {
            const CallPlace send = ends.sends[i], receive = ends.receives[i];
            const std::uint32_t event = matching_.events++;
            matching_.event_of[number_of(receive)] = event;
            if (buffer_all_ || call_at(send).buffered) {
                matching_.event_of[number_of(send)] = matching_.events++;
                matching_.buffered.push_back({number_of(send), number_of(receive)});
            } else {
                matching_.event_of[number_of(send)] = event;
            }
            compare_message(send, receive, kProperties[0]);
            compare_message(send, receive, kProperties[1]);
        }
        for (const bool sends : {true, false}) {
            const auto& all = sends ? ends.sends : ends.receives;
            for (std::size_t i = pairs; i < all.size(); ++i) {
                matching_.event_of[number_of(all[i])] = matching_.events++;
                const auto peer = static_cast<std::uint32_t>(call_at(all[i]).peer);
                if (!list_.ranks[peer].known) continue;
                findings_.add({sends ? "unmatched-send" : "unmatched-receive",
                               fmt::format("rank {}: nothing matches its {}; rank {} has {} such {}",
                                           all[i].rank, words_of(list_, all[i]), peer,
                                           pairs == 0 ? std::string("no") : fmt::format("only {}", pairs),
                                           sends ? "receives" : "sends"),
                               {all[i]},
                               {}});
            }
        }
    }

    void compare_message(CallPlace send, CallPlace receive, const Property& property) {
        const std::int64_t sent = property.value(call_at(send)), received = property.value(call_at(receive));
        if (sent == received || !is_said(sent) || !is_said(received)) return;
        findings_.add(
            {property.code,
             fmt::format("rank {} sends {} {} to rank {}, which receives {}", send.rank, property.words,
                         property.text(list_, sent), receive.rank, property.text(list_, received)),
             {receive, send},
             {}});
    }

    const CallList& list_;
    const bool buffer_all_;
    CallFindings& findings_;
    CallMatching matching_{};
    std::vector<std::vector<Member>> members_{};                    ///< by group, sorted
    std::vector<std::vector<std::vector<std::uint32_t>>> calls_{};  ///< by group and that member
    std::vector<CallPlace> together_{};                             ///< the calls at one position of a group
};

}  // namespace

CallPlace CallMatching::place_of(std::uint32_t call) const {
    const auto rank = std::ranges::upper_bound(first_of_rank, call) - first_of_rank.begin() - 1;
    const auto index = static_cast<std::size_t>(rank);
    return {static_cast<std::uint32_t>(index), call - first_of_rank[index]};
}

CallMatching match_calls(const CallList& list, bool buffer_all, CallFindings& findings) {
    return Matcher(list, buffer_all, findings).run();
}

std::string words_of(const CallList& list, CallPlace place) {
    const Call& call = list.ranks[place.rank].calls[place.call];
    const std::string kind(name_of(call.kind));
    if (is_message(call.kind)) {
        return fmt::format(
            "{} {} rank {}{}", kind, call.kind == CallKind::Send ? "to" : "from", call.peer,
            list.groups[call.group].name == "world" ? "" : " on " + list.groups[call.group].name);
    }
    return is_collective(call.kind) ? fmt::format("{} on {}", kind, list.groups[call.group].name) : kind;
}

}  // namespace tutti::verify
