// A million calls are read as events, not as a document: the state is where in the file the reader is
// (call_list_place.hpp). What is in a call is read by call_reader, who is in a group by call_groups.

#include "io/call_list_json.hpp"

#include "io/call_groups.hpp"
#include "io/call_list_place.hpp"
#include "io/call_names.hpp"
#include "io/call_reader.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace tutti::io {
namespace {

using plan::Call;
using plan::CallKind;
using plan::CallList;
using Level = CallListPlace::Level;

class CallListBuilder {
  public:
    explicit CallListBuilder(CallList& list)
        : list_(list),
          names_(list),
          place_{list},
          groups_(list, names_),
          calls_(list, names_, groups_, place_) {
        list_.format = "tutti";
    }

    void take(JsonEvent event, const Json& value) {
        switch (event) {
            case JsonEvent::Key:
                begin_field(value.get_ref<const std::string&>());
                break;
            case JsonEvent::Value:
                take_value(value);
                break;
            case JsonEvent::BeginObject:
                begin_object();
                break;
            case JsonEvent::EndObject:
                end_object();
                break;
            case JsonEvent::BeginArray:
                begin_array();
                break;
            case JsonEvent::EndArray:
                end_array();
                break;
        }
    }

    void finish() {
        if (list_.ranks.empty()) throw InputError("expected at least one rank, found none", "/ranks");
        groups_.finish();
        for (std::size_t rank = 0; rank < list_.ranks.size(); ++rank) check_rank(rank);
    }

  private:
    template <std::size_t N>
    void enter_field(const std::array<std::string_view, N>& fields, const std::string& key,
                     std::uint32_t& seen, const std::string& object_path) {
        const auto found = std::ranges::find(fields, key);
        if (found == fields.end()) {
            JsonView(Json::object({{key, nullptr}}), object_path)
                .only(std::vector<std::string_view>(fields.begin(), fields.end()));
        }
        place_.field = static_cast<std::size_t>(found - fields.begin());
        if ((seen & (1U << place_.field)) != 0) throw InputError("this field is given twice", place_.path());
        seen |= 1U << place_.field;
    }

    void begin_field(const std::string& key) {
        if (place_.level == Level::Top) {
            enter_field(kListFields, key, seen_top_, "/");
        } else if (place_.level == Level::Rank) {
            enter_field(kRankFields, key, seen_rank_, place_.rank_path());
        } else if (place_.level == Level::Call) {
            enter_field(kCallFields, key, calls_.seen, place_.call_path());
        } else {
            place_.group = key;
            if (!groups_given_.insert(key).second)
                throw InputError("this group is given twice", place_.path());
        }
    }

    void begin_object() {
        if (place_.level == Level::Outside) {
            place_.level = Level::Top;
        } else if (place_.is(TopField::Groups)) {
            begin_groups(false);
        } else if (place_.level == Level::Ranks) {
            add_rank(true);
            place_.level = Level::Rank;
            seen_rank_ = 0;
        } else if (place_.is(RankField::Groups)) {
            begin_groups(true);
        } else if (place_.level == Level::Calls) {
            place_.level = Level::Call;
            calls_.begin();
        } else {
            place_.refuse("an object");
        }
    }

    void begin_groups(bool in_rank) {
        place_.level = Level::Groups;
        place_.in_rank = in_rank;
        groups_given_.clear();
    }

    void end_object() {
        switch (place_.level) {
            case Level::Top:
                if ((seen_top_ & 1U) == 0)
                    throw InputError("expected a field 'tutti_calls', found none", "/");
                if ((seen_top_ & (1U << static_cast<unsigned>(TopField::Ranks))) == 0)
                    throw InputError("expected a field 'ranks', found none", "/");
                place_.level = Level::Outside;
                break;
            case Level::Groups:
                place_.level = place_.in_rank ? Level::Rank : Level::Top;
                break;
            case Level::Rank:
                place_.level = Level::Ranks;
                break;
            case Level::Call:
                calls_.end();
                place_.level = Level::Calls;
                break;
            default:
                break;
        }
    }

