#include "io/schedule_json.hpp"

#include "core/expects.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tutti::io {
namespace {

constexpr std::int64_t kLastTick = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kFirstTick = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLastId = std::numeric_limits<std::uint32_t>::max();
/// Sends in memory are numbered by 32 bits.
constexpr std::size_t kMaxSends = std::numeric_limits<std::uint32_t>::max();

struct Field {
    std::string_view name;
    std::string_view expectation;
    bool required;
};
enum TopField : std::size_t { Format, InstanceName, Makespan, Sends };
enum SendField : std::size_t { ChunkNumber, LinkNumber, Start, Operation };
constexpr Field kTopFields[] = {{"tutti_schedule", "an integer", true},
                                {"instance", "a string", true},
                                {"makespan", "an integer", true},
                                {"sends", "an array of sends", true}};
constexpr Field kSendFields[] = {{"chunk", "an integer", true},
                                 {"link", "an integer", true},
                                 {"start", "an integer", true},
                                 {"op", "\"copy\" or \"reduce\"", false}};

/// Builds a schedule from JSON events. The state is the current object and field; paths are built only for
/// errors.
class ScheduleBuilder {
  public:
    void take(JsonEvent event, const Json& value) {
        switch (event) {
            case JsonEvent::Key:
                begin_field(value.get_ref<const std::string&>());
                break;
            case JsonEvent::Value:
                take_scalar(value);
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
                level_ = Level::Top;
                break;
        }
    }

    [[nodiscard]] Schedule result() && { return std::move(schedule_); }

  private:
    enum class Level { Outside, Top, Sends, Send };

    [[nodiscard]] std::span<const Field> fields() const {
        return level_ == Level::Send ? std::span(kSendFields) : std::span(kTopFields);
    }
    [[nodiscard]] std::uint32_t& seen() { return level_ == Level::Send ? seen_in_send_ : seen_at_top_; }

    /// The current object or element: "/" or "/sends/12".
    [[nodiscard]] std::string object_path() const {
        const bool in_sends = level_ == Level::Sends || level_ == Level::Send;
        return in_sends ? fmt::format("/sends/{}", schedule_.sends.size()) : "/";
    }
    /// The current value: "/makespan" or "/sends/12/start".
    [[nodiscard]] std::string value_path() const {
        if (level_ == Level::Top) return fmt::format("/{}", kTopFields[field_].name);
        if (level_ == Level::Send) return fmt::format("{}/{}", object_path(), kSendFields[field_].name);
        return object_path();
    }
    [[nodiscard]] std::string_view expectation() const {
        if (level_ == Level::Outside) return "a schedule, which is an object";
        if (level_ == Level::Sends) return "a send, which is an object";
        return fields()[field_].expectation;
    }
    [[noreturn]] void refuse(std::string_view found) const {
        throw InputError(fmt::format("expected {}, found {}", expectation(), found), value_path());
    }

    void begin_field(const std::string& key) {
        const auto found = std::ranges::find(fields(), key, &Field::name);
        if (found == fields().end()) refuse_field(key);
        field_ = static_cast<std::size_t>(found - fields().begin());
        if ((seen() & (1U << field_)) != 0) throw InputError("this field is given twice", value_path());
        seen() |= 1U << field_;
    }

    [[noreturn]] void refuse_field(const std::string& key) const {
        if (level_ == Level::Top && key == "tutti") {
            throw InputError("this is an instance, expected a schedule", object_path());
        }
        std::vector<std::string_view> names;
        for (const Field& field : fields()) names.push_back(field.name);
        JsonView(Json::object({{key, nullptr}}), object_path()).only(names);
        throw InternalError("a field is both known and unknown");
    }

    void begin_object() {
        if (level_ == Level::Outside) {
            level_ = Level::Top;
        } else if (level_ == Level::Sends) {
            level_ = Level::Send;
            seen_in_send_ = 0;
            send_ = {};
        } else {
            refuse("an object");
        }
    }

    void end_object() {
        for (field_ = 0; field_ < fields().size(); ++field_) {
            if (!fields()[field_].required || (seen() & (1U << field_)) != 0) continue;
            throw InputError(fmt::format("expected a field '{}', found none", fields()[field_].name),
                             object_path());
        }
        if (level_ == Level::Top) {
            level_ = Level::Outside;
            return;
        }
        if (schedule_.sends.size() == kMaxSends) {
            throw InputError(fmt::format("expected at most {} sends; write more as a stream", kMaxSends));
        }
        schedule_.sends.push_back(send_);
        level_ = Level::Sends;
    }

    void begin_array() {
        if (level_ != Level::Top || field_ != Sends) refuse("an array");
        level_ = Level::Sends;
    }

