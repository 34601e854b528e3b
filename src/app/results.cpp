#include "app/results.hpp"

#include "io/atomic_file.hpp"

namespace tutti::app {

std::vector<batch::Run> read_runs(const std::vector<std::string>& paths) {
    std::vector<batch::Run> runs;
    for (const std::string& path : paths) runs.push_back(batch::read_run(path));
    return runs;
}

void write_csv(const std::string& path, const std::string& csv) {
    io::AtomicFile file(path);
    file.write(csv);
    file.commit();
}

io::Json json_of(const batch::Merged& merged, const std::string& output, std::size_t runs) {
    return {{"results_folder", output},  {"runs", runs},
            {"results", merged.results}, {"schedules", merged.schedules},
            {"twice", merged.twice},     {"missing_shards", merged.missing_shards},
            {"notes", merged.notes}};
}

}  // namespace tutti::app
