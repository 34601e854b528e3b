#include "verify/plan/execution_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

// Every name in an operation is looked up once: a thread block's channel becomes a counter, its remote buffer
// and its switch channel become ranges of memories, a barrier becomes a meeting of steps. Whatever leads
// nowhere is a violation, and no later part of the verifier looks at an id again.
//
// Thread block groups. Part k of g of a range of s chunks is s/g chunks long, which need not be whole; so all
// memories are counted in places, places_per_chunk of them to a chunk: the least number that makes every part
// of every sliced range whole.

namespace tutti::verify {
namespace {

using plan::ChannelType;
using plan::Operand;
using plan::OperandRole;
using plan::Operation;
using plan::OperationType;

/// Finer slices than this are refused: no executor cuts a chunk so small.
constexpr std::int64_t kMostPlacesPerChunk = 1 << 16;

std::optional<std::int64_t> places_per_chunk(const plan::ExecutionPlan& plan) {
    std::int64_t places = 1;
    const auto refine = [&](const Operation& op) {
        if (!op.slice || op.slice->parts < 1) return;
        for (const auto* operands : {&op.src, &op.dst}) {
            for (const Operand& operand : *operands) {
                const std::int64_t part =
                    op.slice->parts / std::gcd<std::int64_t>(op.slice->parts, operand.size);
                if (places <= kMostPlacesPerChunk) places = std::lcm<std::int64_t>(places, part);
            }
        }
    };
    for (const plan::ExecutionGpu& gpu : plan.gpus) {
        for (const plan::ExecutionBlock& block : gpu.blocks) {
            for (const Operation& op : block.ops) {
                refine(op);
                for (const Operation& inner : op.body) refine(inner);
            }
        }
    }
    if (places > kMostPlacesPerChunk) return std::nullopt;
    return places;
}

class Resolver {
  public:
    Resolver(const plan::ExecutionPlan& plan, const ExecutionSizes& sizes, std::int32_t root,
             std::int64_t places, Findings& violations, Findings& later)
        : plan_(plan),
          layout_(plan, sizes, places, root),
          places_(places),
          violations_(violations),
          later_(later) {}

    std::optional<ExecutionSteps> run() {
        wiring_ = wire(plan_, violations_);
        layout_.describe_to(result_.program);
        result_.block_begin.push_back(0);
        for (std::size_t gpu = 0; gpu < plan_.gpus.size(); ++gpu) {
            for (const plan::ExecutionBlock& block : plan_.gpus[gpu].blocks) {
                resolve_block(static_cast<std::int32_t>(gpu), block);
            }
        }
        form_meetings();
        result_.counters = std::move(wiring_.counters);
        if (!violations_.empty()) return std::nullopt;
        return std::move(result_);
    }

  private:
    void complain(const char* code, const std::string& message) {
        if (!violations_.open()) return violations_.count_one();
        violations_.add(code,
                        fmt::format("{} ({}): {}", text_of(place_of(step_)), text_of(plan_, step_), message),
                        place_of(step_));
    }

    void resolve_block(std::int32_t gpu, const plan::ExecutionBlock& block) {
        gpu_ = gpu;
        wires_ = &wiring_.gpus[static_cast<std::size_t>(gpu)];
        step_ = {};
        step_.block = result_.blocks();
        step_.place = {gpu, block.id, -1, -1};
        number_ids(block);
        for (std::size_t i = 0; i < block.ops.size(); ++i) {
            const Operation& op = block.ops[i];
            step_.place.step = static_cast<std::int32_t>(i);
            step_.place.inner = -1;
            if (op.type != OperationType::Pipeline) resolve_step(op);
            for (std::size_t k = 0; k < op.body.size(); ++k) {
                step_.place.inner = static_cast<std::int32_t>(k);
                resolve_step(op.body[k]);
            }
        }
        result_.block_begin.push_back(static_cast<std::uint32_t>(result_.steps.size()));
    }

