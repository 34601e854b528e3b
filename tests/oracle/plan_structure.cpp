// Sections 1, 3 and 4 of the format page, rule by rule; nothing here is fast.

#include "tests/oracle/plan_structure.hpp"
#include "tests/support/plan_ids.hpp"

#include <map>
#include <tuple>

namespace tutti::oracle {
namespace {

using plan::Buffer;
using plan::StepType;
using test::number;

class Structure {
  public:
    Structure(const plan::MscclPlan& plan, const PlanCall& call) : plan_(plan), call_(call) {}

    std::set<std::string> faults() {
        check_chunks();
        if (plan_.in_place == false && plan_.out_of_place == false) faults_.insert("mode");
        std::set<std::int32_t> ids;
        for (const plan::Gpu& gpu : plan_.gpus) {
            if (number(gpu.id) >= plan_.ranks || !ids.insert(number(gpu.id)).second) faults_.insert("gpu-id");
        }
        if (std::ssize(plan_.gpus) != plan_.ranks) faults_.insert("gpu-id");
        if (!faults_.empty()) return faults_;
        for (const plan::Gpu& gpu : plan_.gpus) check(gpu);
        for (const auto& [connection, uses] : uses_) {
            if (uses.senders.size() > 1 || uses.receivers.size() > 1) faults_.insert("connection");
            if (uses.sent.size() != uses.received.size()) faults_.insert("unmatched");
            for (std::size_t k = 0; k < std::min(uses.sent.size(), uses.received.size()); ++k) {
                if (uses.sent[k] != uses.received[k]) faults_.insert("count-mismatch");
            }
        }
        return faults_;
    }

  private:
    struct Uses {
        std::set<std::int32_t> senders{}, receivers{};  ///< thread blocks
        std::vector<std::int32_t> sent{}, received{};   ///< counts
    };

    void check_chunks() {
        const bool divides = call_.goal == CollectiveKind::AllGather ||
                             call_.goal == CollectiveKind::ReduceScatter ||
                             call_.goal == CollectiveKind::AllToAll;
        if (plan_.ranks < 1 || plan_.chunks_per_loop < 1)
            faults_.insert("chunks");
        else if (divides && plan_.chunks_per_loop % plan_.ranks != 0)
            faults_.insert("chunks");
    }

    void check(const plan::Gpu& gpu) {
        std::set<std::int32_t> ids;
        for (const plan::ThreadBlock& block : gpu.blocks) {
            if (number(block.id) >= std::ssize(gpu.blocks) || !ids.insert(number(block.id)).second) {
                faults_.insert("tb-id");
            }
        }
        if (faults_.contains("tb-id")) return;
        for (const plan::ThreadBlock& block : gpu.blocks) {
            check_peers(gpu, block);
            for (std::size_t s = 0; s < block.steps.size(); ++s) {
                if (block.steps[s].number != plan::StepId(s)) faults_.insert("step-id");
                check(gpu, block, block.steps[s]);
            }
        }
        if (!call_.copies_first) return;
        for (const plan::LocalCopy& copy : gpu.copies) {
            check_range(gpu, Buffer::Input, copy.input_offset, 1);
            check_range(gpu, Buffer::Output, copy.output_offset, 1);
        }
    }

    void check_peers(const plan::Gpu& gpu, const plan::ThreadBlock& block) {
        for (const auto peer : {block.send_peer, block.recv_peer}) {
            if (number(peer) >= plan_.ranks || peer == gpu.id) faults_.insert("peer");
        }
        const bool is_local = !block.send_peer && !block.recv_peer;
        if (number(block.channel) >= plan_.channels || (!block.channel && !is_local))
            faults_.insert("channel");
    }

