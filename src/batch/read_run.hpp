#pragma once

#include "core/topology.hpp"
#include "io/result_jsonl.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::batch {

/// Which part of its tasks a run did: the `index`-th of `count`. Some count from 0, some from 1: the last of
/// n is also number 0.
struct ShardNumber {
    std::uint64_t index = 1, count = 1;
    friend bool operator==(const ShardNumber&, const ShardNumber&) = default;
};

/// What a run left behind.
struct Run {
    std::string name{};    ///< as the user called it
    std::string folder{};  ///< in which the results are
    /// The last line of each key, in the order in which the keys came first. Each has a key and a label:
    /// lines of `synth --json` get those that follow from their file.
    std::vector<io::ResultLine> lines{};
};

/// A results folder or a results.jsonl; "-" is standard input. Throws InputError.
[[nodiscard]] Run read_run(const std::string& path);

/// What run.json in the run's folder says of shards ("2/8", or an object with "index" and "count"); none
/// where there is no such file, or it says nothing of them. Throws InputError.
[[nodiscard]] std::optional<ShardNumber> shard_of(const Run& run);

/// Whether the line is a failure: it says so, or it has a schedule that nobody verified.
[[nodiscard]] bool has_failed(const io::ResultLine& line);
/// "time: it took more than 2 s", "not verified". Precondition: has_failed(line).
[[nodiscard]] std::string failure_text(const io::ResultLine& line);

/// "ring/a", and what varies in its run.
[[nodiscard]] std::string task_name(const io::ResultLine& line);
[[nodiscard]] Units units_of(const io::ResultLine& line);

}  // namespace tutti::batch
