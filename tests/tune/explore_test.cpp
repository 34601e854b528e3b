#include "tune/explore.hpp"

#include "io/tensor_json.hpp"
#include "rewrite/schedule.hpp"
#include "tensor/terms.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_tensor_program.hpp"
#include "tests/support/tensor_set.hpp"
#include "verify/tensor/equivalence.hpp"

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

TEST_CASE("every form that is found of random programs is proven equal") {
    std::size_t forms = 0, overlapped = 0;
    test::for_seeds(test::cases(60), [&](Rng& rng, std::uint64_t) {
        const tensor::Program program = test::random_tensor_program(rng, 16);
        for (const tune::Explored& explored : tune::reachable(program, {.most_programs = 8})) {
            for (const tune::Explored& form : tune::forms(explored)) {
                ++forms;
                overlapped += form.program.overlaps().size();
                const verify::Equivalence verdict = verify::equivalence(program, form.program);
                if (verdict.equivalent) continue;
                FAIL_CHECK(verdict.parting->code, ": ", verdict.parting->words, "\n",
                           io::json_line(io::write_tensor_program(program)), "\n",
                           io::json_line(io::write_tensor_program(form.program)));
            }
        }
    });
    MESSAGE(forms, " forms, ", overlapped, " with overlaps");
    CHECK(overlapped > 0);
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
