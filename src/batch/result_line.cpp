#include "batch/result_line.hpp"

namespace tutti::batch {

void enter(io::ResultLine& line, const synth::Result& result) {
    line.method = result.method;
    line.status = result.status;
    line.makespan = result.schedule.makespan;
    line.lower_bound = result.bound.value;
    line.bound_kind = result.bound.kind;
    line.seconds = result.seconds;
    line.sends = result.sends;
    line.verified = true;
    line.stopped = result.stopped;
    line.proof = result.proof;
    line.composed = result.composed;
    line.solver_versions = result.solver_versions;
}

}  // namespace tutti::batch
