#pragma once

#include "tensor/program.hpp"

#include <optional>
#include <string>

namespace tutti::verify {

/// Where two programs part.
struct Parting {
    std::string code;     ///< "input", "output", "layout", "state", "mesh", "size"
    std::string output;   ///< the output, state or input in which it shows; as the second program calls it
    std::string subterm;  ///< the value of the second program that differs while what it is made of does not
    std::string words;    ///< what each program has there
};

/// Whether the second program computes what the first does, for all sizes and numbers of ranks at which both
/// type: a proof that rests on the layout rules. Both become terms in which placement does not exist:
/// gathers, slices, exchanges of slices and updates vanish; all_reduce, reduce_scatter and reduce_to are a
/// total over axes. Five laws: totals of one reduction over several axes, one after the other, are one; a
/// total of the partial results of the same reduction over the axes that cut it is the whole reduction; a
/// shift moves inside totals over other axes; operands of commutative operations have no order;
/// a broadcast that an operation would do by itself is none. (Stack and
/// unstack of one dimension undo each other.) Equal terms are one, so that the outputs are compared at once:
/// linear time.
///
/// Nothing: they are equal. Otherwise they may still be, by a law that is not among these.
[[nodiscard]] std::optional<Parting> parting(const tensor::Program& original, const tensor::Program& changed);

}  // namespace tutti::verify
