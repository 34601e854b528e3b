// A million calls are read as events, not as a document: the state is where in the file the reader is, and
// paths are built only for errors.

#include "io/call_list_json.hpp"

#include "io/call_names.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace tutti::io {
namespace {

using plan::Call;
using plan::CallKind;
using plan::CallList;

constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::size_t kMostCalls = std::size_t{1} << 28;
constexpr std::int64_t kMostCount = std::int64_t{1} << 60;

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
constexpr std::array<std::string_view, 5> kListFields{"tutti_calls", "name", "about", "groups", "ranks"};
constexpr std::array<std::string_view, 2> kRankFields{"groups", "calls"};
constexpr std::array<std::string_view, 15> kCallFields{
    "call",   "group", "count", "dtype",    "op",          "root",           "peer", "tag",
    "stream", "after", "batch", "buffered", "send_counts", "receive_counts", "about"};

class CallListBuilder {
  public:
    explicit CallListBuilder(CallList& list) : list_(list), names_(list) { list_.format = "tutti"; }

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
        declare_groups();
        for (std::size_t rank = 0; rank < list_.ranks.size(); ++rank) check_rank(rank);
    }

  private:
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

    [[nodiscard]] std::string rank_path() const { return fmt::format("/ranks/{}", list_.ranks.size() - 1); }
    [[nodiscard]] std::string calls_path() const { return rank_path() + (rank_is_object_ ? "/calls" : ""); }

    /// Where a group got members, of which the largest is checked once all ranks are known.
    struct Declared {
        std::uint32_t group, largest;
        std::string place;
    };

    /// Where the current value is.
    [[nodiscard]] std::string path() const {
        const std::string groups = in_rank_ ? rank_path() + "/groups" : "/groups";
        switch (level_) {
            case Level::Outside:
                return "/";
            case Level::Top:
                return fmt::format("/{}", kListFields[field_]);
            case Level::Groups:
                return groups + "/" + path_token(group_);
            case Level::Members:
                return fmt::format("{}/{}/{}", groups, path_token(group_), numbers_.size());
            case Level::Ranks:
                return fmt::format("/ranks/{}", list_.ranks.size());
            case Level::Rank:
                return fmt::format("{}/{}", rank_path(), kRankFields[field_]);
            case Level::Calls:
                return fmt::format("{}/{}", calls_path(), calls().size());
            case Level::Call:
                return fmt::format("{}/{}/{}", calls_path(), calls().size(), kCallFields[field_]);
            case Level::List:
                return fmt::format("{}/{}/{}/{}", calls_path(), calls().size(), kCallFields[field_],
                                   numbers_.size());
        }
        return "/";
    }

    [[nodiscard]] std::vector<Call>& calls() { return list_.ranks.back().calls; }
    [[nodiscard]] const std::vector<Call>& calls() const { return list_.ranks.back().calls; }
    [[nodiscard]] CallField call_field() const { return static_cast<CallField>(field_); }

    [[noreturn]] void refuse(std::string_view found) const {
        throw InputError(fmt::format("expected {}, found {}", expectation(), found), path());
    }
    [[nodiscard]] std::string_view expectation() const {
        switch (level_) {
            case Level::Outside:
                return "an object with tutti_calls";
            case Level::Groups:
                return "a list of ranks";
            case Level::Members:
                return "a rank";
            case Level::Ranks:
                return "the list of a rank's calls";
            case Level::Rank:
                return field_ == 0 ? "an object of groups" : "a list of calls";
            case Level::Calls:
                return "a call, which is an object";
            case Level::List:
                return "a whole number";
            case Level::Top:
                return expectation_of(static_cast<TopField>(field_));
            case Level::Call:
                break;
        }
        return expectation_of(call_field());
    }
    static std::string_view expectation_of(TopField field) {
        switch (field) {
            case TopField::Format:
                return "1, the version of the format";
            case TopField::Groups:
                return "an object of groups";
            case TopField::Ranks:
                return "a list with the calls of each rank";
            case TopField::Name:
            case TopField::About:
                break;
        }
        return "a text";
    }
    static std::string_view expectation_of(CallField field) {
        switch (field) {
            case CallField::Kind:
                return "a kind of call";
            case CallField::Group:
                return "the name of a group or a list of ranks";
            case CallField::Count:
            case CallField::Root:
            case CallField::Peer:
            case CallField::Tag:
            case CallField::Batch:
                return "a whole number";
            case CallField::Stream:
                return "a name or a whole number";
            case CallField::After:
            case CallField::SendCounts:
            case CallField::ReceiveCounts:
                return "a list of whole numbers";
            case CallField::Buffered:
                return "true or false";
            case CallField::Dtype:
            case CallField::Reduction:
            case CallField::About:
                break;
        }
        return "a text";
    }

