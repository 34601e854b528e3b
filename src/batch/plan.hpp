#pragma once

#include "batch/task.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::batch {

/// The tasks of a run: every job with every combination of what is varied, instance by instance. A task is
/// made when it is asked for, so that a plan is as large as its jobs and lists, not as their product.
///
/// The key is the job's label, then what is not as usual: "ring/a method=greedy bytes=1048576 seed=2". So a
/// task has the same key whatever else its run varies, and a later run that asks for more finds it again.
class Plan {
  public:
    Plan() = default;
    /// Throws InputError where that were more than kMostTasks. Precondition: the labels of the jobs differ.
    Plan(std::vector<Job> jobs, const Matrix& matrix, Shard shard = {});

    static constexpr std::uint64_t kMostTasks = 1'000'000'000;

    [[nodiscard]] std::size_t size() const { return size_; }

    // Of the task of a number below size().
    [[nodiscard]] Task operator[](std::size_t number) const;
    [[nodiscard]] std::string key(std::size_t number) const;
    [[nodiscard]] const Job& job(std::size_t number) const;
    /// For people: the label, with what is not the same for all tasks.
    [[nodiscard]] std::string name(std::size_t number) const;

    // What the tasks are made of; a shard has only some of the combinations.
    [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }
    [[nodiscard]] std::size_t variants() const { return variants_; }
    [[nodiscard]] Variant variant(std::size_t index) const;
    [[nodiscard]] Shard shard() const { return shard_; }
    /// Of every task.
    [[nodiscard]] unsigned threads() const { return matrix_.threads; }

    /// Numbers that tell tasks apart whose keys or stems would be the same, because a file is called
    /// "a seed=2". 1 is no number.
    struct Numbers {
        unsigned key = 1, stem = 1;
    };
    /// By the place of the task among all combinations: job times variants() plus variant.
    [[nodiscard]] const std::map<std::size_t, Numbers>& clashes() const { return clashes_; }

  private:
    [[nodiscard]] std::size_t place(std::size_t number) const;
    [[nodiscard]] Variant varied(std::size_t index) const;
    [[nodiscard]] std::string details(std::size_t index) const;
    [[nodiscard]] bool may_clash() const;
    void number_clashes();

    std::vector<Job> jobs_;
    Matrix matrix_;  ///< each list without repetitions
    Shard shard_;
    std::size_t variants_ = 1, size_ = 0;
    Told told_;
    std::string option_details_;  ///< what every key says of the options
    std::map<std::size_t, Numbers> clashes_;
};

}  // namespace tutti::batch
