#include "io/symmetric_json.hpp"

#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tutti::io {
namespace {

constexpr std::int64_t kMaxTick = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinTick = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMaxId = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view kSymmetricField = "tutti_symmetric_schedule";

void check_symmetric_format(const JsonView& version) {
    if (version.json() == kSymmetricFormat) return;
    if (!version.is_number())
        version.fail_expecting(fmt::format("{}, the version of the format", kSymmetricFormat));
    version.fail(fmt::format("this schedule is format {}, this tutti reads {}", version.json().dump(),
                             kSymmetricFormat));
}

symmetry::Generator read_symmetry(const JsonView& view) {
    view.only({"order", "images"});
    symmetry::Generator generator;
    generator.order = static_cast<std::uint32_t>(view.at("order").integer(2, kMaxId));
    const JsonView images = view.at("images");
    generator.images.reserve(images.size());
    for (std::size_t i = 0; i < images.size(); ++i) {
        // The usual case first: otherwise a path would be built for every number.
        const Json& image = images.json()[i];
        const bool plain = image.is_number_unsigned() && image.get<std::uint64_t>() <= kMaxId;
        generator.images.emplace_back(plain ? image.get<std::size_t>()
                                            : static_cast<std::size_t>(images[i].integer(0, kMaxId)));
    }
    return generator;
}

Send read_send(const JsonView& view) {
    view.only({"chunk", "link", "start", "op"});
    Send send;
    send.chunk = ChunkId(static_cast<std::size_t>(view.at("chunk").integer(0, kMaxId)));
    send.link = LinkId(static_cast<std::size_t>(view.at("link").integer(0, kMaxId)));
    send.start = Ticks(view.at("start").integer(kMinTick, kMaxTick));
    if (const auto op = view.find("op"))
        send.op = op->choice({"copy", "reduce"}) == 0 ? Op::Copy : Op::Reduce;
    return send;
}

}  // namespace

symmetry::SymmetricSchedule read_symmetric_json(Source& source) {
    const Json document = parse_json(source);
    try {
        const JsonView view(document);
        if (!view.is_object()) view.fail_expecting("a symmetric schedule, which is an object");
        if (view.find("tutti_schedule"))
            view.fail("this is a schedule written out, expected a symmetric one");
        view.only({kSymmetricField, "instance", "makespan", "symmetry", "sends"});
        check_symmetric_format(view.at(kSymmetricField));
        symmetry::SymmetricSchedule schedule;
        schedule.instance = view.at("instance").string();
        schedule.makespan = Ticks(view.at("makespan").integer(kMinTick, kMaxTick));
        for (const JsonView& generator : view.at("symmetry").elements())
            schedule.generators.push_back(read_symmetry(generator));
        const JsonView sends = view.at("sends");
        schedule.sends.reserve(sends.size());
        for (std::size_t i = 0; i < sends.size(); ++i) schedule.sends.push_back(read_send(sends[i]));
        return schedule;
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

bool looks_symmetric(Source& source) {
    const std::string_view text = source.peek(Source::kBlock);
    const std::size_t field = text.find_first_not_of(" \t\r\n{");
    return field != text.npos && text.substr(field).starts_with(fmt::format("\"{}\"", kSymmetricField));
}

void write_symmetric_json(const std::string& path, const symmetry::SymmetricSchedule& schedule) {
    AtomicFile file(path);
    file.write(fmt::format("{{\n  \"{}\": {},\n  \"instance\": {},\n  \"makespan\": {},\n  \"symmetry\": [",
                           kSymmetricField, kSymmetricFormat, json_line(schedule.instance),
                           schedule.makespan.count()));
    std::string line;
    for (const symmetry::Generator& generator : schedule.generators) {
        line = fmt::format("{}\n    {{\"order\": {}, \"images\": [",
                           &generator == schedule.generators.data() ? "" : ",", generator.order);
        for (std::size_t i = 0; i < generator.images.size(); ++i) {
            const std::string_view gap = i == 0 ? "" : i % 20 == 0 ? ",\n      " : ", ";
            fmt::format_to(std::back_inserter(line), "{}{}", gap, generator.images[i].value());
        }
        file.write(line + "]}");
    }
    file.write(schedule.generators.empty() ? "],\n  \"sends\": [" : "\n  ],\n  \"sends\": [");
    auto sends = schedule.sends;
    std::ranges::stable_sort(sends, starts_before);
    for (const Send& send : sends) {
        line.clear();
        fmt::format_to(std::back_inserter(line),
                       "{}\n    {{\"chunk\": {}, \"link\": {}, \"start\": {}, \"op\": \"{}\"}}",
                       &send == sends.data() ? "" : ",", send.chunk.value(), send.link.value(),
                       send.start.count(), send.op == Op::Copy ? "copy" : "reduce");
        file.write(line);
    }
    file.write(sends.empty() ? "]\n}\n" : "\n  ]\n}\n");
    file.commit();
}

}  // namespace tutti::io