    void begin_array() {
        place_.numbers.clear();
        if (place_.is(TopField::Ranks)) {
            place_.level = Level::Ranks;
        } else if (place_.level == Level::Groups) {
            place_.level = Level::Members;
        } else if (place_.level == Level::Ranks) {
            add_rank(false);
            place_.level = Level::Calls;
        } else if (place_.is(RankField::Calls)) {
            place_.level = Level::Calls;
        } else if (place_.level == Level::Call &&
                   (place_.call_field() == CallField::Group || place_.call_field() == CallField::After ||
                    place_.call_field() == CallField::SendCounts ||
                    place_.call_field() == CallField::ReceiveCounts)) {
            place_.level = Level::List;
        } else {
            place_.refuse("an array");
        }
    }

    void end_array() {
        switch (place_.level) {
            case Level::Ranks:
                place_.level = Level::Top;
                break;
            case Level::Members:
                place_.level = Level::Groups;
                groups_.declare(place_.group, place_.numbers, place_.in_rank ? list_.ranks.size() - 1 : 0,
                                place_.path());
                break;
            case Level::Calls:
                place_.level = place_.rank_is_object ? Level::Rank : Level::Ranks;
                break;
            case Level::List:
                place_.level = Level::Call;
                calls_.end_list();
                break;
            default:
                break;
        }
    }

    void add_rank(bool is_object) {
        if (list_.ranks.size() == static_cast<std::size_t>(kMostCallRanks))
            throw InputError(fmt::format("expected at most {} ranks", kMostCallRanks), place_.path());
        place_.rank_is_object = is_object;
        list_.ranks.emplace_back().known = true;
        list_.ranks.back().place = place_.calls_path() + "/";
    }

    void take_value(const Json& value) {
        switch (place_.level) {
            case Level::Top:
                take_top(value);
                break;
            case Level::Members:
                place_.numbers.push_back(calls_.integer(value, 0, kMostCallRanks - 1));
                break;
            case Level::List:
                place_.numbers.push_back(calls_.number_in_list(value));
                break;
            case Level::Call:
                calls_.take(value);
                break;
            default:
                JsonView(value, place_.path()).fail_expecting(std::string(place_.expectation()));
        }
    }

    void take_top(const Json& value) {
        switch (static_cast<TopField>(place_.field)) {
            case TopField::Format:
                if (value != 1)
                    JsonView(value, place_.path()).fail_expecting(std::string(place_.expectation()));
                break;
            case TopField::Name:
            case TopField::About:
                (void)JsonView(value, place_.path()).string();
                break;
            case TopField::Groups:
            case TopField::Ranks:
                JsonView(value, place_.path()).fail_expecting(std::string(place_.expectation()));
        }
    }

    void check_rank(std::size_t rank) const {
        const auto& calls = list_.ranks[rank].calls;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const Call& call = calls[i];
            if (call.peer >= static_cast<std::int64_t>(list_.ranks.size())) {
                throw InputError(
                    fmt::format("expected a rank from 0 to {}, found {}", list_.ranks.size() - 1, call.peer),
                    list_.place_of(rank, i));
            }
            if (call.kind == CallKind::Wait || !list_.groups[call.group].guessed) continue;
            throw InputError(
                fmt::format("there is no group '{}'; declare it in /groups", list_.groups[call.group].name),
                list_.place_of(rank, i) + "/group");
        }
    }

    CallList& list_;
    CallNames names_;
    CallListPlace place_;
    CallGroups groups_;
    CallReader calls_;
    std::uint32_t seen_top_ = 0, seen_rank_ = 0;
    std::set<std::string> groups_given_{};  ///< in the object that is being read
};

}  // namespace

plan::CallList read_call_list_json(Source& source) {
    plan::CallList list;
    CallListBuilder builder(list);
    parse_json_events(source, [&](JsonEvent event, Json& value) { builder.take(event, value); });
    try {
        builder.finish();
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
    return list;
}

}  // namespace tutti::io
