// valijson's string sums and regular expressions set off false alarms of g++ 12 (GCC bugs 105651 and 105562).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "batch/run_file.hpp"
#include "io/instance_json.hpp"
#include "io/schedule_json.hpp"
#include "io/tensor_json.hpp"
#include "io/tensor_schedule_json.hpp"
#include "rewrite/schedule.hpp"
#include "scratch.hpp"
#include "source_dir.hpp"
#include "synth/synthesize.hpp"
#include "tests/support/tensor_set.hpp"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

// The schemas are what other people's tools check with; the readers are what we check with. Neither may
// accept what the other refuses, as far as a schema can see.

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

using valijson::adapters::NlohmannJsonAdapter;

nlohmann::json load(const std::string& path) { return nlohmann::json::parse(content_of(path)); }

std::string schema_path(const std::string& name) {
    return std::string(TUTTI_SOURCE_DIR) + "/instances/schema/" + name;
}

/// A schema of instances/schema, with those it refers to.
class SchemaFile {
  public:
    explicit SchemaFile(const std::string& name) {
        valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
        const nlohmann::json document = load(schema_path(name));
        const auto fetch = [](const std::string& uri) -> const nlohmann::json* {
            return new nlohmann::json(load(schema_path(uri)));
        };
        const auto release = [](const nlohmann::json* fetched) { delete fetched; };
        parser.populateSchema(NlohmannJsonAdapter(document), schema_, fetch, release);
    }

    [[nodiscard]] bool accepts(const nlohmann::json& value) const {
        valijson::Validator validator(valijson::Validator::kStrongTypes);
        return validator.validate(schema_, NlohmannJsonAdapter(value), nullptr);
    }
    /// What is wrong with it, for people.
    [[nodiscard]] std::string complaints(const nlohmann::json& value) const {
        valijson::Validator validator(valijson::Validator::kStrongTypes);
        valijson::ValidationResults results;
        validator.validate(schema_, NlohmannJsonAdapter(value), &results);
        std::string text;
        for (valijson::ValidationResults::Error error; results.popError(error);) {
            for (const std::string& part : error.context) text += part;
            text += ": " + error.description + "\n";
        }
        return text;
    }

  private:
    valijson::Schema schema_;
};

}  // namespace

TEST_CASE("every instance in the repository fits the schema and is read") {
    const SchemaFile schema("instance.schema.json");
    for (const std::string& file : files_below("instances", ".json")) {
        if (contains(file, "/schema/")) continue;
        CAPTURE(file);
        CHECK(schema.complaints(load(file)) == "");
        CHECK_NOTHROW((void)read_instance(file));
    }
}

TEST_CASE("what we write fits the schemas") {
    const Json source = Json::parse(R"({"tutti": 1, "about": "all kinds", "name": "x",
      "topology": {"generate": {"kind": "star", "npus": 3, "copy": true}}, "groups": {"g": [2, 0], "f": {"split": "DIV 2"},
        "m": {"mesh": {"axes": [["x", 1], ["y", 3]]}, "along": ["x", "y"]}}, "forwarding": "group",
      "collectives": [
        {"kind": "broadcast", "root": 1, "chunks": 2}, {"kind": "scatter"}, {"kind": "gather", "group": "g"}, {"kind": "reduce"},
        {"kind": "all_gather", "forwarding": "any"}, {"kind": "reduce_scatter", "chunk_bytes": 4}, {"kind": "all_reduce", "release": 3},
        {"kind": "all_to_all"}, {"kind": "all_to_all_v", "group": "g", "counts": [[0, 2], [1, 0]]}, {"kind": "all_to_next"},
        {"kind": "permute", "pairs": [[0, 2]]}, {"kind": "custom", "demands": [{"holders": [0], "receivers": [1, 2], "bytes": 3}]}]})");
    const SchemaFile schema("instance.schema.json");
    CHECK(schema.complaints(nlohmann::json::parse(source.dump())) == "");
    const Json written = write_instance(parse_instance(source, "x"));
    CHECK(schema.complaints(nlohmann::json::parse(written.dump())) == "");

    const Scratch scratch;
    const SchemaFile schedules("schedule.schema.json");
    for (const auto& sends :
         {std::vector<Send>{},
          {{ChunkId(3), LinkId(1), Ticks(0), Op::Copy}, {ChunkId(0), LinkId(2), Ticks(8), Op::Reduce}}}) {
        write_schedule_json(scratch.path("s.json"), {"x", Ticks(9), sends});
        CHECK(schedules.complaints(load(scratch.path("s.json"))) == "");
    }
}

