#include "run/task_graph.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace tutti::run {

TaskGraph::TaskId TaskGraph::add(std::uint32_t worker, std::function<void()> work) {
    const TaskId task = join(std::move(work));
    worker_[task] = worker;
    own_[worker].push_back(task);
    return task;
}

TaskGraph::TaskId TaskGraph::join(std::function<void()> work) {
    work_.push_back(std::move(work));
    worker_.push_back(kNobody);
    signals_.push_back(0);
    return static_cast<TaskId>(work_.size() - 1);
}

void TaskGraph::end_block(std::uint32_t worker) {
    const std::size_t end = own_[worker].size(),
                      begin = block_ends_[worker].empty() ? 0 : block_ends_[worker].back();
    if (end > begin) block_ends_[worker].push_back(end);
}

void TaskGraph::finish(const Change& change) {
    for (std::uint32_t worker = 0; worker < workers(); ++worker) end_block(worker);
    std::ranges::sort(edges_);
    const auto same = std::ranges::unique(edges_);
    edges_.erase(same.begin(), same.end());
    if (change) {
        change(*this, edges_);
        std::ranges::sort(edges_);
    }
    waits_ = signals_;
    first_behind_.assign(tasks() + 1, 0);
    for (const auto& [first, then] : edges_) {
        ++first_behind_[first + 1];
        ++waits_[then];
        behind_.push_back(then);  // edges are in order of their first
    }
    for (std::size_t task = 0; task < tasks(); ++task) first_behind_[task + 1] += first_behind_[task];
    check_order();
}

/// Removes what waits for nothing, again and again. The blocks of a worker are an order, too.
void TaskGraph::check_order() const {
    std::vector<std::uint32_t> waits = waits_;
    for (std::size_t task = 0; task < tasks(); ++task) waits[task] -= signals_[task];
    std::vector<std::vector<TaskId>> behind(tasks());  // gates between blocks come after the tasks
    const auto gate_of = [&](std::span<const TaskId> list, std::size_t begin, std::size_t end,
                             std::size_t next) {
        const auto gate = static_cast<TaskId>(waits.size());
        waits.push_back(static_cast<std::uint32_t>(end - begin));
        std::vector<TaskId> after;
        for (std::size_t at = end; at < next; ++at) {
            after.push_back(list[at]);
            ++waits[list[at]];
        }
        behind.push_back(std::move(after));
        for (std::size_t at = begin; at < end; ++at) behind[list[at]].push_back(gate);
    };
    for (std::size_t worker = 0; worker < workers(); ++worker) {
        const std::vector<std::size_t>& ends = block_ends_[worker];
        for (std::size_t block = 0; block + 1 < ends.size(); ++block)
            gate_of(own_[worker], block == 0 ? 0 : ends[block - 1], ends[block], ends[block + 1]);
    }
    std::vector<TaskId> ready;
    for (TaskId task = 0; task < waits.size(); ++task) {
        if (waits[task] == 0) ready.push_back(task);
    }
    std::size_t done = 0;
    while (!ready.empty()) {
        const TaskId task = ready.back();
        ready.pop_back();
        ++done;
        const auto tell = [&](TaskId then) {
            if (--waits[then] == 0) ready.push_back(then);
        };
        if (task < tasks()) std::ranges::for_each(this->behind(task), tell);
        std::ranges::for_each(behind[task], tell);
    }
    if (done < waits.size()) throw InternalError("the tasks of a program wait for each other in a circle");
}

}  // namespace tutti::run
