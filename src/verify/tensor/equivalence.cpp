#include "verify/tensor/equivalence.hpp"

#include "core/error.hpp"
#include "tensor/kernels.hpp"
#include "verify/tensor/pieces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace tutti::verify {
namespace {

using tensor::Program;

std::optional<Parting> fault_in_order(const Program& program) {
    try {
        const tensor::Kernels kernels(program);
        return std::nullopt;
    } catch (const tensor::Refusal& refusal) {
        return Parting{refusal.code(), refusal.value(), refusal.value(), refusal.words()};
    }
}

std::optional<Parting> fault_in_overlaps(const Program& program) {
    std::set<std::string> overlapped;
    for (const tensor::Overlap& overlap : program.overlaps()) {
        const std::string chain = fmt::format("{}", fmt::join(overlap.chain, " "));
        for (const std::string& kernel : overlap.chain) {
            if (!overlapped.insert(kernel).second)
                return Parting{"overlapped-twice", chain, kernel, "the kernel is in two chains"};
        }
        const PieceVerdict verdict = judge_pieces(program, overlap);
        if (!verdict.code.empty()) return Parting{verdict.code, chain, overlap.chain.back(), verdict.words};
    }
    return std::nullopt;
}

std::optional<RunReport> example_of(const Program& original, const Program& changed) {
    try {
        RunReport report = field_run(original, changed);
        if (report.runs == 0) return std::nullopt;
        return report;
    } catch (const InputError&) {
        return std::nullopt;  // inputs differ, so that there is nothing to run
    } catch (const LimitError&) {
        return std::nullopt;
    }
}

}  // namespace

Equivalence equivalence(const Program& original, const Program& changed) {
    Equivalence verdict;
    verdict.parting = parting(original, changed);
    if (verdict.parting) {
        const bool same_sizes = verdict.parting->code != "mesh" && verdict.parting->code != "size";
        if (same_sizes) verdict.example = example_of(original, changed);
        return verdict;
    }
    verdict.parting = fault_in_order(changed);
    if (!verdict.parting) verdict.parting = fault_in_overlaps(changed);
    verdict.equivalent = !verdict.parting;
    return verdict;
}

}  // namespace tutti::verify
