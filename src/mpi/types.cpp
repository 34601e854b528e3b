#include "mpi/types.hpp"

#include <type_traits>

namespace tutti::mpi {
namespace {

using run::ElementType;

/// C's integers by their size and sign.
template <class Integer>
std::optional<ElementType> integer_type() {
    constexpr bool kSigned = std::is_signed_v<Integer>;
    if constexpr (sizeof(Integer) == 1) return kSigned ? ElementType::I8 : ElementType::U8;
    if constexpr (sizeof(Integer) == 4 && kSigned) return ElementType::I32;
    if constexpr (sizeof(Integer) == 8) return kSigned ? ElementType::I64 : ElementType::U64;
    return std::nullopt;
}

}  // namespace

MPI_Datatype datatype_of(ElementType type) {
    switch (type) {
        case ElementType::F32:
            return MPI_FLOAT;
        case ElementType::F64:
            return MPI_DOUBLE;
        case ElementType::I8:
            return MPI_INT8_T;
        case ElementType::U8:
            return MPI_UINT8_T;
        case ElementType::I32:
            return MPI_INT32_T;
        case ElementType::I64:
            return MPI_INT64_T;
        case ElementType::U64:
            return MPI_UINT64_T;
        default:
            return MPI_DATATYPE_NULL;
    }
}

MPI_Op op_of(run::Operator op) {
    switch (op) {
        case run::Operator::Sum:
            return MPI_SUM;
        case run::Operator::Prod:
            return MPI_PROD;
        case run::Operator::Min:
            return MPI_MIN;
        case run::Operator::Max:
            return MPI_MAX;
        default:
            return MPI_OP_NULL;
    }
}

// Handles are no constants in every MPI, so there is no switch.
std::optional<ElementType> element_type_of(MPI_Datatype type) {
    if (type == MPI_FLOAT) return ElementType::F32;
    if (type == MPI_DOUBLE) return ElementType::F64;
    if (type == MPI_INT) return integer_type<int>();
    if (type == MPI_UNSIGNED) return integer_type<unsigned>();
    if (type == MPI_LONG) return integer_type<long>();
    if (type == MPI_UNSIGNED_LONG) return integer_type<unsigned long>();
    if (type == MPI_LONG_LONG) return integer_type<long long>();
    if (type == MPI_UNSIGNED_LONG_LONG) return integer_type<unsigned long long>();
    if (type == MPI_SIGNED_CHAR || type == MPI_INT8_T) return ElementType::I8;
    if (type == MPI_UNSIGNED_CHAR || type == MPI_UINT8_T) return ElementType::U8;
    if (type == MPI_INT32_T) return ElementType::I32;
    if (type == MPI_INT64_T) return ElementType::I64;
    if (type == MPI_UINT64_T) return ElementType::U64;
    return std::nullopt;
}

std::optional<run::Operator> operator_of(MPI_Op op) {
    if (op == MPI_SUM) return run::Operator::Sum;
    if (op == MPI_PROD) return run::Operator::Prod;
    if (op == MPI_MIN) return run::Operator::Min;
    if (op == MPI_MAX) return run::Operator::Max;
    return std::nullopt;
}

}  // namespace tutti::mpi
