// The table of the library.

#include "lang/library.hpp"

#include "core/error.hpp"
#include "lang/library/algorithms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::lang {

std::vector<std::int64_t> Parameter::worth_trying(std::uint32_t ranks) const {
    std::vector<std::int64_t> values;
    const auto offer = [&](std::int64_t value) {
        if (value >= least && value <= most && value != normal) values.push_back(value);
    };
    if (knob == Knob::Fours) {
        for (std::int64_t value = 1; value <= most; value *= 4) offer(value);
    } else if (knob == Knob::Any) {
        for (std::int64_t value = least; value <= most; ++value) offer(value);
    } else if (knob == Knob::Divisors) {
        for (std::int64_t value = 2; value < std::int64_t{ranks}; ++value) {
            if (ranks % value == 0) offer(value);
        }
    }
    return values;
}

Settings::Settings(const AlgorithmRequest& asked, std::span<const Parameter> parameters) : request(asked) {
    for (const Parameter& parameter : parameters) values_[std::string(parameter.name)] = parameter.normal;
    for (const auto& [name, value] : asked.parameters) {
        const auto known = std::ranges::find(parameters, name, &Parameter::name);
        if (known == parameters.end()) {
            std::vector<std::string_view> names;
            for (const Parameter& parameter : parameters) names.push_back(parameter.name);
            throw InputError(names.empty() ? fmt::format("it has no parameter '{}', and no other", name)
                                           : fmt::format("it has no parameter '{}'; there are {}", name,
                                                         fmt::join(names, ", ")));
        }
        if (value < known->least || value > known->most) {
            throw InputError(fmt::format("parameter {}: expected a number from {} to {}, found {}", name,
                                         known->least, known->most, value));
        }
        values_[name] = value;
    }
}

std::uint32_t Settings::operator[](std::string_view name) const {
    return static_cast<std::uint32_t>(values_.find(name)->second);
}

const std::vector<Algorithm>& algorithms() {
    using namespace library;
    static const std::vector<Algorithm> kAll{all_pairs(),
                                             bine(),
                                             binomial_tree(),
                                             bruck(),
                                             chain_to_next(),
                                             direct_all_to_all(),
                                             halving_doubling(),
                                             hierarchical(),
                                             mesh_all_reduce(),
                                             mesh_all_to_all(),
                                             multi_node_all_pairs(),
                                             one_step(),
                                             pairwise_all_to_all(),
                                             pat(),
                                             pcie_hierarchical(),
                                             recursive_doubling(),
                                             ring(),
                                             straggler(),
                                             swing(),
                                             three_step_all_to_all(),
                                             two_socket_chains(),
                                             two_step_all_to_all(),
                                             two_trees()};
    return kAll;
}

const std::vector<Algorithm>& plan_algorithms() {
    static const std::vector<Algorithm> kAll{library::multimem()};
    return kAll;
}

std::vector<const Algorithm*> all_algorithms() {
    std::vector<const Algorithm*> all;
    for (const Algorithm& algorithm : algorithms()) all.push_back(&algorithm);
    for (const Algorithm& algorithm : plan_algorithms()) all.push_back(&algorithm);
    return all;
}

const Algorithm& algorithm_named(std::string_view name) {
    const std::vector<const Algorithm*> all = all_algorithms();
    const auto found = std::ranges::find(all, name, &Algorithm::name);
    if (found != all.end()) return **found;
    std::vector<std::string_view> names;
    for (const Algorithm* algorithm : all) names.push_back(algorithm->name);
    throw InputError(fmt::format("there is no algorithm '{}'; there are {}", name, fmt::join(names, ", ")));
}

