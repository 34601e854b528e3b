#include "io/call_list_place.hpp"

#include "core/error.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

namespace tutti::io {
namespace {

std::string_view expectation_of(TopField field) {
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
std::string_view expectation_of(CallField field) {
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

}  // namespace

std::string CallListPlace::rank_path() const { return fmt::format("/ranks/{}", list.ranks.size() - 1); }

std::string CallListPlace::calls_path() const { return rank_path() + (rank_is_object ? "/calls" : ""); }

std::string CallListPlace::call_path() const {
    return fmt::format("{}/{}", calls_path(), list.ranks.back().calls.size());
}

std::string CallListPlace::path() const {
    const std::string groups = in_rank ? rank_path() + "/groups" : "/groups";
    switch (level) {
        case Level::Outside:
            return "/";
        case Level::Top:
            return fmt::format("/{}", kListFields[field]);
        case Level::Groups:
            return groups + "/" + path_token(group);
        case Level::Members:
            return fmt::format("{}/{}/{}", groups, path_token(group), numbers.size());
        case Level::Ranks:
            return fmt::format("/ranks/{}", list.ranks.size());
        case Level::Rank:
            return fmt::format("{}/{}", rank_path(), kRankFields[field]);
        case Level::Calls:
            return call_path();
        case Level::Call:
            return fmt::format("{}/{}", call_path(), kCallFields[field]);
        case Level::List:
            return fmt::format("{}/{}/{}", call_path(), kCallFields[field], numbers.size());
    }
    return "/";
}

std::string_view CallListPlace::expectation() const {
    switch (level) {
        case Level::Outside:
            return "an object with tutti_calls";
        case Level::Groups:
            return "a list of ranks";
        case Level::Members:
            return "a rank";
        case Level::Ranks:
            return "the list of a rank's calls";
        case Level::Rank:
            return field == 0 ? "an object of groups" : "a list of calls";
        case Level::Calls:
            return "a call, which is an object";
        case Level::List:
            return "a whole number";
        case Level::Top:
            return expectation_of(static_cast<TopField>(field));
        case Level::Call:
            break;
    }
    return expectation_of(call_field());
}

void CallListPlace::refuse(std::string_view found) const {
    throw InputError(fmt::format("expected {}, found {}", expectation(), found), path());
}

}  // namespace tutti::io