TEST_CASE("tensor programs and their schedules fit their schemas, as they are given and as we write them") {
    const SchemaFile programs("tensor-program.schema.json"), schedules("tensor-schedule.schema.json");
    const auto plain = [](const Json& json) { return nlohmann::json::parse(json.dump()); };
    for (const Json& line : tensor_lines("legal.jsonl")) {
        CAPTURE(line.dump());
        const auto name = line.at("program").get<std::string>();
        CHECK(programs.complaints(plain(tensor_json("programs/" + name + ".json"))) == "");
        tensor::Schedule schedule{.program = name};
        for (const Json& step : line.at("steps")) schedule.steps.push_back(parse_tensor_step(step));
        CHECK(schedules.complaints(plain(write_tensor_schedule(schedule))) == "");
        const tensor::Program after = rewrite::replay(tensor_program(name), schedule.steps);
        CHECK(programs.complaints(plain(write_tensor_program(after))) == "");
    }
    for (const Json& line : tensor_lines("illegal.jsonl")) {
        const Json schedule{
            {"tutti_tensor_schedule", 1}, {"program", "p"}, {"steps", Json::array({line.at("step")})}};
        CAPTURE(line.dump());
        CHECK(schedules.accepts(plain(schedule)) == (line.at("code") != "transformation"));
    }
}

TEST_CASE("bad shapes are refused by the schemas as well as by the readers") {
    for (const std::string kind : {"instance", "schedule"}) {
        const SchemaFile schema(kind + ".schema.json");
        const auto files = files_below("tests/data/bad/" + kind + "/shape", ".json");
        CHECK(files.size() > 30);
        for (const std::string& file : files) {
            CAPTURE(file);
            CHECK_FALSE(schema.accepts(load(file)));
        }
    }
}

TEST_CASE("semantic errors pass the schema and are refused by the reader") {
    const SchemaFile schema("instance.schema.json");
    for (const std::string& file : files_below("tests/data/bad/instance/meaning", ".json")) {
        CAPTURE(file);
        CHECK(schema.complaints(load(file)) == "");
    }
}

TEST_CASE("the schema of run files knows every method and heuristic") {
    const SchemaFile schema("run.schema.json");
    for (const synth::Method& method : synth::methods()) {
        CAPTURE(method.name);
        CHECK(schema.complaints(nlohmann::json{{"methods", method.name}}) == "");
    }
    for (const synth::Method& heuristic : synth::heuristics()) {
        CAPTURE(heuristic.name);
        CHECK(schema.complaints(nlohmann::json{{"heuristics", heuristic.name}}) == "");
    }
}

TEST_CASE("a run file fits its schema exactly if it can be read, but for names of heuristics") {
    const SchemaFile schema("run.schema.json");
    const Scratch scratch;
    const auto is_read = [&](const std::string& text) {
        try {
            (void)batch::read_run_file(scratch.file("run.json", text));
            return true;
        } catch (const InputError&) {
            return false;
        }
    };
    for (const std::string good :
         {"{}", R"({"instances": ["a", "b/*.json"], "methods": ["greedy", "cpsat"], "chunks": [1, 2]})",
          R"({"bytes": ["1K", 4096, "1G"], "seeds": [0, 9223372036854775807], "threads": 2, "jobs": 8})",
          R"({"methods": "auto", "bytes": "1M", "seeds": 7, "instances": "a", "chunks": 3})",
          R"({"heuristics": ["symmetry", "tree-insertion"], "options": {"tries": 8, "small-gap": 0.5}})",
          R"({"bytes": ["64KB", "1gib", "1.5 M", "512B"], "memory_limit": 52428800})",
          R"({"time_limit": 0.5, "memory_limit": "4G", "shard": "0/8", "set": "s.test", "about": "x"})"}) {
        CAPTURE(good);
        CHECK(schema.complaints(nlohmann::json::parse(good)) == "");
        CHECK(is_read(good));
    }
    for (const std::string bad : {"[]",
                                  "3",
                                  R"({"instance": []})",
                                  R"({"instances": [1]})",
                                  R"({"methods": ["greed"]})",
                                  R"({"heuristics": ["Magic 7"]})",
                                  R"({"options": {"tries": "8"}})",
                                  R"({"options": [1]})",
                                  R"({"chunks": [0]})",
                                  R"({"bytes": ["1X"]})",
                                  R"({"bytes": [0]})",
                                  R"({"bytes": [-4]})",
                                  R"({"seeds": [-1]})",
                                  R"({"seeds": [1.5]})",
                                  R"({"threads": 0})",
                                  R"({"jobs": [1]})",
                                  R"({"time_limit": 0})",
                                  R"({"time_limit": "2"})",
                                  R"({"memory_limit": true})",
                                  R"({"memory_limit": 50})",
                                  R"({"memory_limit": "50X"})",
                                  R"({"bytes": ["KB"]})",
                                  R"({"shard": 3})",
                                  R"({"shard": "3"})"}) {
        CAPTURE(bad);
        CHECK_FALSE(schema.accepts(nlohmann::json::parse(bad)));
        CHECK_FALSE(is_read(bad));
    }
}