    void check(const plan::Gpu& gpu, const plan::ThreadBlock& block, const plan::Step& step) {
        check_dependency(gpu, step);
        if (step.type == StepType::Nop) return;
        if (step.count < 1) {
            faults_.insert("count");
            return;
        }
        if (puts(step.type)) {
            if (!block.send_peer) faults_.insert("peer");
            Uses& uses = uses_[{number(gpu.id), number(block.send_peer), number(block.channel)}];
            uses.senders.insert(number(block.id));
            uses.sent.push_back(step.count);
        }
        if (takes(step.type)) {
            if (!block.recv_peer) faults_.insert("peer");
            Uses& uses = uses_[{number(block.recv_peer), number(gpu.id), number(block.channel)}];
            uses.receivers.insert(number(block.id));
            uses.received.push_back(step.count);
        }
        const bool reduces = step.type == StepType::ReceiveReduceCopy ||
                             step.type == StepType::ReceiveReduceSend ||
                             step.type == StepType::ReceiveReduceCopySend;
        const bool is_local = step.type == StepType::Copy || step.type == StepType::Reduce;
        const bool reads = is_local || step.type == StepType::Send || reduces;
        const bool stores = step.type != StepType::Send && step.type != StepType::ReceiveReduceSend;
        const plan::Address& read = reduces && call_.operand_is_destination ? step.dst : step.src;
        if (reads) check_range(gpu, read.buffer, number(read.offset), step.count);
        if (stores) check_range(gpu, step.dst.buffer, number(step.dst.offset), step.count);
        if (reads && stores) check_overlap(gpu, read, step);
    }

    void check_dependency(const plan::Gpu& gpu, const plan::Step& step) {
        if (!step.dep_block && !step.dep_step) return;
        for (const plan::ThreadBlock& block : gpu.blocks) {
            if (block.id == step.dep_block && step.dep_step &&
                number(step.dep_step) < std::ssize(block.steps)) {
                return;
            }
        }
        faults_.insert("dependency");
    }

    /// Inside what the collective gives and what the file declares; in place a chunk may be declared by
    /// either name.
    void check_range(const plan::Gpu& gpu, Buffer buffer, std::int64_t first, std::int64_t count) {
        const std::int64_t real = buffer == Buffer::Input    ? input_chunks(plan_, gpu, call_)
                                  : buffer == Buffer::Output ? output_chunks(plan_, gpu, call_)
                                                             : gpu.scratch_chunks;
        const bool is_alone = !call_.in_place || buffer == Buffer::Scratch;
        if (first < 0 || first + count > real) {
            faults_.insert("range");
            return;
        }
        for (std::int64_t chunk = first; chunk < first + count; ++chunk) {
            const Location wanted = location_of(plan_, gpu, call_, buffer, chunk);
            bool is_declared = chunk < declared(gpu, buffer);
            for (const Buffer other : {Buffer::Input, Buffer::Output}) {
                for (std::int64_t c = 0; c < declared(gpu, other) && !is_alone; ++c) {
                    is_declared = is_declared || location_of(plan_, gpu, call_, other, c) == wanted;
                }
            }
            if (!is_declared) faults_.insert("range");
        }
    }

    static std::int64_t declared(const plan::Gpu& gpu, Buffer buffer) {
        return buffer == Buffer::Input    ? gpu.input_chunks
               : buffer == Buffer::Output ? gpu.output_chunks
                                          : gpu.scratch_chunks;
    }

    /// Of rrc and rrcs too: their chunks are worked on at the same time, like those of cpy and re.
    void check_overlap(const plan::Gpu& gpu, const plan::Address& read, const plan::Step& step) {
        const Location from = location_of(plan_, gpu, call_, read.buffer, number(read.offset));
        const Location to = location_of(plan_, gpu, call_, step.dst.buffer, number(step.dst.offset));
        if (from.buffer != to.buffer || from.chunk == to.chunk) return;
        if (std::abs(from.chunk - to.chunk) < step.count) faults_.insert("overlap");
    }

    const plan::MscclPlan& plan_;
    const PlanCall& call_;
    std::set<std::string> faults_{};
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, Uses> uses_{};
};

}  // namespace

std::set<std::string> structure_faults(const plan::MscclPlan& plan, const PlanCall& call) {
    return Structure(plan, call).faults();
}

}  // namespace tutti::oracle
