// Jobs of several processes that call plans together.

#include "app/shared_job.hpp"
#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tutti::python {
namespace {

/// Ctrl-C ends waiting. Calls run on the caller's thread, without the GIL.
void hear_interrupts() {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

void bind_shared(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<app::SharedJob>(
        module, "SharedJob", "Processes that call plans together: app::SharedJob. Arrays by their addresses.")
        .def(
            "__init__",
            [](app::SharedJob* made, const std::string& job, std::uint32_t rank, std::uint32_t size,
               double seconds) {
                const nb::gil_scoped_release released;
                new (made) app::SharedJob(job, rank, size, seconds, hear_interrupts);
            },
            "job"_a, "rank"_a, "size"_a, "seconds"_a)
        .def("allocate",
             [](app::SharedJob& job, std::size_t bytes) {
                 return reinterpret_cast<std::uintptr_t>(job.allocate(bytes));
             })
        .def("free", [](app::SharedJob& job,
                        std::uintptr_t memory) { job.free(reinterpret_cast<std::byte*>(memory)); })
        .def("load", &app::SharedJob::load, "file"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("meet", &app::SharedJob::meet, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "run",
            [](app::SharedJob& job, std::size_t plan, std::uintptr_t input, std::int64_t elements,
               std::optional<std::uintptr_t> output, std::int64_t output_elements, const std::string& type,
               const std::string& op, const std::string& engine) {
                const nb::gil_scoped_release released;
                const app::JobArray in{reinterpret_cast<std::byte*>(input), elements};
                const app::JobArray out{reinterpret_cast<std::byte*>(output.value_or(0)), output_elements};
                job.run(plan, in, output ? &out : nullptr, type, op, engine);
            },
            "plan"_a, "input"_a, "elements"_a, "output"_a.none(), "output_elements"_a, "type"_a, "op"_a,
            "engine"_a);
}

}  // namespace tutti::python