    /// The block's own numbers of channels and remote buffers, by type.
    void number_ids(const plan::ExecutionBlock& block) {
        const plan::PlanPlace place{gpu_, block.id, -1, -1, std::nullopt, -1};
        for (auto& ids : channels_) ids.clear();
        for (auto& ids : buffers_) ids.clear();
        for (const plan::BlockChannels& list : block.channels) {
            for (const std::int32_t id : list.ids) {
                if (static_cast<std::size_t>(id) >= wires_->count(list.type)) {
                    violations_.add("channel",
                                    fmt::format("{} uses {} channel {}; the gpu has {}", text_of(place),
                                                name_of(list.type), id, wires_->count(list.type)),
                                    place);
                }
                channels_[static_cast<std::size_t>(list.type)].push_back(id);
            }
        }
        const auto& remote = plan_.gpus[static_cast<std::size_t>(gpu_)].remote_buffers;
        for (const plan::BlockChannels& list : block.buffers) {
            for (const std::int32_t id : list.ids) {
                const bool known = static_cast<std::size_t>(id) < remote.size();
                if (!known || std::ranges::find(remote[static_cast<std::size_t>(id)].access, list.type) ==
                                  remote[static_cast<std::size_t>(id)].access.end()) {
                    violations_.add("buffer",
                                    fmt::format("{} uses remote buffer {} by {} channel; {}", text_of(place),
                                                id, name_of(list.type),
                                                known ? "the buffer does not allow it"
                                                      : fmt::format("the gpu has {}", remote.size())),
                                    place);
                }
                buffers_[static_cast<std::size_t>(list.type)].push_back(id);
            }
        }
    }

    void resolve_step(const Operation& op) {
        step_.op = &op;
        step_.first_move = static_cast<std::uint32_t>(result_.program.moves.size());
        step_.first_use = static_cast<std::uint32_t>(result_.uses.size());
        step_.barrier = ExecutionStep::kNone;
        if (shape_of(op.type).moves_data()) add_moves(op);
        if (signals(op.type) || waits(op.type) || op.type == OperationType::Flush) add_channel_uses(op);
        if (op.type == OperationType::SemAcquire || op.type == OperationType::SemRelease)
            add_semaphore_uses(op);
        if (op.type == OperationType::Barrier) {
            barriers_[{gpu_, op.barrier}].push_back(static_cast<std::uint32_t>(result_.steps.size()));
        }
        step_.moves = static_cast<std::uint32_t>(result_.program.moves.size()) - step_.first_move;
        step_.uses = static_cast<std::uint32_t>(result_.uses.size()) - step_.first_use;
        result_.steps.push_back(step_);
    }

    /// The GPU's channel that the block calls `number`.
    [[nodiscard]] std::optional<std::size_t> channel(ChannelType type, std::int32_t number) {
        const auto& ids = channels_[static_cast<std::size_t>(type)];
        if (static_cast<std::size_t>(number) >= ids.size()) {
            complain("channel", fmt::format("the thread block has no {} channel {}", name_of(type), number));
            return std::nullopt;
        }
        const auto id = static_cast<std::size_t>(ids[static_cast<std::size_t>(number)]);
        if (id >= wires_->count(type)) return std::nullopt;  // told of the thread block
        return id;
    }

    void add_channel_uses(const Operation& op) {
        const ChannelType type = *op.channel_type;
        const bool port_only =
            !waits(op.type) && op.type != OperationType::Signal && op.type != OperationType::RelaxedSignal;
        if (type == ChannelType::Switch || (port_only && type != ChannelType::Port)) {
            return complain("channel", fmt::format("impossible on a {} channel", name_of(type)));
        }
        const bool relaxed = op.type == OperationType::RelaxedSignal || op.type == OperationType::RelaxedWait;
        for (const std::int32_t number : op.channels) {
            const auto id = channel(type, number);
            if (!id || op.type == OperationType::Flush) continue;
            const GpuWires::Channel& wire = wires_->channels[static_cast<std::size_t>(type)][*id];
            const bool raises = !waits(op.type);
            result_.uses.push_back({raises ? wire.outbound : wire.inbound, raises, relaxed});
        }
    }

    void add_semaphore_uses(const Operation& op) {
        for (const std::int32_t id : op.semaphores) {
            if (static_cast<std::size_t>(id) >= wires_->semaphores.size()) {
                complain("semaphore", fmt::format("the gpu has no semaphore {}", id));
                continue;
            }
            result_.uses.push_back({wires_->semaphores[static_cast<std::size_t>(id)],
                                    op.type == OperationType::SemRelease, false});
        }
    }

    void add_moves(const Operation& op) {
        if (!operands_fit(op)) return;
        if (shape_of(op.type).pairwise) {
            for (std::size_t i = 0; i < op.src.size(); ++i) {
                add_move(op, std::span(op.src).subspan(i, 1), i, std::span(op.dst).subspan(i, 1), i);
            }
            check_port_pairs();
        } else {
            add_move(op, op.src, 0, op.dst, 0);
        }
    }

