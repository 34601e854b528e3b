#pragma once

#include "models/encode/step.hpp"

#include "core/instance.hpp"

#include <vector>

namespace tutti::models {

/// How an instance becomes problems of the synchronous model.
enum class StepForm {
    Copies,      ///< as it is
    Reductions,  ///< on the reversed network, and the plan reversed
    Composition  ///< an all-reduce: first a reduction to each chunk's owner, then copies from there
};

/// An instance of one collective as the synchronous model sees it.
struct StepView {
    StepForm form = StepForm::Copies;
    StepProblem problem;   ///< that of the copies (also the second half of a composition)
    StepProblem reversed;  ///< that of the reductions, on reversed arcs
    std::vector<std::vector<LinkId>> arc_links;  ///< per arc: the parallel links
    std::vector<std::int64_t> link_capacity;     ///< per link: chunks per round
    std::vector<std::vector<ChunkId>> chunks;    ///< per class
};

/// Throws InputError for what the model does not know: switches, several collectives, chunks of different
/// sizes, reductions mixed with copies, custom reductions to several receivers, more than kMostStepNodes
/// NPUs, or nothing to send. A round is the time in which the slowest link carries one chunk; a link that is
/// q times as fast carries floor(q).
[[nodiscard]] StepView step_view(const Instance& instance);

/// The same collective with `chunks` chunks for each that it would have with one (of a custom or v-kind: for
/// each it lists). In physical units they share the bytes of the instance's own chunks, so that the data stay
/// as much.
[[nodiscard]] InstanceParts with_chunks(const Instance& instance, int chunks);

/// Chunks per node as SCCL's paper counts them: an all-to-all or all-reduce of P ranks has P of them for each
/// of ours.
[[nodiscard]] std::int64_t sccl_chunks(const Instance& instance, int chunks);

}  // namespace tutti::models
