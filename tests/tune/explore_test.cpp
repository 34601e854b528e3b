#include "tune/explore.hpp"

#include "rewrite/schedule.hpp"
#include "tensor/terms.hpp"
#include "tests/support/tensor_set.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace tutti;

TEST_CASE("the standard space has as many programs as the set counts") {
    const io::Json counts = test::tensor_json("counts.json");
    for (const std::string& name : test::tensor_program_names()) {
        INFO(name);
        const auto found = tune::reachable(test::tensor_program(name));
        CHECK(found.size() == counts.at(name).at("graphs").get<std::size_t>());
    }
}

TEST_CASE("what the search finds, its steps make again") {
    for (const std::string& name : test::tensor_program_names()) {
        INFO(name);
        const tensor::Program program = test::tensor_program(name);
        std::set<std::string> forms;
        for (const tune::Explored& explored : tune::reachable(program)) {
            for (const tune::Explored& form : tune::forms(explored)) {
                const tensor::Program again = rewrite::replay(program, form.steps);
                CHECK(structure_hash(again) == structure_hash(form.program));
                CHECK(again.fused() == form.program.fused());
                CHECK(again.overlaps() == form.program.overlaps());
            }
        }
    }
}

TEST_CASE("the fused forms of the product take the collectives in, and overlap the product") {
    const tensor::Program program = test::tensor_program("matmul_block");
    bool found = false;
    for (const tune::Explored& explored : tune::reachable(program)) {
        for (const tune::Explored& form : tune::forms(explored)) {
            if (form.program.fused().empty() || form.program.overlaps().empty()) continue;
            const auto& chain = form.program.overlaps().front().chain;
            found = found || chain == std::vector<std::string>{"mm", "fused.sum.rs"};
        }
    }
    CHECK(found);
}
