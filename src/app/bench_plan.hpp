#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "run/element_type.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

/// Plans to be compared with something else that does the same, in paired rounds.
struct BenchOptions {
    enum class Against {
        Mpi,    ///< MPI's own collective, in the processes that mpirun started
        Memory  ///< a loop that reads every input once and writes every output once, in this process
    };
    std::vector<std::string> files{};
    Against against = Against::Mpi;
    std::vector<std::int64_t> sizes{};  ///< of the call, in bytes
    run::ElementType type = run::ElementType::F32;
    run::Operator op = run::Operator::Sum;
    unsigned workers = 0;  ///< against memory: threads; 0: one for each core
    std::uint32_t rounds = 9;
    friend bool operator==(const BenchOptions&, const BenchOptions&) = default;
};

struct Quartiles {
    double low = 0, median = 0, high = 0;
};

/// One way of running a plan, beside the yardstick in the same rounds.
struct BenchVariant {
    std::string name{};  ///< "pieces", "streams", "private"
    double median_us = 0;
    Quartiles ratio{};  ///< time of the yardstick / its own; against memory its own / the yardstick's
};

struct BenchRow {
    std::string file{}, collective{};
    std::int32_t ranks = 0;
    std::int64_t bytes = 0, count = 0;
    double yardstick_us = 0;
    std::uint64_t steps = 0;  ///< of the plan, in one piece
    std::vector<BenchVariant> variants{};
    std::uint64_t compared = 0, wrong = 0;
};

struct BenchResult {
    std::vector<BenchRow> rows{};
    std::string yardstick{};  ///< "Open MPI v4.1.4"
    bool is_first = true;     ///< of the processes: the one that prints
};

/// Before each call every rank writes its buffers anew; a call takes as long as it takes its slowest process.
/// Throws InputError.
[[nodiscard]] BenchResult bench_plans(const BenchOptions& options, const Watch& watch,
                                      const std::function<void(const BenchRow&)>& row);

[[nodiscard]] io::Json json_of(const BenchResult& result, const BenchOptions& options);

}  // namespace tutti::app
