#include "io/mscclpp_json.hpp"

#include "io/json_text.hpp"
#include "plan/plan_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

// Each access that fails becomes a PlanError with the code of that access: a missing field, a bad number, an
// unknown word. Memory is proportional to the number of values, which the JSON parser has already limited.
//
// Plans of earlier versions share only the outline with these. They are detected first, so that the message
// names the old format instead of a missing key.

namespace tutti::io {
namespace {

using plan::PlanError;

constexpr JsonLimits kLimits{std::uint64_t{1} << 28U, std::size_t{1} << 24U};
constexpr std::int64_t kMost32 = (std::int64_t{1} << 32U) - 1;
constexpr std::int64_t kMostId = std::numeric_limits<std::int32_t>::max();

/// The JSON path from one value to another inside it.
std::optional<std::string> path_to(const Json& value, const Json& within, const std::string& path) {
    if (&value == &within) return path;
    for (const auto& [key, inner] : within.items()) {
        if (!inner.is_structured() && &inner != &value) continue;
        if (auto found = path_to(value, inner, path + "/" + path_token(key))) return found;
    }
    return std::nullopt;
}

/// JsonView's accessors, with error codes. The path of a value is searched only when it is wrong, because
/// plans have millions of values.
class Field {
  public:
    Field(const Json& value, const Json& root) : value_(&value), root_(&root) {}

    [[nodiscard]] Field at(std::string_view name) const {
        if (const auto found = find(name)) return *found;
        coded("missing-key", [&] { (void)view().at(name); });
        return *this;
    }
    [[nodiscard]] std::optional<Field> find(std::string_view name) const {
        if (!value_->is_object()) coded("bad-value", [&] { view().fail_expecting("an object"); });
        for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
            if (key == name) return Field(value, *root_);
        }
        return std::nullopt;
    }
    [[nodiscard]] std::vector<Field> elements() const {
        if (!value_->is_array()) coded("bad-value", [&] { (void)view().size(); });
        std::vector<Field> result;
        result.reserve(value_->size());
        for (const Json& element : *value_) result.emplace_back(element, *root_);
        return result;
    }
    /// Of an optional list; empty if it is not there.
    [[nodiscard]] std::vector<Field> list(std::string_view name) const {
        const auto found = find(name);
        return found ? found->elements() : std::vector<Field>{};
    }
    [[nodiscard]] std::int64_t integer(std::int64_t most = kMost32) const {
        if (value_->is_number_unsigned()) {
            const auto number = value_->get<std::uint64_t>();
            if (number <= static_cast<std::uint64_t>(most)) return static_cast<std::int64_t>(number);
        }
        std::int64_t number = 0;
        coded("bad-integer", [&] { number = view().integer(0, most); });
        return number;
    }
    [[nodiscard]] std::int32_t id() const { return static_cast<std::int32_t>(integer(kMostId)); }
    /// The executor's sizes in bytes go up to 2^64 - 1.
    [[nodiscard]] std::uint64_t bytes() const {
        if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
        return static_cast<std::uint64_t>(integer(std::numeric_limits<std::int64_t>::max()));
    }
    template <class IdType>
    [[nodiscard]] std::vector<IdType> ids() const {
        std::vector<IdType> result;
        for (const Field& element : elements()) result.push_back(element.as<IdType>());
        return result;
    }
    template <class IdType>
    [[nodiscard]] IdType as() const {
        return IdType(static_cast<std::size_t>(id()));
    }
    [[nodiscard]] const std::string& string() const {
        if (!value_->is_string()) coded("bad-value", [&] { (void)view().string(); });
        return value_->get_ref<const std::string&>();
    }
    [[nodiscard]] bool boolean() const {
        if (!value_->is_boolean()) coded("bad-value", [&] { (void)view().boolean(); });
        return value_->get<bool>();
    }
    template <typename Enum>
    [[nodiscard]] Enum choice(const std::vector<std::string_view>& names) const {
        const auto found = std::ranges::find(names, std::string_view(string()));
        if (found == names.end()) coded("bad-value", [&] { (void)view().choice(names); });
        return static_cast<Enum>(found - names.begin());
    }
    [[noreturn]] void fail(const std::string& code, const std::string& message) const {
        throw PlanError(code, message, view().path());
    }

  private:
    [[nodiscard]] JsonView view() const {
        return JsonView(*value_, path_to(*value_, *root_, "").value_or(""));
    }
    template <typename Question>
    static void coded(const char* code, Question question) {
        try {
            question();
        } catch (const InputError& error) {
            throw PlanError(code, error.message(), error.place());
        }
    }