    /// Number and kinds of the operands, and the channels that they need.
    bool operands_fit(const Operation& op) {
        const plan::OperationShape& shape = shape_of(op.type);
        const std::uint64_t before = violations_.count();
        std::size_t least = 1;
        if (shape.second_destination == OperandRole::Packets) least = 2;
        if (op.src.empty() || op.dst.size() < least) {
            complain("operands",
                     fmt::format("{} sources and {} destinations are too few", op.src.size(), op.dst.size()));
        }
        if (shape.pairwise && op.src.size() != op.dst.size()) {
            complain("operands", fmt::format("{} sources for {} destinations", op.src.size(), op.dst.size()));
        }
        bool remote = false;
        const auto check = [&](const Operand& operand, OperandRole role, const char* what, std::size_t i) {
            using enum OperandRole;
            const bool wants_remote = role == Remote || role == RemotePackets;
            const auto kind = role == Group || role == GroupPackets ? Operand::Kind::Switch
                              : wants_remote                        ? Operand::Kind::Remote
                                                                    : Operand::Kind::Local;
            remote = remote || wants_remote;
            if (role == None || operand.kind != kind) {
                complain("operands",
                         fmt::format("{} {} is of a kind that {} does not take", what, i, name_of(op.type)));
            }
        };
        for (std::size_t i = 0; i < op.src.size(); ++i) check(op.src[i], shape.source(i), "source", i);
        for (std::size_t i = 0; i < op.dst.size(); ++i)
            check(op.dst[i], shape.destination(i), "destination", i);
        if (op.slice && (op.slice->parts < 1 || op.slice->part >= op.slice->parts)) {
            complain("tbg", fmt::format("part {} of {} thread blocks", op.slice->part, op.slice->parts));
        }
        if (remote) check_channel_type(op);
        return violations_.count() == before;
    }

    void check_channel_type(const Operation& op) {
        const bool port_possible = op.type == OperationType::Put || op.type == OperationType::PutPackets ||
                                   op.type == OperationType::ReadPutPackets || signals(op.type);
        const bool memory_possible = !signals(op.type);
        const auto type = op.channel_type;
        if (!type || *type == ChannelType::Switch || (*type == ChannelType::Port && !port_possible) ||
            (*type == ChannelType::Memory && !memory_possible)) {
            return complain("channel", type ? fmt::format("impossible on a {} channel", name_of(*type))
                                            : std::string("channel_type is missing"));
        }
        if (*type != ChannelType::Port) return;
        if (op.channels.size() != op.dst.size()) {
            return complain(
                "channel", fmt::format("{} channels for {} destinations", op.channels.size(), op.dst.size()));
        }
        for (std::size_t i = 0; i < op.channels.size(); ++i) {
            const auto id = channel(ChannelType::Port, op.channels[i]);
            const auto* buffer = id ? remote_buffer(op, op.dst[i]) : nullptr;
            if (!buffer) continue;
            const std::int32_t peer = wires_->channels[static_cast<std::size_t>(ChannelType::Port)][*id].peer;
            if (peer == buffer->rank) continue;
            later_.add(
                "channel",
                fmt::format("{} ({}): the port channel leads to gpu {}, the remote buffer lies on gpu {}",
                            text_of(place_of(step_)), text_of(plan_, step_), peer, buffer->rank),
                place_of(step_));
        }
    }

    [[nodiscard]] const plan::RemoteBuffer* remote_buffer(const Operation& op, const Operand& operand) {
        const auto& ids = buffers_[static_cast<std::size_t>(*op.channel_type)];
        if (static_cast<std::size_t>(operand.id) >= ids.size()) {
            complain("buffer", fmt::format("the thread block has no remote buffer {} for {} channels",
                                           operand.id, name_of(*op.channel_type)));
            return nullptr;
        }
        const auto id = static_cast<std::size_t>(ids[static_cast<std::size_t>(operand.id)]);
        const auto& remote = plan_.gpus[static_cast<std::size_t>(gpu_)].remote_buffers;
        if (id >= remote.size()) return nullptr;  // told of the thread block
        if (static_cast<std::size_t>(remote[id].rank) >= plan_.gpus.size()) return nullptr;
        return &remote[id];
    }

