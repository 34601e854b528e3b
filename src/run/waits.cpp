#include "run/waits.hpp"

#include "core/error.hpp"
#include "run/operand_numbers.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace tutti::run {

void set_waits(Executable& executable, std::vector<TaskOrder> orders) {
    std::vector<std::uint32_t> position(executable.tasks.size(), 0);
    for (const Stream& stream : executable.streams) {
        for (std::uint32_t at = 0; at < stream.tasks.size(); ++at) position[stream.tasks[at]] = at;
    }
    std::erase_if(orders, [&](const TaskOrder& order) {
        return executable.tasks[order.before].stream == executable.tasks[order.after].stream;
    });
    std::ranges::sort(orders, {}, [](const TaskOrder& order) {
        return std::pair{order.after, order.before};
    });
    std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> seen(executable.streams.size());
    executable.waits.clear();
    auto next = orders.begin();
    for (std::uint32_t at = 0; at < executable.tasks.size(); ++at) {
        Task& task = executable.tasks[at];
        if (executable.waits.size() >= std::numeric_limits<std::uint32_t>::max())
            throw LimitError("the plan has too many waits to be executed");
        task.first_wait = static_cast<std::uint32_t>(executable.waits.size());
        const auto begin = static_cast<std::ptrdiff_t>(executable.waits.size());
        for (; next != orders.end() && next->after == at; ++next) {
            const Wait wait{executable.tasks[next->before].stream, position[next->before] + 1};
            std::uint32_t& done = seen[task.stream][wait.stream];
            if (done >= wait.done) continue;
            done = wait.done;
            const auto same = std::find_if(executable.waits.begin() + begin, executable.waits.end(),
                                           [&](const Wait& other) { return other.stream == wait.stream; });
            if (same != executable.waits.end()) {
                *same = wait;
            } else {
                executable.waits.push_back(wait);
            }
        }
        task.waits = static_cast<std::uint32_t>(executable.waits.size()) - task.first_wait;
    }
}

void set_data_waits(Executable& executable) {
    constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
    struct Users {
        std::uint32_t writer = kNobody;
        std::vector<std::uint32_t> readers{};  ///< since
    };
    const OperandNumbers numbers(executable);
    std::vector<Users> users(numbers.count());
    std::vector<TaskOrder> orders;
    const auto order = [&](std::uint32_t before, std::uint32_t after) {
        if (before != kNobody && before != after) orders.push_back({before, after});
    };
    for (std::uint32_t task = 0; task < executable.tasks.size(); ++task) {
        const Task& at = executable.tasks[task];
        for (std::uint32_t step = at.first_step; step < at.first_step + at.steps; ++step) {
            for (const Operand& from : executable.sources(executable.steps[step])) {
                Users& known = users[numbers.of(from)];
                order(known.writer, task);
                known.readers.push_back(task);
            }
            for (const Operand& to : executable.targets(executable.steps[step])) {
                Users& known = users[numbers.of(to)];
                order(known.writer, task);
                for (const std::uint32_t reader : known.readers) order(reader, task);
                known = {task, {}};
            }
        }
    }
    set_waits(executable, std::move(orders));
}

}  // namespace tutti::run
