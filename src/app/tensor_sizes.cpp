#include "app/tensor_sizes.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <vector>

namespace tutti::app {

tensor::Program at_sizes(const tensor::Program& program, const TensorSizes& sizes) {
    if (sizes.sizes.empty() && sizes.mesh.empty()) return program;
    for (const auto& [name, size] : sizes.sizes) {
        if (!program.sizes().contains(name))
            throw InputError(fmt::format("--sizes: the program has no size '{}'", name));
    }
    std::vector<std::int64_t> axes;
    for (const tensor::Mesh::Axis& axis : program.mesh().axes()) {
        const auto asked = sizes.mesh.find(axis.name);
        axes.push_back(asked == sizes.mesh.end() ? axis.size : asked->second);
    }
    for (const auto& [name, size] : sizes.mesh) {
        if (!program.mesh().find(name))
            throw InputError(fmt::format("--mesh: the program has no axis '{}'", name));
    }
    return tensor::at_sizes(program, axes, sizes.sizes);
}

}  // namespace tutti::app
