#pragma once

#include "core/collective.hpp"
#include "io/group_json.hpp"

#include <string>
#include <vector>

namespace tutti::io {

/// What may be a name of an instance or a collective's id.
[[nodiscard]] std::string read_name(const JsonView& view);
[[nodiscard]] Forwarding read_forwarding(const JsonView& view);

/// Reads the list `collectives`. A collective on a family is one for each of its groups, with ids like
/// "ag[3]".
class CollectiveReader {
  public:
    /// `usual` is the forwarding of those that give none. Topology and groups must outlive this.
    CollectiveReader(const TopologyParts& topology, GroupTable& groups, Forwarding usual)
        : topology_(topology), groups_(groups), usual_(usual) {}

    /// Reads the next one of the file. Throws InputError.
    void add(const JsonView& view);
    /// All that were read.
    [[nodiscard]] std::vector<Collective> take() { return std::move(all_); }

    /// The same error, said of a collective of the file where its place is one of those that were taken.
    [[nodiscard]] InputError in_file(const InputError& error) const;

  private:
    void expect_room(const JsonView& view, const Collective& collective, std::size_t count) const;

    const TopologyParts& topology_;
    GroupTable& groups_;
    Forwarding usual_;
    std::vector<Collective> all_;
    std::vector<std::size_t> origins_;  ///< which one of the file each of them is
    std::size_t in_file_ = 0;
};

[[nodiscard]] Json npu_numbers(const std::vector<NodeId>& nodes);
[[nodiscard]] Json write_collective(const Collective& collective, const std::string& group);

}  // namespace tutti::io
