// The three text formats of one program that has every construct. What the texts mean was checked once,
// outside: 150 random programs, written and read back by HiGHS' own reader, Z3's and protobuf's, had the
// optimum of enumeration.

#include "models/export.hpp"

#include <doctest/doctest.h>

#include <array>
#include <sstream>

using namespace tutti::models;

namespace {

Program sample() {
    Program program;
    const Literal a = program.boolean("a"), b = program.boolean("send.1_2");
    const Var x = program.integer(-4, 9, "x"), y = program.integer(2, 6, "y");
    program.row(std::array{Term{x, 2}, Term{y, -3}}, -7, 11);
    program.row(std::array{Term{x, 1}, Term{a.var, 5}}, kMinusInfinity, 8);
    program.row(std::array{Term{y, 1}}, 3, kPlusInfinity, !b);
    program.choice(Promise::AtLeastOne, std::array{a, !b});
    program.choice(Promise::AtMostOne, std::array{a, b});
    program.choice(Promise::ExactlyOne, std::array{!a, !b});
    program.no_overlap(std::array{Interval{x, 2, {}}, Interval{y, 3, a}});
    program.hint(x, 1);
    program.minimise(std::array{Term{y, 1}, Term{a.var, -2}});
    return program;
}

}  // namespace

TEST_CASE("a program as mps") {
    std::ostringstream out;
    CHECK_FALSE(write_mps(out, sample()));
    CHECK(out.str() == R"text(NAME tutti
ROWS
 N cost
 G r0
 L r1
 G r2
 G r3
 L r4
 E r5
 G r6
 G r7
COLUMNS
    MARKER 'MARKER' 'INTORG'
    a cost -2
    a r1 5
    a r3 1
    a r4 1
    a r5 -1
    a r6 -9
    a r7 -13
    send.1_2 r2 1
    send.1_2 r3 -1
    send.1_2 r4 1
    send.1_2 r5 -1
    x r0 2
    x r1 1
    x r6 -1
    x r7 1
    y cost 1
    y r0 -3
    y r2 1
    y r6 1
    y r7 -1
    x.before.y.4 r6 -9
    x.before.y.4 r7 13
    MARKER 'MARKER' 'INTEND'
RHS
    RHS r0 -7
    RHS r1 8
    RHS r2 3
    RHS r4 1
    RHS r5 -1
    RHS r6 -16
    RHS r7 -10
RANGES
    RANGES r0 18
BOUNDS
 LO BOUNDS a 0
 UP BOUNDS a 1
 LO BOUNDS send.1_2 0
 UP BOUNDS send.1_2 1
 LO BOUNDS x -4
 UP BOUNDS x 9
 LO BOUNDS y 2
 UP BOUNDS y 6
 LO BOUNDS x.before.y.4 0
 UP BOUNDS x.before.y.4 1
ENDATA
)text");
}

TEST_CASE("a program as smt-lib") {
    std::ostringstream out;
    write_smt2(out, sample());
    CHECK(out.str() == R"text((set-option :produce-models true)
(set-logic QF_LIA)
(declare-fun |a| () Bool)
(declare-fun |send.1_2| () Bool)
(declare-fun |x| () Int)
(assert (<= (- 4) |x| 9))
(declare-fun |y| () Int)
(assert (<= 2 |y| 6))
(assert (>= (+ (* 2 |x|) (* (- 3) |y|)) (- 7)))
(assert (<= (+ (* 2 |x|) (* (- 3) |y|)) 11))
(assert (<= (+ |x| (* 5 (ite |a| 1 0))) 8))
(assert (=> (not |send.1_2|) (>= |y| 3)))
(assert (or |a| (not |send.1_2|)))
(assert (<= (+ (ite |a| 1 0) (ite |send.1_2| 1 0)) 1))
(assert (or (not |a|) (not |send.1_2|)))
(assert (<= (+ (ite (not |a|) 1 0) (ite (not |send.1_2|) 1 0)) 1))
(assert (or (<= (+ |x| 2) |y|) (<= (+ |y| 3) |x|) (not |a|)))
(minimize (+ |y| (* (- 2) (ite |a| 1 0))))
(check-sat)
(get-model)
)text");
}

TEST_CASE("a program as cp-sat's text") {
    std::ostringstream out;
    write_cpsat_text(out, sample());
    CHECK(out.str() == R"text(variables { name: "a" domain: [0, 1] }
variables { name: "send.1_2" domain: [0, 1] }
variables { name: "x" domain: [-4, 9] }
variables { name: "y" domain: [2, 6] }
constraints { linear { vars: [2, 3] coeffs: [2, -3] domain: [-7, 11] } }
constraints { linear { vars: [2, 0] coeffs: [1, 5] domain: [-9223372036854775808, 8] } }
constraints { enforcement_literal: -2 linear { vars: [3] coeffs: [1] domain: [3, 9223372036854775807] } }
constraints { bool_or { literals: [0, -2] } }
constraints { at_most_one { literals: [0, 1] } }
constraints { exactly_one { literals: [-1, -2] } }
constraints { interval { start { vars: 2 coeffs: 1 } end { vars: 2 coeffs: 1 offset: 2 } size { offset: 2 } } }
constraints { enforcement_literal: 0 interval { start { vars: 3 coeffs: 1 } end { vars: 3 coeffs: 1 offset: 3 } size { offset: 3 } } }
constraints { no_overlap { intervals: [6, 7] } }
objective { vars: [3, 0] coeffs: [1, -2] }
solution_hint { vars: [2] values: [1] }
)text");
}

TEST_CASE("a program that cannot be linearised is not written as mps, and the reason is given") {
    Program program;
    program.integer(0, std::int64_t{1} << 60, "far");
    std::ostringstream out;
    const auto refusal = write_mps(out, program);
    REQUIRE(refusal);
    CHECK(refusal->find("far") != std::string::npos);
    CHECK(out.str().empty());
}
