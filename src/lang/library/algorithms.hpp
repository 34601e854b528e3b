#pragma once

#include "lang/library.hpp"

/// The algorithms of the library, one file each.
namespace tutti::lang::library {

[[nodiscard]] Algorithm ring();
[[nodiscard]] Algorithm all_pairs();
[[nodiscard]] Algorithm one_step();
[[nodiscard]] Algorithm recursive_doubling();
[[nodiscard]] Algorithm halving_doubling();
[[nodiscard]] Algorithm binomial_tree();
[[nodiscard]] Algorithm two_trees();
[[nodiscard]] Algorithm bruck();
[[nodiscard]] Algorithm direct_all_to_all();
[[nodiscard]] Algorithm two_step_all_to_all();
[[nodiscard]] Algorithm hierarchical();
[[nodiscard]] Algorithm chain_to_next();
[[nodiscard]] Algorithm swing();
[[nodiscard]] Algorithm bine();
[[nodiscard]] Algorithm pat();
[[nodiscard]] Algorithm straggler();
[[nodiscard]] Algorithm pcie_hierarchical();
[[nodiscard]] Algorithm two_socket_chains();
[[nodiscard]] Algorithm pairwise_all_to_all();
[[nodiscard]] Algorithm three_step_all_to_all();
[[nodiscard]] Algorithm mesh_all_reduce();
[[nodiscard]] Algorithm mesh_all_to_all();
[[nodiscard]] Algorithm multi_node_all_pairs();
[[nodiscard]] Algorithm multimem();

/// Copies each rank's own share from input to output; in place that is nothing.
void keep_own_share(Program& program);
/// The rank's own contribution at a place that sums may be written to. Calls that are not in place must not
/// change the input, so there it is copied first: to the output of an all-reduce, else to scratch.
[[nodiscard]] Ref writable(Program& program, std::uint32_t rank, std::uint32_t index, std::uint32_t size = 1);
/// The buffer that writable() uses.
[[nodiscard]] std::uint32_t work_buffer(Program& program);
/// All-reduces among a power of two serve any number of ranks so: those beyond the first `members` hand their
/// data to others before, which are writable then, and get the result back after (Thakur, Rabenseifner and
/// Gropp, IJHPCA 2005, section 4.5).
void fold_rest(Program& program, std::uint32_t members);
void hand_back(Program& program, std::uint32_t members);
/// "" or a refusal.
[[nodiscard]] std::string power_of_two_only(std::uint32_t ranks);

}  // namespace tutti::lang::library
