#include "app/bug.hpp"

#include "io/atomic_file.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"

#include <new>
#include <system_error>

namespace tutti::app {

BugError::BugError(const std::string& message, const Instance& instance)
    : InternalError(message), name_(instance.name()), json_(io::json_page(io::write_instance(instance))) {}

void save_instance(const BugError& error, const std::string& path) {
    io::AtomicFile file(path);
    file.write(error.instance_json());
    file.commit();
}

void rethrow_with_instance(const Instance& instance) {
    try {
        throw;
    } catch (const BugError&) {
        throw;
    } catch (const InputError&) {
        throw;
    } catch (const LimitError&) {
        throw;
    } catch (const InfeasibleError&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::system_error&) {
        throw;  // errors of files, and of threads that the system cannot start
    } catch (const std::exception& error) {
        throw BugError(error.what(), instance);
    } catch (...) {
        throw BugError("an exception without a name", instance);
    }
}

}  // namespace tutti::app
