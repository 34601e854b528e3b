// Mistakes that are planted in what the runtime has planned: `--check` must find them, and say where.

#include "app/run_tensor.hpp"

#include "source_dir.hpp"

#include "core/error.hpp"
#include "run/run_faults.hpp"
#include "tests/support/text_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace tutti;
using run::RunFaults, test::TextFile;

namespace {

struct Case {
    const char* program;
    const char* steps;
};

const Case kFused{"adam", "split sum rs_ag\nreorder sum.ag past all\nas_slice m v\n"};
const Case kOverlapped{"matmul_block", "overlap mm sum pieces 3\n"};

/// What `--check` says of a run with these mistakes.
std::string said(const Case& one, const RunFaults& faults) {
    const TextFile steps(one.steps);
    try {
        const app::TensorRun run =
            app::run_tensor({.program = std::string(TUTTI_SOURCE_DIR) + "/tests/data/tensor/programs/" +
                                        one.program + ".json",
                             .schedule = steps.path(),
                             .kernels = run::KernelMode::Tiles,
                             .check = true,
                             .reference = false,
                             .faults = &faults});
        CHECK(run.wrong() == !run.check->difference.empty());
        return run.check->difference;
    } catch (const InternalError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("without mistakes the check finds nothing") {
    CHECK(said(kFused, {}) == "");
    CHECK(said(kOverlapped, {}) == "");
}

TEST_CASE("a rank that reads a piece before another rank has made it is found") {
    using Graph = run::TaskGraph;
    std::size_t edges = 1;
    for (std::size_t e = 0; e < edges; ++e) {
        RunFaults faults;
        faults.waits = [&](const Graph& graph, std::vector<Graph::Edge>& list) {
            // From a rank's task to where a task of another rank waits for it: turned round.
            const auto is_task = [&](Graph::TaskId id) { return graph.worker_of(id) != Graph::kNobody; };
            std::vector<Graph::Edge*> between;
            for (Graph::Edge& edge : list) {
                const bool has_other = std::ranges::any_of(list, [&](const Graph::Edge& next) {
                    return next.first == edge.second && is_task(next.second) &&
                           graph.worker_of(next.second) != graph.worker_of(edge.first);
                });
                if (is_task(edge.first) && !is_task(edge.second) && has_other) between.push_back(&edge);
            }
            edges = std::max(edges, between.size());
            if (e < between.size()) std::swap(between[e]->first, between[e]->second);
        };
        const std::string words = said(kOverlapped, faults);
        CAPTURE(e);
        CAPTURE(words);
        CHECK((words.find("out on rank") == 0 || words.find("other bits") != std::string::npos));
    }
    CHECK(edges > 5);
}

TEST_CASE("memory that is given to another value too soon is found") {
    std::size_t found = 0;
    for (std::size_t v = 0; v < 40 && found == 0; ++v) {
        RunFaults faults;
        faults.life = [&](tensor::ValueId id, std::size_t& first, std::size_t& last) {
            if (id.index() == v) last = first;
        };
        const std::string words = said(kFused, faults);
        if (words.find("_out on rank") != std::string::npos) ++found;
    }
    CHECK(found == 1);
}

TEST_CASE("a gather's operand that is not where its result has it is found") {
    std::size_t found = 0;
    for (std::size_t v = 0; v < 60 && found < 2; ++v) {
        RunFaults faults;
        faults.offset = [&](tensor::ValueId id, std::int64_t rank, std::size_t offset) {
            return offset + (id.index() == v && rank == 1 && offset > 0 ? sizeof(std::uint64_t) : 0);
        };
        const std::string words = said(kFused, faults);
        if (words.find("_out on rank") != std::string::npos) ++found;
    }
    CHECK(found == 2);
}

TEST_CASE("a piece that is made twice, and another never, is found") {
    std::size_t used = 0;
    for (std::size_t v = 0; v < 20; ++v) {
        RunFaults faults;
        bool is_used = false;
        faults.pieces = [&](tensor::ValueId id, std::int64_t, std::vector<run::PieceRanges>& pieces) {
            if (id.index() != v || pieces.size() < 2) return;
            is_used = true;
            pieces[0] = pieces[1];
        };
        const std::string words = said(kOverlapped, faults);
        CHECK((words.find("out on rank") == 0) == is_used);
        if (is_used) ++used;
    }
    CHECK(used == 2);
}
