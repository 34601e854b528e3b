#pragma once

#include "app/watch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tutti::app {

/// One array of each rank, in the caller's memory.
struct RankArrays {
    std::vector<std::byte*> data{};        ///< by rank
    std::vector<std::int64_t> elements{};  ///< likewise
};

/// A plan that is called on the caller's arrays, in this process, as often as is wanted.
class ArrayPlan {
  public:
    /// Throws InputError where the file is no plan that is right and can run in this mode.
    ArrayPlan(const std::string& file, bool in_place, unsigned threads, const Watch& watch);
    ~ArrayPlan();
    ArrayPlan(const ArrayPlan&) = delete;
    ArrayPlan& operator=(const ArrayPlan&) = delete;

    [[nodiscard]] std::int32_t ranks() const;

    /// In place only `buffers` are used, out of place the inputs and the outputs; then inputs are not
    /// changed. `type` and `op` by name (run::element_type, run::reduction), `engine` "pieces" or "streams".
    /// Calls from several threads wait for each other. Throws InputError where numbers of arrays or elements
    /// do not fit, and for unknown names.
    void run(const RankArrays& buffers, const RankArrays* outputs, const std::string& type,
             const std::string& op, const std::string& engine);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::app
