// CP-SAT, the constraint solver of OR-Tools, through the C API that libortools exports: bytes of a
// CpModelProto and of SatParameters in, bytes of a CpSolverResponse out. cpsat_messages writes and reads them
// with protozero, so that no header of OR-Tools and no protobuf is needed to build.
//
// libortools carries its own HiGHS, protobuf, abseil, SCIP and zlib. It is therefore loaded by the module,
// not linked to it, with RTLD_LOCAL, so that nobody else sees its symbols, and RTLD_DEEPBIND, so that it sees
// its own HiGHS and protobuf and not those that the program may have linked. AddressSanitizer refuses
// RTLD_DEEPBIND (its malloc would be bypassed); a sanitized build loads without it. Then libortools' calls
// into HiGHS could meet the program's, but CP-SAT makes none: it solves its linear programs with Glop. (Tried
// under ASan with 8 workers on a knapsack of 60 integers and 25 rows: the same optimum as without, and no
// report.)
//
// It is loaded by its bare name, and the loader finds it by the module's own RUNPATH, as it finds the solvers
// that the other modules link. Under AddressSanitizer it is loaded by the full path of when it was
// configured: there dlopen is called by the sanitizer's library, so the loader looks at that library's
// RUNPATH.
//
// Memory: the response is malloc'ed by libortools and ours to free. Under RTLD_DEEPBIND "its malloc" is the C
// library's even where the program has another (a preloaded jemalloc, say), so the matching free is looked up
// in the same scope. The library is never unloaded, for we do not know that abseil and protobuf survive it.

#include "models/backends/cpsat_messages.hpp"
#include "models/backends/library_file.hpp"
#include "models/backends/open_backend.hpp"
#include "models/backends/watcher.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <limits>

namespace tutti::models {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr int kBinding = 0;
constexpr const char* kLibrary = TUTTI_ORTOOLS_LIBRARY;
#else
constexpr int kBinding = RTLD_DEEPBIND;
constexpr const char* kLibrary = TUTTI_ORTOOLS_NAME;
#endif

// An environment is a solve that another thread may stop.
using NewEnvironmentFunction = void*();
using EnvironmentFunction = void(void* environment);
using SolveFunction = void(void* environment, const void* model, int model_size, const void* parameters,
                           int parameters_size, void** response, int* response_size);
using FreeFunction = void(void*);
using VersionFunction = int();

constexpr const char* kSolve = "SolveCpInterruptible";
constexpr const char* kStop = "SolveCpStopSearch";
constexpr const char* kNew = "SolveCpNewEnv";
constexpr const char* kDestroy = "SolveCpDestroyEnv";
// operations_research::OrToolsMajorVersion() and its siblings: plain ints, hence safe to call by mangled
// name.
constexpr std::array kVersionParts{"_ZN19operations_research19OrToolsMajorVersionEv",
                                   "_ZN19operations_research19OrToolsMinorVersionEv",
                                   "_ZN19operations_research19OrToolsPatchVersionEv"};

template <typename Function>
[[nodiscard]] Function* find(void* library, const char* symbol) {
    return reinterpret_cast<Function*>(dlsym(library, symbol));
}

class CpsatBackend final : public Backend {
  public:
    /// `library` comes from dlopen and has the four functions above.
    explicit CpsatBackend(void* library)
        : library_(library),
          new_environment_(find<NewEnvironmentFunction>(library, kNew)),
          destroy_(find<EnvironmentFunction>(library, kDestroy)),
          stop_(find<EnvironmentFunction>(library, kStop)),
          solve_(find<SolveFunction>(library, kSolve)),
          free_(kBinding == 0 ? &std::free : find<FreeFunction>(library, "free")) {}

    [[nodiscard]] SolverLibrary library() const override {
        std::string version;
        for (const char* const part : kVersionParts) {
            auto* const number = find<VersionFunction>(library_, part);
            if (number == nullptr) return {"unknown", library_file(dlsym(library_, kSolve))};
            if (!version.empty()) version += '.';
            version += std::to_string(number());
        }
        return {version, library_file(dlsym(library_, kSolve))};
    }

    [[nodiscard]] Abilities abilities() const override {
        return {.intervals = true,
                .conditional_rows = true,
                .hints = true,
                .threads = true,
                .linear_programs = false};  // it knows integers only
    }

    using Backend::solve;
    [[nodiscard]] Answer solve(const Program& program, const SolveLimits& limits) const override {
        const Stopwatch stopwatch;
        Answer answer = checked("CP-SAT", program, claim_for(program, limits));
        answer.seconds = stopwatch.seconds();
        return answer;
    }

  private:
    [[nodiscard]] Claim claim_for(const Program& program, const SolveLimits& limits) const {
        if (limits.stop.requested()) return {.ended = Ended::Stopped, .words = "stopped before it began"};
        const std::string model = model_bytes(program);
        // The C API counts bytes with an int, and protobuf reads no message beyond 2 GiB.
        if (model.size() > std::numeric_limits<int>::max()) {
            return {.words = "the model is larger than the 2 GiB that CP-SAT can read"};
        }
        return claim_of(response_to(model, parameter_bytes(limits), limits.stop));
    }

    [[nodiscard]] std::string response_to(const std::string& model, const std::string& parameters,
                                          const Stop& stop) const {
        const std::unique_ptr<void, EnvironmentFunction*> environment(new_environment_(), destroy_);
        void* response = nullptr;
        int size = 0;
        {
            const Watcher watcher(stop, [&] { stop_(environment.get()); });
            solve_(environment.get(), model.data(), static_cast<int>(model.size()), parameters.data(),
                   static_cast<int>(parameters.size()), &response, &size);
        }
        const std::unique_ptr<void, FreeFunction*> owner(response, free_);
        return {static_cast<const char*>(response), static_cast<std::size_t>(size)};
    }

    void* library_;
    NewEnvironmentFunction* new_environment_;
    EnvironmentFunction* destroy_;
    EnvironmentFunction* stop_;
    SolveFunction* solve_;
    FreeFunction* free_;
};

}  // namespace

OpenedBackend open_backend() {
    const char* const chosen = std::getenv("TUTTI_ORTOOLS");
    const bool from_user = chosen != nullptr && *chosen != '\0';
    const std::string file = from_user ? chosen : kLibrary;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | kBinding);
    if (library == nullptr) {
        return {nullptr,
                std::string("cannot be loaded: ") + dlerror() +
                    (from_user ? " (named by TUTTI_ORTOOLS)" : " (TUTTI_ORTOOLS may name another file)")};
    }
    for (const char* const function : {kNew, kDestroy, kStop, kSolve}) {
        if (dlsym(library, function) == nullptr) return {nullptr, file + " has no " + function};
    }
    return {std::make_unique<CpsatBackend>(library), {}};
}

}  // namespace tutti::models
