// Free MPS. It lists the matrix by columns, so the rows are turned first. A row with two different finite
// sides is a G row with a range. Every column is an integer between markers, with both bounds spelled out:
// what readers assume of a column with an upper bound alone differs between them.

#include "models/export.hpp"
#include "models/linearise.hpp"

#include <fmt/format.h>

#include <ostream>

namespace tutti::models {
namespace {

struct Entry {
    std::size_t row;
    std::int64_t value;
};

char kind_of(const Row& row) {
    if (row.lower == row.upper) return 'E';
    if (row.lower != kMinusInfinity) return 'G';
    return row.upper != kPlusInfinity ? 'L' : 'N';  // N: a row that says nothing
}

/// The matrix by columns.
std::vector<std::vector<Entry>> columns_of(const Program& program) {
    std::vector<std::vector<Entry>> columns(program.vars());
    for (std::size_t i = 0; i < program.rows(); ++i) {
        for (const Term& term : program.row(i).terms)
            columns[term.var.index].push_back({i, term.coefficient});
    }
    return columns;
}

void write_columns(std::ostream& out, const Program& program) {
    std::vector<std::int64_t> cost(program.vars(), 0);
    for (const Term& term : program.objective()) cost[term.var.index] += term.coefficient;
    const auto columns = columns_of(program);
    out << "COLUMNS\n    MARKER 'MARKER' 'INTORG'\n";
    for (std::uint32_t i = 0; i < program.vars(); ++i) {
        const std::string& name = program.name(Var{i});
        // A column must be named here even if it stands nowhere.
        if (cost[i] != 0 || columns[i].empty()) out << fmt::format("    {} cost {}\n", name, cost[i]);
        for (const Entry& entry : columns[i])
            out << fmt::format("    {} r{} {}\n", name, entry.row, entry.value);
    }
    out << "    MARKER 'MARKER' 'INTEND'\n";
}

void write_sides(std::ostream& out, const Program& program) {
    out << "RHS\n";
    for (std::size_t i = 0; i < program.rows(); ++i) {
        const Row row = program.row(i);
        const std::int64_t side = row.lower != kMinusInfinity ? row.lower : row.upper;
        if (kind_of(row) != 'N' && side != 0) out << fmt::format("    RHS r{} {}\n", i, side);
    }
    out << "RANGES\n";
    for (std::size_t i = 0; i < program.rows(); ++i) {
        const Row row = program.row(i);
        if (kind_of(row) == 'G' && row.upper != kPlusInfinity) {
            // Both sides are within 2^50, or linearise would have refused.
            out << fmt::format("    RANGES r{} {}\n", i, row.upper - row.lower);
        }
    }
    out << "BOUNDS\n";
    for (std::uint32_t i = 0; i < program.vars(); ++i) {
        const auto [lower, upper] = program.bounds(Var{i});
        const std::string& name = program.name(Var{i});
        out << fmt::format(" LO BOUNDS {} {}\n UP BOUNDS {} {}\n", name, lower, name, upper);
    }
}

}  // namespace

std::optional<std::string> write_mps(std::ostream& out, const Program& program) {
    const Linearised linear = linearise(program);
    if (!linear.refusal.empty()) return linear.refusal;
    out << "NAME tutti\nROWS\n N cost\n";
    for (std::size_t i = 0; i < linear.program.rows(); ++i) {
        out << fmt::format(" {} r{}\n", kind_of(linear.program.row(i)), i);
    }
    write_columns(out, linear.program);
    write_sides(out, linear.program);
    out << "ENDATA\n";
    return std::nullopt;
}

}  // namespace tutti::models
