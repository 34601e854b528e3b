#include "batch/message.hpp"

#include "io/json_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tutti::batch {
namespace {

constexpr std::uint32_t kLongest = std::uint32_t{1} << 26;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::optional<Ticks> ticks_in(const io::JsonView& view, std::string_view field) {
    const auto found = view.find(field);
    return found ? std::optional(Ticks(found->integer(0, kMost))) : std::nullopt;
}

}  // namespace

std::string message_of(const TaskEvent& event) {
    io::Json json{{"kind", static_cast<int>(event.kind)}, {"task", event.task}};
    if (event.makespan) json["makespan"] = event.makespan->count();
    if (event.lower_bound) json["lower_bound"] = event.lower_bound->count();
    if (event.line) json["line"] = io::result_json(*event.line);
    if (!event.digest.empty()) json["digest"] = event.digest;
    return io::json_line(json);
}

TaskEvent event_in(std::string_view message) {
    io::Source source = io::Source::of_text(std::string(message), "a message");
    const io::Json json = io::parse_json(source);
    const io::JsonView view(json);
    TaskEvent event;
    event.kind =
        static_cast<TaskEvent::Kind>(view.at("kind").integer(0, static_cast<int>(TaskEvent::Kind::Ended)));
    event.task = static_cast<std::size_t>(view.at("task").integer(0, kMost));
    event.makespan = ticks_in(view, "makespan");
    event.lower_bound = ticks_in(view, "lower_bound");
    if (const auto line = view.find("line")) event.line = io::parse_result(line->json());
    if (const auto digest = view.find("digest")) event.digest = digest->string();
    return event;
}

std::string framed(std::string_view message) {
    const auto length = static_cast<std::uint32_t>(message.size());
    std::string frame(sizeof length, '\0');
    std::memcpy(frame.data(), &length, sizeof length);
    return frame.append(message);
}

std::vector<std::string> Frames::feed(std::string_view bytes) {
    rest_ += bytes;
    std::vector<std::string> messages;
    std::size_t at = 0;
    for (std::uint32_t length = 0; rest_.size() - at >= sizeof length;) {
        std::memcpy(&length, rest_.data() + at, sizeof length);
        if (length > kLongest)
            throw InputError(fmt::format("expected at most {} bytes, found {}", kLongest, length), {},
                             "a message");
        if (rest_.size() - at - sizeof length < length) break;
        messages.push_back(rest_.substr(at + sizeof length, length));
        at += sizeof length + length;
    }
    rest_.erase(0, at);
    return messages;
}

}  // namespace tutti::batch
