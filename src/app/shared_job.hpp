#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tutti::app {

/// An array of the caller.
struct JobArray {
    std::byte* data = nullptr;
    std::int64_t elements = 0;
};

/// Processes of one machine, started by anybody, that call plans together: each is one rank. What they say
/// must be the same in all, as with MPI; where it is not, all get the same InputError.
///
/// A process that ends makes the calls of the others fail with a run::LostPeerError. Memory that they share
/// has no name and is gone with the last of them.
class SharedJob {
  public:
    /// Returns when all are there. `check` is called now and then in all calls, and may throw to end them.
    /// Throws InputError where numbers are wrong, LimitError if the others do not come within `seconds`.
    SharedJob(const std::string& job, std::uint32_t process, std::uint32_t processes, double seconds,
              std::function<void()> check);
    ~SharedJob();
    SharedJob(const SharedJob&) = delete;
    SharedJob& operator=(const SharedJob&) = delete;

    /// Memory that the others reach: calls whose arrays all lie in such memory need no copies.
    [[nodiscard]] std::byte* allocate(std::size_t bytes);
    void free(std::byte* memory);

    /// Judges a plan; its number for run(). Throws InputError.
    [[nodiscard]] std::size_t load(const std::string& file);
    /// Calls a plan. `output` null: in place, and `input` is the larger of the two buffers; else inputs are
    /// not changed. `type` and `op` by name (run::element_type, run::reduction), `engine` "pieces" or
    /// "streams" (which only shared arrays can).
    void run(std::size_t plan, JobArray input, const JobArray* output, const std::string& type,
             const std::string& op, const std::string& engine);
    /// Waits for all.
    void meet();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::app
