#pragma once

#include "app/compile.hpp"
#include "app/convert_options.hpp"
#include "app/scratch_folder.hpp"
#include "app/watch.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

/// A plan that shall run: a file, and what it is called.
struct RunSource {
    std::string path{}, name{};
    std::vector<std::int32_t> npus{};     ///< by rank, where an instance says so
    std::optional<std::int64_t> bytes{};  ///< of the call in its instance
    bool named = true;                    ///< by the user; else it was found in a folder, and may be no plan
    std::string invalid{};                ///< why a schedule is: then there is no plan of it
};

/// What names plans: their files, folders of them, an instance and its schedule, a program of the chunk
/// language in Python or as a trace, an algorithm of the library.
struct RunNames {
    std::vector<std::string> files{};
    lang::AlgorithmRequest algorithm{};              ///< with ranks: names that are no files are algorithms
    std::optional<std::string> collective{};         ///< of an instance: only that one
    ConvertFormat format = ConvertFormat::MscclXml;  ///< of plans that are made here; or MscclppJson
    std::optional<std::uint32_t> instances{};        ///< of programs
    friend bool operator==(const RunNames&, const RunNames&) = default;
};

/// The plans that names stand for. Those that are made here lie in a folder that is gone when this is.
class RunSources {
  public:
    /// Throws InputError: also for a program that is wrong.
    RunSources(const RunNames& names, const Watch& watch);

    [[nodiscard]] const std::vector<RunSource>& plans() const { return plans_; }
    /// Whether they are the collectives of one instance, which start together.
    [[nodiscard]] bool of_instance() const { return of_instance_; }

  private:
    void add_folder(const std::string& folder);
    /// `arguments`: those of a Python program, all that stands behind it.
    void add_program(const RunNames& names, const std::string& program, bool of_library,
                     const std::vector<std::string>& arguments, const Watch& watch);
    void add_schedules(const RunNames& names, const std::vector<std::string>& files, const Watch& watch);
    [[nodiscard]] std::string new_path(const char* suffix);

    std::optional<ScratchFolder> scratch_;
    std::size_t made_ = 0;
    std::vector<RunSource> plans_;
    bool of_instance_ = false;
};

}  // namespace tutti::app
