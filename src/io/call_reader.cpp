#include "io/call_reader.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <string_view>

namespace tutti::io {
namespace {

constexpr std::size_t kMostCalls = std::size_t{1} << 28;
constexpr std::int64_t kMostCount = std::int64_t{1} << 60;

}  // namespace

void CallReader::begin() {
    seen = 0;
    call_ = {};
    call_.place = rank().calls.size();
    call_.after_begin = call_.after_end = static_cast<std::uint32_t>(rank().after.size());
    call_.counts_begin = call_.counts_end = static_cast<std::uint32_t>(rank().counts.size());
    sent_.clear();
    received_.clear();
}

std::int64_t CallReader::integer(const Json& value, std::int64_t least, std::int64_t most) const {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (number >= static_cast<std::uint64_t>(least) && number <= static_cast<std::uint64_t>(most))
            return static_cast<std::int64_t>(number);
    }
    return JsonView(value, place_.path()).integer(least, most);
}

std::string CallReader::text(const Json& value) const { return JsonView(value, place_.path()).string(); }

void CallReader::take(const Json& value) {
    switch (place_.call_field()) {
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
            call_.peer = static_cast<std::int32_t>(integer(value, 0, kMostCallRanks - 1));
            break;
        case CallField::Tag:
            call_.tag = static_cast<std::uint32_t>(integer(value, 0, plan::Call::kNone));
            break;
        case CallField::Stream:
            call_.stream =
                names_.name(value.is_string() ? text(value) : std::to_string(integer(value, 0, kMostCount)));
            break;
        case CallField::Batch:
            call_.batch = static_cast<std::uint32_t>(integer(value, 0, plan::Call::kNone - 1));
            break;
        case CallField::Buffered:
            call_.buffered = JsonView(value, place_.path()).boolean();
            break;
        case CallField::About:
            (void)text(value);
            break;
        case CallField::After:
        case CallField::SendCounts:
        case CallField::ReceiveCounts:
            JsonView(value, place_.path()).fail_expecting(std::string(place_.expectation()));
    }
}

std::int64_t CallReader::number_in_list(const Json& value) const {
    switch (place_.call_field()) {
        case CallField::Group:
            return integer(value, 0, kMostCallRanks - 1);
        case CallField::After: {
            const auto number = static_cast<std::int64_t>(list_.ranks.back().calls.size());
            if (number == 0)
                JsonView(value, place_.path()).fail_expecting("nothing: no call is before this one");
            return integer(value, 0, number - 1);
        }
        default:
            return integer(value, 0, kMostCount);
    }
}

void CallReader::end_list() {
    switch (place_.call_field()) {
        case CallField::Group:
            call_.group = groups_.listed(place_.numbers, place_.path());
            break;
        case CallField::After:
            for (const std::int64_t number : place_.numbers)
                rank().after.push_back(static_cast<std::uint32_t>(number));
            call_.after_end = static_cast<std::uint32_t>(rank().after.size());
            break;
        case CallField::SendCounts:
            sent_ = place_.numbers;
            break;
        default:
            received_ = place_.numbers;
            break;
    }
}

plan::CallKind CallReader::kind(const Json& value) const {
    if (value.is_string()) {
        const auto kind = plan::call_kind(value.get_ref<const std::string&>());
        if (kind && *kind != plan::CallKind::Local) return *kind;
    }
    std::vector<std::string_view> names = plan::call_kind_names();
    names.pop_back();
    (void)JsonView(value, place_.path()).choice(names);
    throw InternalError("a kind of call is both known and unknown");
}

void CallReader::refuse(const std::string& message) const { throw InputError(message, place_.call_path()); }

void CallReader::need(CallField field, bool allowed, bool required) const {
    const std::string_view name = kCallFields[static_cast<std::size_t>(field)];
    if (required && !gives(field)) refuse(fmt::format("{} needs a field '{}'", name_of(call_.kind), name));
    if (!allowed && gives(field)) refuse(fmt::format("{} has no '{}'", name_of(call_.kind), name));
}

void CallReader::check_fields() const {
    using plan::CallKind;
    if (!gives(CallField::Kind)) refuse("expected a field 'call', found none");
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
}

void CallReader::end() {
    check_fields();
    if (call_.kind == plan::CallKind::Wait) {
        call_.whole_host = !gives(CallField::Stream);
    } else if (!gives(CallField::Group)) {
        call_.group = names_.group("world");
    }
    auto& counts = rank().counts;
    counts.insert(counts.end(), sent_.begin(), sent_.end());
    counts.insert(counts.end(), received_.begin(), received_.end());
    call_.counts_end = static_cast<std::uint32_t>(counts.size());
    if (++all_calls_ > kMostCalls) refuse(fmt::format("expected at most {} calls", kMostCalls));
    rank().calls.push_back(call_);
}

}  // namespace tutti::io
