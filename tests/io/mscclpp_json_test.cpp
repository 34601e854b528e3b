#include "io/mscclpp_json.hpp"
#include "io/json_text.hpp"
#include "plan/plan_error.hpp"
#include "tests/io/scratch.hpp"
#include "tests/support/execution_builder.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <string>

namespace {

using namespace tutti;

plan::ExecutionPlan read(const std::string& text) {
    io::Source source = io::Source::of_text(text, "plan.json");
    return io::read_mscclpp_json(source);
}

/// The code and the message of the refusal; "" if there is none.
struct Refusal {
    std::string code, what;
};
Refusal refusal(const std::string& text) {
    try {
        (void)read(text);
        return {};
    } catch (const plan::PlanError& error) {
        return {error.code(), error.what()};
    }
}

/// A plan that has one of everything.
io::Json example() {
    return io::Json::parse(R"({"name": "x", "collective": "allreduce", "protocol": "Simple", "inplace": true,
        "gpus": [{"id": 0, "input_chunks": 2, "output_chunks": 2, "scratch_chunks": 1,
          "threadblocks": [{"id": 0,
             "ops": [{"name": "nop"},
                     {"name": "barrier", "barrier_id": 1, "num_threadblocks": 1},
                     {"name": "signal", "channel_type": "port", "channel_ids": [0]},
                     {"name": "sem_acquire", "semaphore_ids": [0]},
                     {"name": "put", "channel_type": "memory", "src_buff": [{"type": "i", "index": 0, "size": 2}],
                      "dst_buff": [{"buffer_id": 0, "index": 1, "size": 2}],
                      "tbg_info": {"tb_id": 1, "tbg_size": 2}},
                     {"name": "glres", "channel_type": "switch", "reduce_op": "max",
                      "src_buff": [{"switch_channel_id": 0, "index": 0, "size": 1}],
                      "dst_buff": [{"switch_channel_id": 0, "index": 0, "size": 1}]},
                     {"name": "pipeline", "iter_context": {"unit_size": 1024, "num_chunks": 1},
                      "ops": [{"name": "nop"}]}],
             "channels": [{"channel_type": "port", "channel_ids": [0]}],
             "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}]}],
          "channels": [{"channel_type": "port", "connected_to": [1]},
                       {"channel_type": "switch", "buffer_type": "i", "rank_groups": [{"size": 2, "ranks": [0, 1]}]}],
          "remote_buffers": [{"rank": 1, "type": "s", "access_channel_types": ["memory"]}],
          "semaphores": [{"init_value": 3}]}]})");
}

io::Json& operation(io::Json& plan, std::size_t number) {
    return plan["gpus"][0]["threadblocks"][0]["ops"][number];
}

}  // namespace

TEST_CASE("all fields of an execution plan are read") {
    const plan::ExecutionPlan plan = read(example().dump());
    CHECK(plan.collective == "allreduce");
    CHECK(plan.in_place);
    CHECK(plan.max_bytes == std::numeric_limits<std::uint64_t>::max());
    REQUIRE(plan.gpus.size() == 1);
    const plan::ExecutionGpu& gpu = plan.gpus[0];
    CHECK(gpu.chunks(plan::Buffer::Scratch) == 1);
    CHECK(gpu.semaphores == std::vector<std::int64_t>{3});
    CHECK(gpu.channels[1].groups[0].ranks == std::vector<Rank>{Rank(0), Rank(1)});
    const auto& ops = gpu.blocks[0].ops;
    REQUIRE(ops.size() == 7);
    CHECK(ops[4].dst[0].kind == plan::Operand::Kind::Remote);
    CHECK(ops[4].dst[0].index == 1);
    CHECK(ops[4].slice == plan::GroupSlice{1, 2});
    CHECK(ops[5].reduce == plan::ReduceOp::Max);
    CHECK(ops[6].body.size() == 1);
    CHECK(operations_of(plan) == 8);
}

TEST_CASE("an execution plan that is written is read back the same, sizes of 64 bits too") {
    plan::ExecutionPlan plan = read(example().dump());
    plan.min_bytes = 17;
    plan.max_bytes = std::numeric_limits<std::uint64_t>::max() - 1;
    plan.protocol = plan::Protocol::LL;
    plan.reuse_resources = true;
    CHECK(read(io::mscclpp_json_text(plan)) == plan);
    const test::Scratch folder;
    const std::string path = folder.path("plan.json");
    io::write_mscclpp_json(plan, path);
    io::Source source(path);
    CHECK(io::read_mscclpp_json(source) == plan);
}

TEST_CASE("unknown keys of an execution plan are ignored, lists may be left out") {
    io::Json plan = example();
    const plan::ExecutionPlan before = read(plan.dump());
    plan["later"] = 1;
    operation(plan, 0)["later"] = "x";
    CHECK(read(plan.dump()) == before);
    for (const char* key : {"channels", "remote_buffers", "semaphores"}) plan["gpus"][0].erase(key);
    plan["gpus"][0]["threadblocks"][0].erase("channels");
    CHECK(read(plan.dump()).gpus[0].channels.empty());
}

TEST_CASE("an older name of a switch channel's buffer is accepted, with a remark") {
    io::Json plan = example();
    io::Json& channel = plan["gpus"][0]["channels"][1];
    channel.erase("buffer_type");
    channel["buff"] = "s";
    const plan::ExecutionPlan read_plan = read(plan.dump());
    CHECK(read_plan.gpus[0].channels[1].buffer == plan::Buffer::Scratch);
    CHECK(read_plan.remarks.size() == 1);
}

TEST_CASE("what is no execution plan is refused with a code and a place") {
    const auto code_without = [](const io::Json::json_pointer& parent, const char* key) {
        io::Json plan = example();
        plan[parent].erase(key);
        return refusal(plan.dump()).code;
    };
    using Pointer = io::Json::json_pointer;
    for (const char* key : {"name", "collective", "protocol", "inplace", "gpus"}) {
        CHECK_MESSAGE(code_without(Pointer(""), key) == "missing-key", key);
    }
    const Pointer op("/gpus/0/threadblocks/0/ops/4");
    for (const char* key : {"name", "src_buff", "dst_buff"})
        CHECK_MESSAGE(code_without(op, key) == "missing-key", key);
    CHECK(code_without(op / "src_buff" / 0, "size") == "missing-key");
    CHECK(code_without(Pointer("/gpus/0/threadblocks/0/ops/2"), "channel_ids") == "missing-key");
    CHECK(code_without(Pointer("/gpus/0/threadblocks/0/ops/1"), "num_threadblocks") == "missing-key");

    const auto changed = [](const char* pointer, const io::Json& value) {
        io::Json plan = example();
        plan[Pointer(pointer)] = value;
        return refusal(plan.dump());
    };
    CHECK(changed("/gpus/0/id", "zero").code == "bad-integer");
    CHECK(changed("/gpus/0/input_chunks", -1).code == "bad-integer");
    CHECK(changed("/gpus/0/input_chunks", 1.5).code == "bad-integer");
    CHECK(changed("/gpus/0/input_chunks", std::uint64_t{1} << 32U).code == "bad-integer");
    CHECK(changed("/protocol", "LL128").code == "bad-value");
    CHECK(changed("/inplace", 1).code == "bad-value");
    CHECK(changed("/gpus", 7).code == "bad-value");
    CHECK(changed("/gpus/0", 7).code == "bad-value");
    CHECK(changed("/gpus/0/channels/0/channel_type", "wire").code == "bad-value");
    const Refusal unknown = changed("/gpus/0/threadblocks/0/ops/4/name", "putt");
    CHECK(unknown.code == "bad-value");
    CHECK(unknown.what.find("plan.json: at /gpus/0/threadblocks/0/ops/4/name") != std::string::npos);
    CHECK(unknown.what.find("did you mean 'put'?") != std::string::npos);
    CHECK(changed("/gpus/0/threadblocks/0/ops/6/ops/0", operation(*std::make_unique<io::Json>(example()), 6))
              .code == "bad-value");

    CHECK(refusal("{").code == "json");
    CHECK(refusal("").code == "json");
    CHECK(refusal("{} {}").code == "json");
    CHECK(refusal(std::string(100, '[')).code == "too-large");
}

TEST_CASE("execution plans of earlier versions are refused by name") {
    const auto is_old = [](const std::string& text) {
        const Refusal found = refusal(text);
        return found.code == "old-format" && found.what.find("before version 0.9") != std::string::npos;
    };
    CHECK(is_old(
        R"({"name": "a", "colletive": "allreduce", "protocol": "Simple", "inplace": true, "gpus": []})"));
    CHECK(is_old(R"({"name": "a", "collective": "allreduce", "protocol": "Simple", "inplace": true,
                     "gpus": [{"id": 0, "inputChunks": 2, "outputChunks": 2, "scratchChunks": 0}]})"));
    io::Json plan = example();
    plan["gpus"][0]["channels"][0] = io::Json::parse(R"({"srcbuff": "i", "type": "sm", "connectedTo": [1]})");
    CHECK(is_old(plan.dump()));
    plan = example();
    operation(plan, 2) =
        io::Json::parse(R"({"name": "signal", "o_cids": [{"id": 0, "off": 0}], "ctype": "proxy"})");
    CHECK(is_old(plan.dump()));
    plan = example();
    operation(plan, 4) = io::Json::parse(R"({"name": "copy", "srcs": [], "cnt": 1})");
    CHECK(is_old(plan.dump()));
    plan = example();
    operation(plan, 4)["cnt"] = 1;
    CHECK_FALSE(is_old(plan.dump()));
}