    void take_scalar(const Json& value) {
        if (level_ == Level::Send) {
            take_send_field(value);
        } else if (level_ == Level::Top && field_ != Sends) {
            take_top_field(value);
        } else {
            JsonView(value, value_path()).fail_expecting(std::string(expectation()));
        }
    }

    void take_send_field(const Json& value) {
        switch (field_) {
            case ChunkNumber:
                send_.chunk = ChunkId(static_cast<std::size_t>(integer(value, 0, kLastId)));
                break;
            case LinkNumber:
                send_.link = LinkId(static_cast<std::size_t>(integer(value, 0, kLastId)));
                break;
            case Start:
                send_.start = Ticks(integer(value, kFirstTick, kLastTick));
                break;
            default:
                send_.op = operation(value);
                break;
        }
    }

    void take_top_field(const Json& value) {
        switch (field_) {
            case Format:
                check_format(value);
                break;
            case Makespan:
                schedule_.makespan = Ticks(integer(value, kFirstTick, kLastTick));
                break;
            default:
                schedule_.instance = JsonView(value, value_path()).string();
                break;
        }
    }

    /// Precondition: least <= 0.
    [[nodiscard]] std::int64_t integer(const Json& value, std::int64_t least, std::int64_t most) const {
        expects(least <= 0);
        // The usual case first: otherwise a path would be built for every number.
        if (value.is_number_unsigned()) {
            const auto number = value.get<std::uint64_t>();
            if (number <= static_cast<std::uint64_t>(most)) return static_cast<std::int64_t>(number);
        }
        return JsonView(value, value_path()).integer(least, most);
    }

    [[nodiscard]] Op operation(const Json& value) const {
        if (value == "copy") return Op::Copy;
        return JsonView(value, value_path()).choice({"copy", "reduce"}) == 0 ? Op::Copy : Op::Reduce;
    }

    void check_format(const Json& version) const {
        if (version == kScheduleFormat) return;
        if (!version.is_number()) {
            JsonView(version, value_path())
                .fail_expecting(fmt::format("{}, the version of the format", kScheduleFormat));
        }
        throw InputError(
            fmt::format("this schedule is format {}, this tutti reads {}", version.dump(), kScheduleFormat),
            value_path());
    }

    Schedule schedule_;
    Send send_;
    Level level_ = Level::Outside;
    std::size_t field_ = 0;
    std::uint32_t seen_at_top_ = 0, seen_in_send_ = 0;
};

}  // namespace

Schedule read_schedule_json(Source& source) {
    ScheduleBuilder builder;
    parse_json_events(source, [&](JsonEvent event, Json& value) { builder.take(event, value); });
    return std::move(builder).result();
}

std::vector<std::uint32_t> writing_order(const Schedule& schedule) {
    std::vector<std::uint32_t> order(schedule.sends.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(
        order, [&](auto a, auto b) { return starts_before(schedule.sends[a], schedule.sends[b]); });
    return order;
}

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;

/// Appends a send as a line of the file, after the previous line's end. Without fmt: interpreting a format
/// string for each of a million sends takes as long as all the rest.
void put_send(std::string& text, const Send& send) {
    const auto put = [&](std::string_view name, const fmt::format_int& number) {
        text.append(name).append(number.data(), number.size());
    };
    put("\n    {\"chunk\": ", fmt::format_int(send.chunk.value()));
    put(", \"link\": ", fmt::format_int(send.link.value()));
    put(", \"start\": ", fmt::format_int(send.start.count()));
    text += send.op == Op::Copy ? ", \"op\": \"copy\"}" : ", \"op\": \"reduce\"}";
}

}  // namespace

void write_schedule_json(const std::string& path, const Schedule& schedule) {
    const auto& sends = schedule.sends;
    AtomicFile file(path);
    std::string text =
        fmt::format("{{\n  \"tutti_schedule\": {},\n  \"instance\": {},\n  \"makespan\": {},\n  \"sends\": [",
                    kScheduleFormat, json_line(schedule.instance), schedule.makespan.count());
    std::vector<std::uint32_t> order;
    if (!std::ranges::is_sorted(sends, starts_before)) order = writing_order(schedule);
    for (std::size_t i = 0; i < sends.size(); ++i) {
        if (i > 0) text += ',';
        put_send(text, sends[order.empty() ? i : order[i]]);
        if (text.size() < kPiece) continue;
        file.write(text);
        text.clear();
    }
    text += sends.empty() ? "]\n}\n" : "\n  ]\n}\n";
    file.write(text);
    file.commit();
}

}  // namespace tutti::io