    template <std::size_t N>
    void enter_field(const std::array<std::string_view, N>& fields, const std::string& key,
                     std::uint32_t& seen, const std::string& object_path) {
        const auto found = std::ranges::find(fields, key);
        if (found == fields.end()) {
            JsonView(Json::object({{key, nullptr}}), object_path)
                .only(std::vector<std::string_view>(fields.begin(), fields.end()));
        }
        field_ = static_cast<std::size_t>(found - fields.begin());
        if ((seen & (1U << field_)) != 0) throw InputError("this field is given twice", path());
        seen |= 1U << field_;
    }

    void begin_field(const std::string& key) {
        if (level_ == Level::Top) {
            enter_field(kListFields, key, seen_top_, "/");
        } else if (level_ == Level::Rank) {
            enter_field(kRankFields, key, seen_rank_, rank_path());
        } else if (level_ == Level::Call) {
            enter_field(kCallFields, key, seen_call_, fmt::format("{}/{}", calls_path(), calls().size()));
        } else {
            group_ = key;
            if (!groups_given_.insert(key).second) throw InputError("this group is given twice", path());
        }
    }

    void begin_object() {
        if (level_ == Level::Outside) {
            level_ = Level::Top;
        } else if (level_ == Level::Top && field_ == static_cast<std::size_t>(TopField::Groups)) {
            begin_groups(false);
        } else if (level_ == Level::Ranks) {
            add_rank(true);
            level_ = Level::Rank;
            seen_rank_ = 0;
        } else if (level_ == Level::Rank && field_ == static_cast<std::size_t>(RankField::Groups)) {
            begin_groups(true);
        } else if (level_ == Level::Calls) {
            level_ = Level::Call;
            seen_call_ = 0;
            call_ = {};
            call_.place = calls().size();
            begin_of_lists();
        } else {
            refuse("an object");
        }
    }

    void begin_groups(bool in_rank) {
        level_ = Level::Groups;
        in_rank_ = in_rank;
        groups_given_.clear();
    }

    void begin_of_lists() {
        const plan::RankCalls& rank = list_.ranks.back();
        call_.after_begin = call_.after_end = static_cast<std::uint32_t>(rank.after.size());
        call_.counts_begin = call_.counts_end = static_cast<std::uint32_t>(rank.counts.size());
        sent_.clear();
        received_.clear();
    }

    void end_object() {
        switch (level_) {
            case Level::Top:
                if ((seen_top_ & 1U) == 0)
                    throw InputError("expected a field 'tutti_calls', found none", "/");
                if ((seen_top_ & (1U << static_cast<unsigned>(TopField::Ranks))) == 0)
                    throw InputError("expected a field 'ranks', found none", "/");
                level_ = Level::Outside;
                break;
            case Level::Groups:
                level_ = in_rank_ ? Level::Rank : Level::Top;
                break;
            case Level::Rank:
                level_ = Level::Ranks;
                break;
            case Level::Call:
                end_call();
                level_ = Level::Calls;
                break;
            default:
                break;
        }
    }

    void begin_array() {
        numbers_.clear();
        if (level_ == Level::Top && field_ == static_cast<std::size_t>(TopField::Ranks)) {
            level_ = Level::Ranks;
        } else if (level_ == Level::Groups) {
            level_ = Level::Members;
        } else if (level_ == Level::Ranks) {
            add_rank(false);
            level_ = Level::Calls;
        } else if (level_ == Level::Rank && field_ == static_cast<std::size_t>(RankField::Calls)) {
            level_ = Level::Calls;
        } else if (level_ == Level::Call &&
                   (call_field() == CallField::Group || call_field() == CallField::After ||
                    call_field() == CallField::SendCounts || call_field() == CallField::ReceiveCounts)) {
            level_ = Level::List;
        } else {
            refuse("an array");
        }
    }

    void end_array() {
        switch (level_) {
            case Level::Ranks:
                level_ = Level::Top;
                break;
            case Level::Members:
                level_ = Level::Groups;
                declare(group_);
                break;
            case Level::Calls:
                level_ = rank_is_object_ ? Level::Rank : Level::Ranks;
                break;
            case Level::List:
                level_ = Level::Call;
                end_list();
                break;
            default:
                break;
        }
    }

    void add_rank(bool is_object) {
        if (list_.ranks.size() == static_cast<std::size_t>(kMostRanks))
            throw InputError(fmt::format("expected at most {} ranks", kMostRanks), path());
        rank_is_object_ = is_object;
        list_.ranks.emplace_back().known = true;
        list_.ranks.back().place = calls_path() + "/";
    }

