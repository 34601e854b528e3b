#pragma once

#include "plan/ids.hpp"
#include "plan/send_program.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::plan {

/// One unit of a TACCL send's time in units of ScclLink's alpha and beta.
inline constexpr std::int64_t kFinePerTime = 1'000'000;

struct ScclLink {
    PlanNode src{}, dst{};
    std::int64_t capacity = 1;  ///< SCCL: chunks per round. TACCL: links side by side
    /// TACCL only: k chunks sent together take alpha + k * beta, in millionths of its unit of time.
    std::int64_t alpha = 0, beta = 0;
    friend bool operator==(const ScclLink&, const ScclLink&) = default;
};

/// A limit shared by all sends from one of `srcs` to one of `dsts`.
struct ScclSwitch {
    std::vector<PlanNode> srcs{}, dsts{};  ///< sorted
    std::int64_t capacity = 1;             ///< chunks per round
    std::string name{};
    friend bool operator==(const ScclSwitch&, const ScclSwitch&) = default;
};

/// An algorithm of SCCL (msccl-tools) or TACCL, as in its JSON: a program of sends in steps, or with times
/// (TACCL), and the file's other fields (docs/step-formats.md).
struct ScclPlan : SendProgram {
    std::string name{};
    std::string collective{};                    ///< its name in the file
    std::string runtime{};                       ///< of SCCL: the collective that a runtime knows it as
    std::vector<std::int64_t> rounds{};          ///< per step
    std::optional<std::int64_t> pipeline{};      ///< steps that many apart run at once; none: no two do
    std::optional<std::int64_t> extra_rounds{};  ///< more rounds than steps, as stated
    std::string network{};                       ///< the name of the topology
    bool has_links = false;                      ///< the file says which links there are
    bool has_latencies = false;                  ///< and how long they take
    std::vector<ScclLink> links{};               ///< sorted by src, dst
    std::vector<ScclSwitch> switches{};
    std::vector<std::string> remarks{};  ///< what the file contradicts itself in, in words
    friend bool operator==(const ScclPlan&, const ScclPlan&) = default;
};

}  // namespace tutti::plan
