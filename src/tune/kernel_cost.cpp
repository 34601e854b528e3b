#include "tune/kernel_cost.hpp"

#include "tensor/infer.hpp"
#include "tensor/parts.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tutti::tune {
namespace {

using tensor::DType;
using tensor::Op;

double rate_of(const tensor::Device::Rates& rates, DType dtype, std::string_view what) {
    const double rate = rates[static_cast<std::size_t>(dtype)];
    if (rate <= 0) {
        throw InputError("the device has no " + std::string(what) + " for " + std::string(name_of(dtype)),
                         "/" + std::string(what));
    }
    return rate;
}

}  // namespace

KernelCosts::KernelCosts(const tensor::Program& program, const tensor::Users& users,
                         const tensor::Device& device)
    : program_(program), users_(users), device_(device), is_output_(program.slots()) {
    for (const tensor::ValueId output : program.outputs()) is_output_[output.index()] = true;
    if (device.cache_MB > 0) in_cache_ = std::min(1.0, device.cache_MB * 1e6 / std::max(kept_bytes(), 1.0));
}

bool KernelCosts::is_read_outside(tensor::ValueId id, const tensor::Kernel& kernel) const {
    return is_output_[id.index()] || std::ranges::any_of(users_[id], [&](tensor::ValueId user) {
               return std::ranges::find(kernel.values, user) == kernel.values.end();
           });
}

/// Inputs, and the most that is kept between kernels at a time; new states take the place of old ones.
double KernelCosts::kept_bytes() const {
    const tensor::Kernels kernels(program_);
    double inputs = 0, kept = 0, most = 0;
    std::vector<double> ends(kernels.all().size() + 1);  // of what is read last there
    for (std::size_t k = 0; k < kernels.all().size(); ++k) {
        const tensor::Kernel& kernel = kernels.all()[k];
        for (const tensor::ValueId id : kernel.values) {
            const tensor::Value& value = program_[id];
            const auto bytes = static_cast<double>(tensor::part_bytes(program_.mesh(), value.type));
            if (value.op == Op::Input) inputs += bytes;
            const bool is_placed = kind_of(value.op) == tensor::OpKind::Placement ||
                                   kind_of(value.op) == tensor::OpKind::Source || value.op == Op::Update;
            const bool is_update = std::ranges::any_of(
                users_[id], [&](tensor::ValueId user) { return program_[user].op == Op::Update; });
            if (is_placed || is_update || !is_read_outside(id, kernel)) continue;
            std::size_t last = is_output_[id.index()] ? kernels.all().size() : k;
            for (const tensor::ValueId user : users_[id]) last = std::max(last, kernels.of(user).index());
            kept += bytes;
            ends[last] += bytes;
        }
        most = std::max(most, kept);
        kept -= ends[k];
    }
    return inputs + most;
}

double KernelCosts::memory_us(double bytes, DType dtype) const {
    const double slow = 1 / rate_of(device_.memory_GBps, dtype, "memory_GBps");
    const double fast = device_.cache_GBps[static_cast<std::size_t>(dtype)];
    return bytes / 1e3 * (fast > 0 ? in_cache_ / fast + (1 - in_cache_) * slow : slow);
}

double KernelCosts::matmul_us(const tensor::Value& einsum) const {
    const tensor::EinsumSpec spec = tensor::parse_einsum(einsum.spec);
    // Of every letter as many as the smallest part has: an operand that is whole is cut to match.
    std::map<char, double> sizes;
    const auto narrow = [&](const std::string& letters, const tensor::Type& type) {
        for (std::size_t dim = 0; dim < letters.size(); ++dim) {
            const auto part = static_cast<double>(tensor::part_size(program_.mesh(), type, dim));
            const auto [at, is_new] = sizes.try_emplace(letters[dim], part);
            if (!is_new) at->second = std::min(at->second, part);
        }
    };
    for (std::size_t i = 0; i < einsum.args.size(); ++i) {
        narrow(spec.operands[i], program_[einsum.args[i]].type);
    }
    narrow(spec.result, einsum.type);
    double flops = 2;
    for (const auto& [letter, size] : sizes) flops *= size;
    return flops / (rate_of(device_.matmul_tflops, einsum.type.dtype, "matmul_tflops") * 1e6);
}

double KernelCosts::pointwise_us(const tensor::Value& value) const {
    const tensor::Type& type = value.op == Op::Reduce ? program_[value.args.front()].type : value.type;
    const auto operations = static_cast<double>(tensor::part_elements(program_.mesh(), type));
    constexpr std::array kExponentials{Op::Exp, Op::Log, Op::Sigmoid};
    constexpr std::array kFunctions{Op::Exp, Op::Log, Op::Sigmoid, Op::Tanh, Op::Erf, Op::Pow};
    const auto reached = [&](const auto& ops, const tensor::Device::Rates& rates) {
        return std::ranges::find(ops, value.op) == ops.end() ? 0
                                                             : rates[static_cast<std::size_t>(type.dtype)];
    };
    for (const double rate :
         {reached(kExponentials, device_.exp_tflops), reached(kFunctions, device_.function_tflops)}) {
        if (rate > 0) return operations / (rate * 1e6);
    }
    return operations / (rate_of(device_.pointwise_tflops, type.dtype, "pointwise_tflops") * 1e6);
}

double KernelCosts::compute_us(const tensor::Kernel& kernel) const {
    const tensor::Mesh& mesh = program_.mesh();
    std::vector<tensor::ValueId> computed;
    for (const tensor::ValueId id : kernel.values) {
        if (!tensor::is_collective(program_[id].op)) computed.push_back(id);
    }
    const auto is_inside = [&](tensor::ValueId id) {
        return std::ranges::find(computed, id) != computed.end();
    };
    double matmul = 0, pointwise = 0, memory = 0;
    const auto move = [&](double bytes, DType dtype) { memory += memory_us(bytes, dtype); };
    for (const tensor::ValueId id : computed) {
        const tensor::Value& value = program_[id];
        if (value.op == Op::Einsum) matmul += matmul_us(value);
        if (tensor::is_pointwise(value.op) || value.op == Op::Reduce) pointwise += pointwise_us(value);

        std::vector<tensor::ValueId> read = value.args;
        std::ranges::sort(read);
        read.erase(std::unique(read.begin(), read.end()), read.end());
        for (const tensor::ValueId arg : read) {
            if (is_inside(arg)) continue;
            const tensor::Type& type = program_[arg].type;
            std::int64_t elements = tensor::part_elements(mesh, type);
            if (tensor::is_pointwise(value.op)) {
                elements = std::min(elements, tensor::part_elements(mesh, value.type));
            }
            move(static_cast<double>(elements * tensor::bytes_of(type.dtype)), type.dtype);
        }
        const auto users = users_[id];
        if (is_output_[id.index()] || !std::ranges::all_of(users, is_inside)) {
            move(static_cast<double>(tensor::part_bytes(mesh, value.type)), value.type.dtype);
        }
    }
    return std::max({matmul, pointwise, memory});
}

}  // namespace tutti::tune
