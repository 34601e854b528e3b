// g++ 12 sees an overlap that is none in the strings that valijson joins (GCC bug 105651).
#pragma GCC diagnostic ignored "-Wrestrict"

#include "io/generator_json.hpp"
#include "source_dir.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <fstream>

namespace {

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

/// Whether instances/schema/topology.schema.json accepts a topology.
class TopologySchema {
  public:
    TopologySchema() {
        std::ifstream file(TUTTI_SOURCE_DIR "/instances/schema/topology.schema.json");
        const json document = json::parse(file);
        valijson::SchemaParser(valijson::SchemaParser::kDraft7)
            .populateSchema(NlohmannJsonAdapter(document), schema_);
    }
    [[nodiscard]] bool accepts(const json& topology) const {
        valijson::Validator validator(valijson::Validator::kStrongTypes);
        return validator.validate(schema_, NlohmannJsonAdapter(topology), nullptr);
    }

  private:
    valijson::Schema schema_;
};

}  // namespace

TEST_CASE("the topology schema accepts the example of every kind and knows its fields") {
    const TopologySchema schema;
    for (const tutti::io::GeneratorKind& kind : tutti::io::generator_kinds()) {
        CAPTURE(kind.name);
        const json example = {{"generate", json::parse(kind.example)}};
        CHECK(schema.accepts(example));
        json unknown = example;
        unknown["generate"]["colour"] = "red";
        CHECK_FALSE(schema.accepts(unknown));
        if (kind.alias.empty()) continue;
        json alias = example;
        alias["generate"]["kind"] = kind.alias;
        CHECK(schema.accepts(alias));
    }
}

TEST_CASE("the topology schema refuses what the reader refuses") {
    const TopologySchema schema;
    for (const char* text : {
             R"({})",
             R"({"npus": 2})",
             R"({"npus": 0, "links": []})",
             R"({"npus": 2, "links": [], "nodes": 2})",
             R"({"npus": 2, "links": [], "busy": "gamma"})",
             R"({"npus": 2, "links": [{"src": 0}]})",
             R"({"npus": 2, "links": [{"src": 0, "dst": 1, "beta": 0}]})",
             R"({"npus": 2, "links": [{"src": 0, "dst": 1, "beta": 1, "latency_ns": 3}]})",
             R"({"npus": 2, "links": [{"src": 0, "dst": 1, "latency_ns": 3}]})",
             R"({"npus": 2, "switches": [{"copy": 1}], "links": []})",
             R"({"npus": 2, "links": [], "generate": {"kind": "ring", "npus": 2}})",
             R"({"generate": {"kind": "tours", "dims": [2]}})",
             R"({"generate": {"kind": "ring"}})",
             R"({"generate": {"kind": "ring", "npus": 4, "copy": true}})",
             R"({"generate": {"kind": "ring", "npus": 4, "beta": [1, 2]}})",
             R"({"generate": {"kind": "torus", "dims": []}})",
             R"({"generate": {"kind": "hypercube", "npus": 8, "dimensions": 3}})",
             R"({"generate": {"kind": "ring", "npus": 4}, "remove": [3]})",
             R"({"generate": {"kind": "ring", "npus": 4}, "remove": [{"link": 3, "between": [0, 1]}]})",
             R"({"generate": {"kind": "ring", "npus": 4}, "slow": [{"link": 3}]})",
             R"({"generate": {"kind": "ring", "npus": 4}, "slow": [{"factor": 3}]})",
         }) {
        CAPTURE(text);
        CHECK_FALSE(schema.accepts(json::parse(text)));
    }
}
