// Plans that run on arrays of the caller.

#include "app/run_arrays.hpp"
#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::python {
namespace {

/// Addresses instead of arrays: numpy hands no bfloat16 to others. The package has checked that they are
/// contiguous, writable and alive.
app::RankArrays arrays_at(const std::vector<std::uintptr_t>& addresses,
                          const std::vector<std::int64_t>& elements) {
    app::RankArrays arrays;
    for (const std::uintptr_t address : addresses)
        arrays.data.push_back(reinterpret_cast<std::byte*>(address));
    arrays.elements = elements;
    return arrays;
}

void run(app::ArrayPlan& plan, const std::vector<std::uintptr_t>& buffers,
         const std::vector<std::int64_t>& elements, const std::vector<std::uintptr_t>& outputs,
         const std::vector<std::int64_t>& output_elements, const std::string& type, const std::string& op,
         const std::string& engine) {
    const nb::gil_scoped_release released;
    const app::RankArrays in = arrays_at(buffers, elements), out = arrays_at(outputs, output_elements);
    plan.run(in, outputs.empty() ? nullptr : &out, type, op, engine);
}

}  // namespace

void bind_running(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<app::ArrayPlan>(module, "ArrayPlan", "A plan that is called on arrays: app::ArrayPlan.")
        .def(
            "__init__",
            [](app::ArrayPlan* made, const std::string& file, bool in_place, unsigned threads) {
                const nb::gil_scoped_release released;
                new (made) app::ArrayPlan(file, in_place, threads, {});
            },
            "file"_a, "in_place"_a, "threads"_a)
        .def_prop_ro("ranks", &app::ArrayPlan::ranks)
        .def("run", run, "buffers"_a, "elements"_a, "outputs"_a, "output_elements"_a, "type"_a, "op"_a,
             "engine"_a, "Calls it on the arrays at those addresses, without the GIL.");
}

}  // namespace tutti::python
