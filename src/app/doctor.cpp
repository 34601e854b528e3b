#include "app/doctor.hpp"

#include "app/version.hpp"

#include <unistd.h>

#include <thread>

namespace tutti::app {
namespace {

Examination examine(const models::BackendEntry& entry) {
    Examination examination{entry.name, entry.solver, {}, {}, {}};
    const models::OpenedBackend opened = entry.open();
    if (!opened) {
        examination.absence = opened.absence.empty() ? "not there" : opened.absence;
        return examination;
    }
    examination.library = opened.backend->library();
    examination.answer = opened.backend->solve(models::toy(), {});
    return examination;
}

std::string build_type() {
#ifdef NDEBUG
    std::string type = "release";
#else
    std::string type = "debug (asserts on)";
#endif
#ifdef __SANITIZE_ADDRESS__
    type += ", address sanitizer";
#endif
    return type;
}

std::string compiler() {
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

std::uint64_t memory_bytes() {
    const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
    return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

io::Json examination_json(const Examination& examination) {
    io::Json json{
        {"name", examination.name}, {"solver", examination.solver}, {"present", examination.present()}};
    if (!examination.present()) {
        json["reason"] = examination.absence;
        return json;
    }
    json["version"] = examination.library.version;
    json["file"] = examination.library.file;
    json["works"] = examination.right();
    json["toy"] = {
        {"expected", kToyExpected}, {"found", examination.found()}, {"status", examination.answer.words}};
    return json;
}

}  // namespace

std::vector<Examination> examine_solvers() {
    std::vector<Examination> examinations;
    for (const models::BackendEntry& entry : models::backends()) examinations.push_back(examine(entry));
    return examinations;
}

std::vector<std::string_view> solver_names() {
    std::vector<std::string_view> names;
    for (const models::BackendEntry& entry : models::backends()) names.push_back(entry.name);
    return names;
}

Machine this_machine() {
    return {compiler(), build_type(), std::thread::hardware_concurrency(), memory_bytes()};
}

io::Json json_of(const std::vector<Examination>& examinations, const Machine& machine) {
    io::Json json{{"tutti", version()},
                  {"compiler", machine.compiler},
                  {"build", machine.build},
                  {"threads", machine.threads},
                  {"memory_bytes", machine.memory_bytes}};
    io::Json& backends = json["backends"] = io::Json::array();
    for (const Examination& examination : examinations) backends.push_back(examination_json(examination));
    return json;
}

}  // namespace tutti::app
