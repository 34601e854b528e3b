#pragma once

#include "core/error.hpp"
#include "core/instance.hpp"

#include <string>

namespace tutti::app {

/// A bug in tutti, with the instance that reproduces it, which the caller may save.
class BugError : public InternalError {
  public:
    BugError(const std::string& message, const Instance& instance);
    [[nodiscard]] const std::string& instance_name() const { return name_; }
    [[nodiscard]] const std::string& instance_json() const { return json_; }

  private:
    std::string name_, json_;
};

/// Writes the instance. Throws OutputError.
void save_instance(const BugError& error, const std::string& path);

/// Inside a catch block: rethrows what is not a bug, and throws a BugError for what is.
[[noreturn]] void rethrow_with_instance(const Instance& instance);

/// Calls `work`; a bug in it is thrown as a BugError with the instance.
template <class Work>
auto with_instance(const Instance& instance, const Work& work) {
    try {
        return work();
    } catch (...) {
        rethrow_with_instance(instance);
    }
}

}  // namespace tutti::app
