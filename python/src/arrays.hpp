#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tutti::python {

template <class Number>
using Array = nanobind::ndarray<nanobind::numpy, Number, nanobind::ndim<1>>;
/// An argument that is only read: a one-dimensional numpy array of exactly these numbers.
template <class Number>
using Numbers = nanobind::ndarray<const Number, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// A numpy array that owns the numbers.
template <class Number>
[[nodiscard]] Array<Number> array_of(std::vector<Number> numbers) {
    auto owned = std::make_unique<std::vector<Number>>(std::move(numbers));
    Number* const data = owned->data();
    const std::size_t size = owned->size();
    const nanobind::capsule owner(
        owned.release(), [](void* held) noexcept { delete static_cast<std::vector<Number>*>(held); });
    return Array<Number>(data, {size}, owner);
}

}  // namespace tutti::python
