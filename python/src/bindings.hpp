#pragma once

#include <nanobind/nanobind.h>

namespace tutti::python {

namespace nb = nanobind;

/// Each adds its subject to the module tutti._core, which the package wraps in classes with types and docs.
void bind_errors(nb::module_& module);
void bind_instances(nb::module_& module);
void bind_schedules(nb::module_& module);
void bind_synthesis(nb::module_& module);
void bind_judging(nb::module_& module);
void bind_plans(nb::module_& module);
void bind_programs(nb::module_& module);
void bind_running(nb::module_& module);
void bind_shared(nb::module_& module);

}  // namespace tutti::python