    void add_move(const Operation& op, std::span<const Operand> src, std::size_t src_at,
                  std::span<const Operand> dst, std::size_t dst_at) {
        const std::int64_t size = src.front().size;
        const auto other_size = [&](const Operand& operand) { return operand.size != size; };
        if (std::ranges::any_of(src, other_size) || std::ranges::any_of(dst, other_size)) {
            return complain("size", "its operands differ in size");
        }
        const plan::OperationShape& shape = shape_of(op.type);
        reads_.clear();
        writes_.clear();
        for (std::size_t i = 0; i < src.size(); ++i) locate(op, src[i], shape.source(src_at + i), reads_);
        for (std::size_t i = 0; i < dst.size(); ++i)
            locate(op, dst[i], shape.destination(dst_at + i), writes_);
        const std::int64_t parts = op.slice ? op.slice->parts : 1;
        const std::int64_t count = size * places_ / parts;
        if (count == 0 || reads_.empty() || writes_.empty()) return;
        if (reads_.size() == 1) {
            // What is copied onto itself stays as it is.
            std::erase_if(writes_, [&](const plan::Range& to) {
                return to.memory == reads_[0].memory && to.first == reads_[0].first;
            });
        }
        check_overlap(count);
        if (writes_.empty() && !result_.program.memories[reads_[0].memory].packets) return;
        push_move(count);
    }

    void push_move(std::int64_t count) {
        plan::Program& program = result_.program;
        plan::Move move;
        move.count = count;
        move.first_read = static_cast<std::uint32_t>(program.ranges.size());
        move.reads = static_cast<std::uint32_t>(reads_.size());
        program.ranges.insert(program.ranges.end(), reads_.begin(), reads_.end());
        move.first_write = static_cast<std::uint32_t>(program.ranges.size());
        move.writes = static_cast<std::uint32_t>(writes_.size());
        program.ranges.insert(program.ranges.end(), writes_.begin(), writes_.end());
        program.moves.push_back(move);
    }

    /// The threads of a block do not wait for each other: what one of them writes another may read too early.
    void check_overlap(std::int64_t count) {
        const auto clash = [&](const plan::Range& a, const plan::Range& b) {
            const std::int64_t apart = a.first > b.first ? a.first - b.first : b.first - a.first;
            return a.memory == b.memory && apart != 0 && apart < count;
        };
        for (std::size_t i = 0; i < writes_.size(); ++i) {
            const bool reads =
                std::ranges::any_of(reads_, [&](const auto& read) { return clash(writes_[i], read); });
            const bool writes = std::any_of(writes_.begin(), writes_.begin() + static_cast<std::ptrdiff_t>(i),
                                            [&](const auto& other) { return clash(writes_[i], other); });
            if (reads || writes) return complain("overlap", "its operands overlap in part");
        }
    }

    /// The pairs of a put on port channels are transferred side by side.
    void check_port_pairs() {
        if (step_.op->channel_type != ChannelType::Port) return;
        const plan::Program& program = result_.program;
        const auto moves = std::span(program.moves).subspan(step_.first_move);
        const auto touches = [&](const plan::Range& a, const plan::Move& of_a, const plan::Range& b,
                                 const plan::Move& of_b) {
            return a.memory == b.memory && a.first < b.first + of_b.count && b.first < a.first + of_a.count;
        };
        for (const plan::Move& one : moves) {
            for (const plan::Move& other : moves) {
                if (&one == &other) continue;
                for (const plan::Range& write : program.writes_of(one)) {
                    const auto hit = [&](const plan::Range& range) {
                        return touches(write, one, range, other);
                    };
                    if (std::ranges::any_of(program.reads_of(other), hit) ||
                        std::ranges::any_of(program.writes_of(other), hit)) {
                        return complain("overlap", "its transfers overlap each other");
                    }
                }
            }
        }
    }

    /// Appends the ranges that an operand means: one, or one per rank of a switch group.
    void locate(const Operation& op, const Operand& operand, OperandRole role, std::vector<plan::Range>& to) {
        switch (role) {
            case OperandRole::Local:
                return locate_at(op, operand, gpu_, operand.buffer, false, to);
            case OperandRole::Packets:
                return locate_at(op, operand, gpu_, operand.buffer, true, to);
            case OperandRole::Remote:
            case OperandRole::RemotePackets:
                if (const auto* buffer = remote_buffer(op, operand)) {
                    locate_at(op, operand, buffer->rank, buffer->buffer, role == OperandRole::RemotePackets,
                              to);
                }
                return;
            case OperandRole::Group:
            case OperandRole::GroupPackets: {
                const auto id = channel(ChannelType::Switch, operand.id);
                if (!id) return;
                const GpuWires::Group& group = wires_->groups[*id];
                for (const std::int32_t rank : group.group->ranks) {
                    if (static_cast<std::size_t>(rank) >= plan_.gpus.size()) continue;
                    locate_at(op, operand, rank, group.buffer, role == OperandRole::GroupPackets, to);
                }
                return;
            }
            case OperandRole::None:
                return;
        }
    }