std::string why_not(const Algorithm& algorithm, const AlgorithmRequest& request) {
    if (std::ranges::find(algorithm.kinds, request.kind) == algorithm.kinds.end()) {
        std::vector<std::string_view> kinds;
        for (const CollectiveKind kind : algorithm.kinds) kinds.push_back(name_of(kind));
        return fmt::format("{} is for {}", algorithm.name, fmt::join(kinds, ", "));
    }
    if (request.ranks < 2) return "an algorithm needs two ranks or more";
    if (has_root(request.kind) && request.root >= request.ranks) {
        return fmt::format("the root {} is none of {} ranks", request.root, request.ranks);
    }
    if (!request.in_place) {
        AlgorithmRequest other = request;
        other.in_place = true;
        if (algorithm.why_not(Settings(other, algorithm.parameters)).empty()) return "";
        other.in_place = false;
        return algorithm.why_not(Settings(other, algorithm.parameters));
    }
    return algorithm.why_not(Settings(request, algorithm.parameters));
}

namespace {

/// With in_place given: in place where the algorithm can do that. Throws InputError where why_not says why.
AlgorithmRequest decided(const Algorithm& algorithm, AlgorithmRequest request) {
    if (const std::string reason = why_not(algorithm, request); !reason.empty()) throw InputError(reason);
    if (!request.in_place) {
        request.in_place = true;
        request.in_place = algorithm.why_not(Settings(request, algorithm.parameters)).empty();
    }
    return request;
}

Shape shape_of(const Algorithm& algorithm, const Settings& settings) {
    Shape shape{.kind = settings.request.kind,
                .ranks = settings.request.ranks,
                .chunks = algorithm.chunks(settings),
                .in_place = *settings.request.in_place};
    if (has_root(shape.kind)) shape.root = Rank(settings.request.root);
    if (algorithm.reshape != nullptr) algorithm.reshape(shape, settings);
    return shape;
}

}  // namespace

Shape shape_of(const Algorithm& algorithm, const AlgorithmRequest& asked) {
    const AlgorithmRequest request = decided(algorithm, asked);
    return shape_of(algorithm, Settings(request, algorithm.parameters));
}

Trace program_of(const Algorithm& algorithm, const AlgorithmRequest& asked) {
    const AlgorithmRequest request = decided(algorithm, asked);
    const Settings settings(request, algorithm.parameters);
    Trace header;
    header.name = algorithm.name;
    header.shape = shape_of(algorithm, settings);
    Program program(std::move(header));
    algorithm.write(program, settings);
    return program.trace();
}

plan::ExecutionPlan plan_of(const Algorithm& algorithm, const AlgorithmRequest& asked) {
    const AlgorithmRequest request = decided(algorithm, asked);
    return algorithm.plan(Settings(request, algorithm.parameters));
}

namespace library {

void keep_own_share(Program& program) {
    const std::uint32_t k = program.shape().chunks;
    for (std::uint32_t r = 0; r < program.ranks(); ++r) {
        (void)program.chunk(r, kInput, 0, k).copy(r, kOutput, r * k);
    }
}

std::uint32_t work_buffer(Program& program) {
    if (program.shape().in_place) return kInput;
    return program.shape().kind == CollectiveKind::AllReduce ? kOutput : program.scratch("sums");
}

Ref writable(Program& program, std::uint32_t rank, std::uint32_t index, std::uint32_t size) {
    const std::uint32_t buffer = work_buffer(program);
    if (buffer != kInput && !program.tracer().holds({rank, buffer, index})) {
        return program.chunk(rank, kInput, index, size).copy(rank, buffer, index);
    }
    return program.chunk(rank, buffer, index, size);
}

void fold_rest(Program& program, std::uint32_t members) {
    const std::uint32_t k = program.shape().chunks;
    for (std::uint32_t r = 0; r < members; ++r) (void)writable(program, r, 0, k);
    for (std::uint32_t r = members; r < program.ranks(); ++r)
        (void)program.chunk(r - members, kOutput, 0, k).reduce(program.chunk(r, kInput, 0, k));
}

void hand_back(Program& program, std::uint32_t members) {
    for (std::uint32_t r = members; r < program.ranks(); ++r)
        (void)program.chunk(r - members, kOutput, 0, program.shape().chunks).copy(r, kOutput, 0);
}

std::string power_of_two_only(std::uint32_t ranks) {
    return (ranks & (ranks - 1)) == 0 ? "" : fmt::format("it is for powers of two, not for {} ranks", ranks);
}

}  // namespace library
}  // namespace tutti::lang
