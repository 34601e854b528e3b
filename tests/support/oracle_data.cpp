#include "tests/support/oracle_data.hpp"
#include "source_dir.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace tutti::test {

std::vector<ProvenOptimum> proven_optima() {
    std::ifstream file(TUTTI_SOURCE_DIR "/tests/data/oracle/optima.json");
    const auto rows = nlohmann::json::parse(file);
    std::vector<ProvenOptimum> result;
    for (const auto& row : rows) {
        InstanceParts parts;
        parts.name = row.at("name");
        parts.topology.npus = row.at("npus");
        parts.topology.busy = row.at("busy") == "beta" ? Busy::Beta : Busy::AlphaPlusBeta;
        for (const auto& link : row.at("links")) {
            parts.topology.links.push_back({NodeId(link.at("src").get<std::size_t>()),
                                            NodeId(link.at("dst").get<std::size_t>()),
                                            {Ticks(link.at("alpha")), Ticks(link.at("beta")), {}}});
        }
        Group group{"group", {}};
        for (const std::size_t member : row.at("group")) group.members.emplace_back(member);
        parts.groups = {group};
        Collective collective;
        collective.id = "c";
        collective.kind = kind_named(row.at("collective").get<std::string>()).value();
        collective.chunks = row.at("chunks_per_rank");
        if (!row.at("root").is_null()) collective.root = Rank(row.at("root").get<std::size_t>());
        parts.collectives = {collective};
        result.push_back(
            {Instance(std::move(parts)), Ticks(row.at("optimum")), row.at("cpu_seconds_prototype")});
    }
    return result;
}

}  // namespace tutti::test
