#include "io/atomic_file.hpp"
#include "io/json_text.hpp"
#include "io/mscclpp_json.hpp"

namespace tutti::io {
namespace {

std::string text(std::string_view name) { return std::string(name); }
template <class IdType>
Json numbers(const std::vector<IdType>& ids) {
    Json list = Json::array();
    for (const IdType id : ids) list.push_back(id.value());
    return list;
}
std::string letter(plan::Buffer buffer) { return std::string(1, letter_of(buffer)); }

Json operands(const std::vector<plan::Operand>& list) {
    Json result = Json::array();
    for (const plan::Operand& operand : list) {
        Json json = Json::object();
        switch (operand.kind) {
            case plan::Operand::Kind::Local:
                json["type"] = letter(operand.buffer);
                break;
            case plan::Operand::Kind::Remote:
                json["buffer_id"] = operand.id.value();
                break;
            case plan::Operand::Kind::Switch:
                json["switch_channel_id"] = operand.id.value();
                break;
        }
        json["index"] = operand.index;
        json["size"] = operand.size;
        result.push_back(std::move(json));
    }
    return result;
}

Json operation(const plan::Operation& op) {
    using plan::OperationType;
    Json json = Json::object();
    json["name"] = text(name_of(op.type));
    const bool data = shape_of(op.type).moves_data();
    if (data || !op.src.empty()) json["src_buff"] = operands(op.src);
    if (data || !op.dst.empty()) json["dst_buff"] = operands(op.dst);
    if (!op.channels.empty() || (!data && op.channel_type)) json["channel_ids"] = numbers(op.channels);
    if (op.channel_type) json["channel_type"] = text(name_of(*op.channel_type));
    if (op.reduce) json["reduce_op"] = text(name_of(*op.reduce));
    if (op.slice) json["tbg_info"] = Json{{"tb_id", op.slice->part}, {"tbg_size", op.slice->parts}};
    if (op.type == OperationType::Barrier) {
        json["barrier_id"] = op.barrier.value();
        json["num_threadblocks"] = op.barrier_blocks;
    }
    if (op.type == OperationType::SemAcquire || op.type == OperationType::SemRelease) {
        json["semaphore_ids"] = numbers(op.semaphores);
    }
    if (op.rounds) {
        json["iter_context"] = Json{{"unit_size", op.rounds->unit_bytes}, {"num_chunks", op.rounds->chunks}};
        Json body = Json::array();
        for (const plan::Operation& inner : op.body) body.push_back(operation(inner));
        json["ops"] = std::move(body);
    }
    return json;
}

Json block_json(const plan::ExecutionBlock& block) {
    Json ops = Json::array(), channels = Json::array(), buffers = Json::array();
    for (const plan::Operation& op : block.ops) ops.push_back(operation(op));
    for (const plan::BlockChannels& list : block.channels) {
        channels.push_back(
            Json{{"channel_type", text(name_of(list.type))}, {"channel_ids", numbers(list.ids)}});
    }
    for (const plan::BlockBuffers& list : block.buffers) {
        buffers.push_back(Json{{"access_channel_type", text(name_of(list.type))},
                               {"remote_buffer_ids", numbers(list.ids)}});
    }
    return Json{{"id", block.id.value()},
                {"ops", std::move(ops)},
                {"channels", std::move(channels)},
                {"remote_buffer_refs", std::move(buffers)}};
}

Json channels_json(const plan::GpuChannels& channels) {
    Json json = Json::object();
    json["channel_type"] = text(name_of(channels.type));
    if (channels.type != plan::ChannelType::Switch) {
        json["connected_to"] = numbers(channels.peers);
        return json;
    }
    Json groups = Json::array();
    for (const plan::SwitchGroup& group : channels.groups) {
        groups.push_back(Json{{"size", group.chunks}, {"ranks", numbers(group.ranks)}});
    }
    json["buffer_type"] = letter(channels.buffer);
    json["rank_groups"] = std::move(groups);
    return json;
}

Json gpu_json(const plan::ExecutionGpu& gpu) {
    Json blocks = Json::array(), channels = Json::array(), buffers = Json::array(),
         semaphores = Json::array();
    for (const plan::ExecutionBlock& block : gpu.blocks) blocks.push_back(block_json(block));
    for (const plan::GpuChannels& list : gpu.channels) channels.push_back(channels_json(list));
    for (const plan::RemoteBuffer& buffer : gpu.remote_buffers) {
        Json access = Json::array();
        for (const plan::ChannelType type : buffer.access) access.push_back(text(name_of(type)));
        buffers.push_back(Json{{"rank", buffer.rank.value()},
                               {"type", letter(buffer.buffer)},
                               {"access_channel_types", std::move(access)}});
    }
    for (const std::int64_t value : gpu.semaphores) {
        Json semaphore = Json::object();
        semaphore["init_value"] = value;
        semaphores.push_back(std::move(semaphore));
    }
    return Json{{"id", gpu.id.value()},
                {"input_chunks", gpu.input_chunks},
                {"output_chunks", gpu.output_chunks},
                {"scratch_chunks", gpu.scratch_chunks},
                {"threadblocks", std::move(blocks)},
                {"channels", std::move(channels)},
                {"remote_buffers", std::move(buffers)},
                {"semaphores", std::move(semaphores)}};
}

}  // namespace

std::string mscclpp_json_text(const plan::ExecutionPlan& plan) {
    Json gpus = Json::array();
    for (const plan::ExecutionGpu& gpu : plan.gpus) gpus.push_back(gpu_json(gpu));
    return json_page(Json{{"name", plan.name},
                          {"collective", plan.collective},
                          {"protocol", text(name_of(plan.protocol))},
                          {"inplace", plan.in_place},
                          {"reuse_resources", plan.reuse_resources},
                          {"gpus", std::move(gpus)},
                          {"num_threads_per_block", plan.threads_per_block},
                          {"use_double_scratch_buffer", plan.double_scratch},
                          {"buffer_alignment", plan.buffer_alignment},
                          {"min_message_size", plan.min_bytes},
                          {"max_message_size", plan.max_bytes}});
}

void write_mscclpp_json(const plan::ExecutionPlan& plan, const std::string& path) {
    AtomicFile file(path);
    file.write(mscclpp_json_text(plan));
    file.commit();
}

}  // namespace tutti::io
