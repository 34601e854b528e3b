#pragma once

#include "models/program.hpp"
#include "models/routing.hpp"

#include <functional>
#include <vector>

namespace tutti::models {

/// A literal that occupies a link in [begin, end) of actual time, if it is true.
struct LinkUse {
    Units64 begin, end;
    Literal literal;
};

/// T7: of the uses of one link at most one at a time. One row for each largest set of uses that meet; a
/// literal that meets itself (with a quotient it stands for several transfers) is false. Ends early once
/// `may_continue` says no.
void add_link_rows(Program& program, std::vector<LinkUse> uses, const std::function<bool()>& may_continue);

}  // namespace tutti::models