    [[nodiscard]] std::vector<std::uint32_t> members() const {
        std::vector<std::uint32_t> members;
        for (const std::int64_t number : numbers_) members.push_back(static_cast<std::uint32_t>(number));
        std::vector<std::uint32_t> sorted = members;
        std::ranges::sort(sorted);
        if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
            throw InputError(fmt::format("rank {} is in this group twice", *twice), path());
        if (members.empty()) throw InputError("expected at least one rank, found an empty list", path());
        return members;
    }

    void declare(const std::string& name) {
        const std::uint32_t number = names_.group(name);
        plan::CallGroup& group = list_.groups[number];
        std::vector<std::uint32_t> ranks = members();
        if (group.guessed || group.members != ranks)
            declared_.push_back({number, std::ranges::max(ranks), path()});
        if (group.guessed) {
            group.members = std::move(ranks);
            group.guessed = false;
        } else if (group.members != ranks) {
            group.others.emplace_back(static_cast<std::uint32_t>(in_rank_ ? list_.ranks.size() - 1 : 0),
                                      std::move(ranks));
        }
    }

    void end_list() {
        switch (call_field()) {
            case CallField::Group: {
                // A group without a name is called by its members.
                const std::string name = fmt::format("[{}]", fmt::join(numbers_, ", "));
                call_.group = names_.group(name);
                if (plan::CallGroup& group = list_.groups[call_.group]; group.guessed) {
                    group.members = members();
                    group.guessed = false;
                    declared_.push_back({call_.group, std::ranges::max(group.members), path()});
                }
                break;
            }
            case CallField::After:
                for (const std::int64_t number : numbers_)
                    list_.ranks.back().after.push_back(static_cast<std::uint32_t>(number));
                call_.after_end = static_cast<std::uint32_t>(list_.ranks.back().after.size());
                break;
            case CallField::SendCounts:
                sent_ = numbers_;
                break;
            default:
                received_ = numbers_;
                break;
        }
    }

    [[nodiscard]] std::int64_t integer(const Json& value, std::int64_t least, std::int64_t most) const {
        if (value.is_number_unsigned()) {
            const auto number = value.get<std::uint64_t>();
            if (number >= static_cast<std::uint64_t>(least) && number <= static_cast<std::uint64_t>(most))
                return static_cast<std::int64_t>(number);
        }
        return JsonView(value, path()).integer(least, most);
    }
    [[nodiscard]] std::string text(const Json& value) const { return JsonView(value, path()).string(); }

    void take_value(const Json& value) {
        switch (level_) {
            case Level::Top:
                take_top(value);
                break;
            case Level::Members:
                numbers_.push_back(integer(value, 0, kMostRanks - 1));
                break;
            case Level::List:
                take_in_list(value);
                break;
            case Level::Call:
                take_in_call(value);
                break;
            default:
                JsonView(value, path()).fail_expecting(std::string(expectation()));
        }
    }

    void take_top(const Json& value) {
        switch (static_cast<TopField>(field_)) {
            case TopField::Format:
                if (value != 1) JsonView(value, path()).fail_expecting(std::string(expectation()));
                break;
            case TopField::Name:
            case TopField::About:
                (void)text(value);
                break;
            case TopField::Groups:
            case TopField::Ranks:
                JsonView(value, path()).fail_expecting(std::string(expectation()));
        }
    }

    void take_in_list(const Json& value) {
        switch (call_field()) {
            case CallField::Group:
                numbers_.push_back(integer(value, 0, kMostRanks - 1));
                break;
            case CallField::After: {
                const auto number = static_cast<std::int64_t>(calls().size());
                if (number == 0)
                    JsonView(value, path()).fail_expecting("nothing: no call is before this one");
                numbers_.push_back(integer(value, 0, number - 1));
                break;
            }
            default:
                numbers_.push_back(integer(value, 0, kMostCount));
        }
    }

    void take_in_call(const Json& value) {
        switch (call_field()) {
            case CallField::Kind:
                call_.kind = kind(value);
                break;
            case CallField::Group:
                call_.group = names_.group(text(value));
                break;
            case CallField::Count:
                call_.count = integer(value, 0, kMostCount);
                break;
            case CallField::Dtype:
                call_.dtype = names_.type(text(value));
                break;
            case CallField::Reduction:
                call_.reduction = names_.reduction(text(value));
                break;
            case CallField::Root:
            case CallField::Peer:
                call_.peer = static_cast<std::int32_t>(integer(value, 0, kMostRanks - 1));
                break;
            case CallField::Tag:
                call_.tag = static_cast<std::uint32_t>(integer(value, 0, Call::kNone));
                break;
            case CallField::Stream:
                call_.stream = names_.name(value.is_string() ? text(value)
                                                             : std::to_string(integer(value, 0, kMostCount)));
                break;
            case CallField::Batch:
                call_.batch = static_cast<std::uint32_t>(integer(value, 0, Call::kNone - 1));
                break;
            case CallField::Buffered:
                call_.buffered = JsonView(value, path()).boolean();
                break;
            case CallField::About:
                (void)text(value);
                break;
            case CallField::After:
            case CallField::SendCounts:
            case CallField::ReceiveCounts:
                JsonView(value, path()).fail_expecting(std::string(expectation()));
        }
    }

