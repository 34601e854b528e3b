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
    const auto move = [&](double bytes, DType dtype) {
        memory += bytes / (rate_of(device_.memory_GBps, dtype, "memory_GBps") * 1e3);
    };
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
