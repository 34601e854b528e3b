// tutti._core: what the Python package calls. Answers are JSON texts of app's json_of, so that they have the
// keys that the command's --json has, and numpy arrays where there may be millions of numbers.

#include "app/version.hpp"
#include "bindings.hpp"

#include <nanobind/stl/string.h>

#include <string>

NB_MODULE(_core, module) {
    module.doc() = "The compiled part of tutti. Its functions are for the package itself.";
    module.def(
        "version", [] { return std::string(tutti::app::version()); }, "\"0.1.0\".");
    // What a program still holds when it ends is no news to its user.
    nanobind::set_leak_warnings(false);
    tutti::python::bind_errors(module);
    tutti::python::bind_instances(module);
    tutti::python::bind_schedules(module);
    tutti::python::bind_synthesis(module);
    tutti::python::bind_judging(module);
    tutti::python::bind_plans(module);
    tutti::python::bind_programs(module);
    tutti::python::bind_running(module);
    tutti::python::bind_shared(module);
}