    [[nodiscard]] CallKind kind(const Json& value) const {
        if (value.is_string()) {
            const auto kind = plan::call_kind(value.get_ref<const std::string&>());
            if (kind && *kind != CallKind::Local) return *kind;
        }
        std::vector<std::string_view> names = plan::call_kind_names();
        names.pop_back();
        (void)JsonView(value, path()).choice(names);
        throw InternalError("a kind of call is both known and unknown");
    }

    [[nodiscard]] bool gives(CallField field) const {
        return (seen_call_ & (1U << static_cast<unsigned>(field))) != 0;
    }
    [[noreturn]] void refuse_call(const std::string& message) const {
        throw InputError(message, fmt::format("{}/{}", calls_path(), calls().size()));
    }
    void need(CallField field, bool allowed, bool required) const {
        const std::string_view name = kCallFields[static_cast<std::size_t>(field)];
        if (required && !gives(field))
            refuse_call(fmt::format("{} needs a field '{}'", name_of(call_.kind), name));
        if (!allowed && gives(field)) refuse_call(fmt::format("{} has no '{}'", name_of(call_.kind), name));
    }

    void end_call() {
        if (!gives(CallField::Kind)) refuse_call("expected a field 'call', found none");
        const bool message = is_message(call_.kind), waits = call_.kind == CallKind::Wait;
        const bool reduces = call_.kind == CallKind::AllReduce || call_.kind == CallKind::Reduce ||
                             call_.kind == CallKind::ReduceScatter;
        need(CallField::Root, has_root(call_.kind), has_root(call_.kind));
        need(CallField::Peer, message, message);
        need(CallField::Tag, message, false);
        need(CallField::Buffered, call_.kind == CallKind::Send, false);
        need(CallField::Reduction, reduces, false);
        need(CallField::Group, !waits, false);
        need(CallField::Batch, !waits, false);
        need(CallField::After, !waits, false);
        need(CallField::SendCounts, call_.kind == CallKind::AllToAllV, gives(CallField::ReceiveCounts));
        need(CallField::ReceiveCounts, call_.kind == CallKind::AllToAllV, gives(CallField::SendCounts));
        if (waits) {
            call_.whole_host = !gives(CallField::Stream);
        } else if (!gives(CallField::Group)) {
            call_.group = names_.group("world");
        }
        auto& counts = list_.ranks.back().counts;
        counts.insert(counts.end(), sent_.begin(), sent_.end());
        counts.insert(counts.end(), received_.begin(), received_.end());
        call_.counts_end = static_cast<std::uint32_t>(counts.size());
        if (++all_calls_ > kMostCalls) refuse_call(fmt::format("expected at most {} calls", kMostCalls));
        calls().push_back(call_);
    }

    /// "world" is all ranks where nobody says otherwise; any other group must be declared.
    void declare_groups() {
        for (plan::CallGroup& group : list_.groups) {
            if (group.guessed && group.name == "world") {
                for (std::uint32_t r = 0; r < list_.ranks.size(); ++r) group.members.push_back(r);
                group.guessed = false;
            }
        }
        for (const Declared& declared : declared_) {
            if (declared.largest < list_.ranks.size()) continue;
            throw InputError(
                fmt::format("group {} has rank {}, but the last rank with calls is {}",
                            list_.groups[declared.group].name, declared.largest, list_.ranks.size() - 1),
                declared.place);
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
    Level level_ = Level::Outside;
    std::size_t field_ = 0;
    std::uint32_t seen_top_ = 0, seen_rank_ = 0, seen_call_ = 0;
    bool in_rank_ = false;         ///< groups are those of a rank
    bool rank_is_object_ = false;  ///< not only a list of calls
    std::string group_{};
    std::set<std::string> groups_given_{};  ///< in the object that is being read
    std::vector<Declared> declared_{};
    std::vector<std::int64_t> numbers_{}, sent_{}, received_{};
    Call call_{};
    std::size_t all_calls_ = 0;
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