    void locate_at(const Operation& op, const Operand& operand, std::int32_t gpu, plan::Buffer buffer,
                   bool packets, std::vector<plan::Range>& to) {
        if (packets && buffer != plan::Buffer::Scratch) {
            return complain("buffer", fmt::format("packets lie in scratch, not in {}", name_of(buffer)));
        }
        const std::int64_t room = layout_.room(gpu, buffer);
        if (operand.index + operand.size > room) {
            if (!violations_.open()) return violations_.count_one();
            plan::PlanPlace place = place_of(step_);
            place.buffer = buffer;
            place.offset = operand.index;
            violations_.add("range",
                            fmt::format("{} ({}): chunks {}..{} of the {} buffer of gpu {}, which has {}",
                                        text_of(place_of(step_)), text_of(plan_, step_), operand.index,
                                        operand.index + operand.size - 1, name_of(buffer), gpu, room),
                            place);
            return;
        }
        const std::int64_t parts = op.slice ? op.slice->parts : 1, part = op.slice ? op.slice->part : 0;
        const std::int64_t first = operand.index * places_ + part * (operand.size * places_ / parts);
        to.push_back(packets ? layout_.packets_at(gpu, first) : layout_.at(gpu, buffer, first));
    }

    /// The k-th time that each of its thread blocks comes to a barrier is one meeting.
    void form_meetings() {
        for (const auto& [key, steps] : barriers_) {
            std::map<std::uint32_t, std::vector<std::uint32_t>> by_block;
            for (const std::uint32_t step : steps) by_block[result_.steps[step].block].push_back(step);
            const std::size_t times = by_block.begin()->second.size();
            const auto wanted = static_cast<std::size_t>(result_.steps[steps[0]].op->barrier_blocks);
            const auto odd = std::ranges::find_if(steps, [&](std::uint32_t step) {
                return static_cast<std::size_t>(result_.steps[step].op->barrier_blocks) != by_block.size();
            });
            const auto uneven = std::ranges::find_if(
                by_block, [&](const auto& entry) { return entry.second.size() != times; });
            if (odd != steps.end() || uneven != by_block.end()) {
                const std::uint32_t at = odd != steps.end() ? *odd : uneven->second.front();
                step_ = result_.steps[at];
                complain(
                    "barrier",
                    odd != steps.end()
                        ? fmt::format("barrier {} of gpu {} is for {} thread blocks, but {} come to it",
                                      key.second, key.first, step_.op->barrier_blocks, by_block.size())
                        : fmt::format("barrier {} of gpu {} for {} thread blocks: this one comes {} times, "
                                      "another one {} times",
                                      key.second, key.first, wanted, uneven->second.size(), times));
                continue;
            }
            const std::size_t first = result_.meetings.size();
            result_.meetings.resize(first + times);
            for (const auto& [block, own] : by_block) {
                for (std::size_t k = 0; k < times; ++k) {
                    result_.meetings[first + k].push_back(own[k]);
                    result_.steps[own[k]].barrier = static_cast<std::uint32_t>(first + k);
                }
            }
        }
    }

    const plan::ExecutionPlan& plan_;
    ExecutionLayout layout_;
    std::int64_t places_;
    Findings& violations_;
    Findings& later_;
    ExecutionWiring wiring_;
    ExecutionSteps result_;
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::uint32_t>> barriers_;
    // Of the block and the step at hand:
    std::int32_t gpu_ = 0;
    const GpuWires* wires_ = nullptr;
    ExecutionStep step_;
    std::array<std::vector<std::int32_t>, plan::kChannelTypes> channels_, buffers_;
    std::vector<plan::Range> reads_, writes_;
};

}  // namespace

std::optional<ExecutionSteps> resolve(const plan::ExecutionPlan& plan, const ExecutionSizes& sizes,
                                      std::int32_t root, Findings& violations, Findings& later) {
    const auto places = places_per_chunk(plan);
    if (!places) {
        violations.add("tbg", fmt::format("its thread block groups cut chunks into more than {} parts",
                                          kMostPlacesPerChunk));
        return std::nullopt;
    }
    return Resolver(plan, sizes, root, *places, violations, later).run();
}

}  // namespace tutti::verify