    const Json* value_;
    const Json* root_;
};

const std::vector<std::string_view> kBuffers{"i", "o", "s"};
const std::vector<std::string_view> kChannels{"memory", "port", "switch"};
const std::vector<std::string_view> kReduceOps{"sum", "min", "max"};
const std::vector<std::string_view> kOperations = plan::operation_names();

plan::ChannelType channel_type_of(const Field& field) { return field.choice<plan::ChannelType>(kChannels); }

bool has(const Json& object, std::initializer_list<std::string_view> keys) {
    return object.is_object() &&
           std::ranges::any_of(keys, [&](std::string_view key) { return object.contains(std::string(key)); });
}

/// A key by which a plan of an earlier version is known; empty if there is none.
std::string old_key(const Json& value) {
    if (value.is_array()) {
        for (const Json& element : value) {
            if (std::string found = old_key(element); !found.empty()) return found;
        }
        return {};
    }
    if (!value.is_object()) return {};
    struct Sign {
        std::string_view old;
        std::initializer_list<std::string_view> now;
    };
    static const std::array<Sign, 12> kSigns{{{"colletive", {"collective"}},
                                              {"inputChunks", {"input_chunks"}},
                                              {"outputChunks", {"output_chunks"}},
                                              {"scratchChunks", {"scratch_chunks"}},
                                              {"connectedTo", {"connected_to"}},
                                              {"cids", {"channel_ids"}},
                                              {"o_cids", {"channel_ids", "dst_buff"}},
                                              {"i_cids", {"channel_ids", "src_buff"}},
                                              {"o_buff", {"dst_buff"}},
                                              {"i_buff", {"src_buff"}},
                                              {"srcs", {"src_buff"}},
                                              {"ctype", {"channel_type"}}}};
    for (const Sign& sign : kSigns) {
        if (has(value, {sign.old}) && !has(value, sign.now)) return std::string(sign.old);
    }
    for (const char* key : {"type", "channel_type"}) {
        const auto type = value.find(key);
        if (type != value.end() && (*type == "sm" || *type == "proxy")) {
            return fmt::format("{}: {}", key, type->get<std::string>());
        }
    }
    for (const char* key : {"gpus", "channels", "threadblocks", "ops"}) {
        const auto inner = value.find(key);
        if (inner == value.end()) continue;
        if (std::string found = old_key(*inner); !found.empty()) return found;
    }
    return {};
}

plan::Operand read_operand(const Field& field) {
    plan::Operand operand;
    if (const auto id = field.find("buffer_id")) {
        operand.kind = plan::Operand::Kind::Remote;
        operand.id = id->as<plan::Slot>();
    } else if (const auto channel = field.find("switch_channel_id")) {
        operand.kind = plan::Operand::Kind::Switch;
        operand.id = channel->as<plan::Slot>();
    } else {
        operand.buffer = field.at("type").choice<plan::Buffer>(kBuffers);
    }
    operand.index = field.at("index").integer();
    operand.size = field.at("size").integer();
    return operand;
}

std::vector<plan::Operand> read_operands(const Field& op, std::string_view key, bool needed) {
    std::vector<plan::Operand> operands;
    if (needed) (void)op.at(key);
    for (const Field& field : op.list(key)) operands.push_back(read_operand(field));
    return operands;
}

plan::Operation read_operation(const Field& field, bool in_pipeline) {
    using plan::OperationType;
    plan::Operation op;
    op.type = field.at("name").choice<OperationType>(kOperations);
    const bool data = shape_of(op.type).moves_data();
    op.src = read_operands(field, "src_buff", data);
    op.dst = read_operands(field, "dst_buff", data);
    const bool synchronises = signals(op.type) || waits(op.type) || op.type == OperationType::Flush;
    if (synchronises) (void)field.at("channel_type");
    if (const auto type = field.find("channel_type")) op.channel_type = channel_type_of(*type);
    if (synchronises) (void)field.at("channel_ids");
    if (const auto ids = field.find("channel_ids")) op.channels = ids->ids<plan::Slot>();
    if (const auto reduce = field.find("reduce_op")) op.reduce = reduce->choice<plan::ReduceOp>(kReduceOps);
    if (const auto slice = field.find("tbg_info")) {
        op.slice = plan::GroupSlice{slice->at("tb_id").id(), slice->at("tbg_size").id()};
    }
    if (op.type == OperationType::Barrier) {
        op.barrier = field.at("barrier_id").as<plan::BarrierId>();
        op.barrier_blocks = field.at("num_threadblocks").id();
    }
    if (op.type == OperationType::SemAcquire || op.type == OperationType::SemRelease) {
        op.semaphores = field.at("semaphore_ids").ids<plan::SemaphoreId>();
    }
    if (op.type == OperationType::Pipeline) {
        if (in_pipeline) field.fail("bad-value", "expected no pipeline within a pipeline, found one");
        const Field rounds = field.at("iter_context");
        op.rounds = plan::Rounds{rounds.at("unit_size").integer(), rounds.at("num_chunks").integer()};
        for (const Field& inner : field.at("ops").elements()) op.body.push_back(read_operation(inner, true));
    }
    return op;
}

plan::ExecutionBlock read_block(const Field& field) {
    plan::ExecutionBlock block;
    block.id = field.at("id").as<plan::BlockId>();
    for (const Field& op : field.at("ops").elements()) block.ops.push_back(read_operation(op, false));
    for (const Field& list : field.list("channels")) {
        block.channels.push_back(
            {channel_type_of(list.at("channel_type")), list.at("channel_ids").ids<plan::ChannelId>()});
    }
    for (const Field& list : field.list("remote_buffer_refs")) {
        block.buffers.push_back({channel_type_of(list.at("access_channel_type")),
                                 list.at("remote_buffer_ids").ids<plan::RemoteBufferId>()});
    }
    return block;
}

plan::GpuChannels read_channels(const Field& field, plan::ExecutionPlan& plan) {
    plan::GpuChannels channels;
    channels.type = channel_type_of(field.at("channel_type"));
    if (channels.type != plan::ChannelType::Switch) {
        channels.peers = field.at("connected_to").ids<Rank>();
        return channels;
    }
    auto buffer = field.find("buffer_type");
    if (!buffer && (buffer = field.find("buff"))) {
        const std::string remark = "'buff' of a switch channel was read as 'buffer_type'";
        if (std::ranges::find(plan.remarks, remark) == plan.remarks.end()) plan.remarks.push_back(remark);
    }
    if (!buffer) buffer = field.at("buffer_type");
    channels.buffer = buffer->choice<plan::Buffer>(kBuffers);
    for (const Field& group : field.at("rank_groups").elements()) {
        channels.groups.push_back({group.at("size").id(), group.at("ranks").ids<Rank>()});
    }
    return channels;
}

plan::ExecutionGpu read_gpu(const Field& field, plan::ExecutionPlan& plan) {
    plan::ExecutionGpu gpu;
    gpu.id = field.at("id").as<Rank>();
    gpu.input_chunks = field.at("input_chunks").integer();
    gpu.output_chunks = field.at("output_chunks").integer();
    gpu.scratch_chunks = field.at("scratch_chunks").integer();
    for (const Field& block : field.at("threadblocks").elements()) gpu.blocks.push_back(read_block(block));
    for (const Field& channels : field.list("channels"))
        gpu.channels.push_back(read_channels(channels, plan));
    for (const Field& buffer : field.list("remote_buffers")) {
        plan::RemoteBuffer remote{
            buffer.at("rank").as<Rank>(), buffer.at("type").choice<plan::Buffer>(kBuffers), {}};
        for (const Field& type : buffer.at("access_channel_types").elements()) {
            remote.access.push_back(channel_type_of(type));
        }
        gpu.remote_buffers.push_back(std::move(remote));
    }
    for (const Field& semaphore : field.list("semaphores")) {
        gpu.semaphores.push_back(semaphore.at("init_value").integer());
    }
    return gpu;
}

plan::ExecutionPlan read_plan(const Field& top) {
    plan::ExecutionPlan plan;
    plan.name = top.at("name").string();
    plan.collective = top.at("collective").string();
    plan.protocol = top.at("protocol").choice<plan::Protocol>({"Simple", "LL"});
    plan.in_place = top.at("inplace").boolean();
    if (const auto flag = top.find("reuse_resources")) plan.reuse_resources = flag->boolean();
    if (const auto flag = top.find("use_double_scratch_buffer")) plan.double_scratch = flag->boolean();
    if (const auto number = top.find("buffer_alignment")) plan.buffer_alignment = number->integer();
    if (const auto number = top.find("num_threads_per_block")) plan.threads_per_block = number->integer();
    if (const auto number = top.find("min_message_size")) plan.min_bytes = number->bytes();
    if (const auto number = top.find("max_message_size")) plan.max_bytes = number->bytes();
    for (const Field& gpu : top.at("gpus").elements()) plan.gpus.push_back(read_gpu(gpu, plan));
    return plan;
}

Json parsed(Source& source) {
    try {
        return parse_json(source, kLimits);
    } catch (const InputError& error) {
        // The messages of the parser's limits (bytes, values, depth) all begin like this.
        const bool limit = error.message().starts_with("expected at most");
        throw PlanError(limit ? "too-large" : "json", error.message(), error.place(), source.name());
    }
}

}  // namespace

plan::ExecutionPlan read_mscclpp_json(Source& source) {
    const Json json = parsed(source);
    try {
        if (const std::string key = old_key(json); !key.empty()) {
            throw PlanError("old-format",
                            fmt::format("an MSCCL++ plan of the format before version 0.9, known by '{}'; "
                                        "generate it anew with the current DSL",
                                        key));
        }
        return read_plan(Field(json, json));
    } catch (const PlanError& error) {
        throw PlanError(error.code(), error.message(), error.place(), source.name());
    }
}

}  // namespace tutti::io
