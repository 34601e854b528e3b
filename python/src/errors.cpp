// tutti's exceptions as those of tutti/errors.py.

#include "errors.hpp"

#include "bindings.hpp"

#include <exception>
#include <string>

namespace tutti::python {
namespace {

/// File names may hold any bytes.
nb::object python_text(const std::string& text) {
    return nb::bytes(text.data(), text.size()).attr("decode")("utf-8", "replace");
}

template <class... Arguments>
void raise(const char* name, const Arguments&... arguments) {
    const nb::object type = nb::module_::import_("tutti.errors").attr(name);
    PyErr_SetObject(type.ptr(), type(python_text(arguments)...).ptr());
}

void translate(const std::exception_ptr& pointer, void* /*unused*/) {
    try {
        std::rethrow_exception(pointer);
    } catch (const ProgramError& error) {
        raise("ProgramError", error.message(), std::string("program-error"), error.place());
    } catch (const OutputError& error) {
        raise("OutputError", error.message(), error.file(), error.place());
    } catch (const InputError& error) {
        raise("InputError", error.message(), error.file(), error.place());
    } catch (const InfeasibleError& error) {
        raise("InfeasibleError", std::string(error.what()));
    } catch (const LimitError& error) {
        raise("LimitError", std::string(error.what()));
    } catch (const InternalError& error) {
        raise("InternalError", std::string(error.what()));
    }
}

}  // namespace

void bind_errors(nb::module_& /*module*/) { nb::register_exception_translator(translate); }

}  // namespace tutti::python
