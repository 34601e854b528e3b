// Schedules as columns of numbers: 17 bytes a send in numpy, and no Python object for each.

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "core/instance.hpp"
#include "io/schedule_stream.hpp"
#include "symmetry/symmetric_schedule.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace tutti::python {
namespace {

Schedule read(const std::string& path, const Instance* instance, const Stop& stop) {
    io::OpenSchedule open = io::open_schedule(path, stop);
    if (!open.symmetric) return io::read_schedule(path);
    if (instance == nullptr) {
        throw InputError("the schedule is in generator form; expected its instance too, to write it out", {},
                         path);
    }
    return symmetry::expanded(*instance, *open.symmetric);
}

/// What Python keeps of a schedule.
auto columns_of(const Schedule& schedule) {
    std::vector<std::uint32_t> chunks, links;
    std::vector<std::int64_t> starts;
    std::vector<std::uint8_t> ops;
    const std::size_t sends = schedule.sends.size();
    chunks.reserve(sends), links.reserve(sends), starts.reserve(sends), ops.reserve(sends);
    for (const Send& send : schedule.sends) {
        chunks.push_back(send.chunk.value());
        links.push_back(send.link.value());
        starts.push_back(send.start.count());
        ops.push_back(static_cast<std::uint8_t>(send.op));
    }
    return std::tuple(schedule.instance, schedule.makespan.count(), array_of(std::move(chunks)),
                      array_of(std::move(links)), array_of(std::move(starts)), array_of(std::move(ops)));
}

void write(const std::string& path, const std::string& instance, std::int64_t makespan,
           const Numbers<std::uint32_t>& chunks, const Numbers<std::uint32_t>& links,
           const Numbers<std::int64_t>& starts, const Numbers<std::uint8_t>& ops, std::uint64_t most_chunks,
           std::uint64_t most_links) {
    Schedule schedule{instance, Ticks(makespan), {}};
    const std::size_t sends = chunks.size();
    if (links.size() != sends || starts.size() != sends || ops.size() != sends)
        throw InputError("expected arrays of one length");
    schedule.sends.reserve(sends);
    for (std::size_t i = 0; i < sends; ++i) {
        if (ops(i) > 1)
            throw InputError(fmt::format("expected an op of 0 (copy) or 1 (reduce), found {}", ops(i)));
        schedule.sends.push_back(
            {ChunkId(chunks(i)), LinkId(links(i)), Ticks(starts(i)), static_cast<Op>(ops(i))});
    }
    const nb::gil_scoped_release release;
    std::ranges::sort(schedule.sends, starts_before);  // put_in_order trusts the links
    io::write_schedule(path, schedule, most_chunks, most_links);
}

}  // namespace

void bind_schedules(nb::module_& module) {
    using namespace nb::literals;
    module.def(
        "read_schedule",
        [](const std::string& path, const Instance* instance) {
            return columns_of(stoppable(
                nb::none(), [&](const app::Watch& watch) { return read(path, instance, watch.stop()); }));
        },
        "path"_a, "instance"_a.none(), "Instance, makespan, and arrays: chunk, link, start, op.");
    module.def("write_schedule", write, "path"_a, "instance"_a, "makespan"_a, "chunks"_a.noconvert(),
               "links"_a.noconvert(), "starts"_a.noconvert(), "ops"_a.noconvert(), "most_chunks"_a,
               "most_links"_a);
}

}  // namespace tutti::python
