#include "tensor/editor.hpp"

#include "tensor/infer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::tensor {

std::string Editor::free_name(const std::string& name) const {
    const auto taken = [&](const std::string& candidate) {
        return std::ranges::any_of(program_.values_, [&](const std::shared_ptr<const Value>& value) {
            return value != nullptr && value->name == candidate;
        });
    };
    std::string candidate = name;
    for (int number = 2; taken(candidate); ++number) candidate = fmt::format("{}{}", name, number);
    return candidate;
}

ValueId Editor::add(Value value) {
    const ValueId id(program_.values_.size());
    program_.values_.push_back(std::make_shared<const Value>(std::move(value)));
    program_.order_.push_back(id);
    changed_.push_back(true);
    return id;
}

Value& Editor::change(ValueId id) {
    std::shared_ptr<const Value>& shared = program_.values_[id.index()];
    auto copy = std::make_shared<Value>(*shared);
    Value& value = *copy;
    shared = std::move(copy);
    changed_[id.index()] = true;
    return value;
}

void Editor::replace_operand(ValueId user, ValueId from, ValueId to) {
    Value& value = change(user);
    for (std::size_t i = value.op == Op::Update ? 1 : 0; i < value.args.size(); ++i) {
        if (value.args[i] == from) value.args[i] = to;
    }
}

void Editor::replace_output(ValueId from, ValueId to) { std::ranges::replace(program_.outputs_, from, to); }

void Editor::sort() {
    enum class State : char { New, Open, Done };
    std::vector<State> state(program_.slots(), State::New);
    std::vector<std::size_t> next(program_.slots());
    std::vector<ValueId> order, path;
    const auto visit = [&](ValueId start) {
        if (state[start.index()] != State::New) return;
        state[start.index()] = State::Open;
        path.push_back(start);
        while (!path.empty()) {
            const ValueId id = path.back();
            const Value& value = program_[id];
            if (next[id.index()] == value.args.size()) {
                state[id.index()] = State::Done;
                order.push_back(id);
                path.pop_back();
                continue;
            }
            const ValueId arg = value.args[next[id.index()]++];
            if (state[arg.index()] == State::Open)
                throw Refusal("order", "it needs itself", program_[arg].name);
            if (state[arg.index()] == State::New) {
                state[arg.index()] = State::Open;
                path.push_back(arg);
            }
        }
    };
    // What is needed: depth first, near the order there was.
    std::vector<bool> needed(program_.slots());
    std::vector<ValueId> waiting = program_.outputs_;
    for (const ValueId id : program_.order_) {
        if (program_[id].op == Op::Update || program_[id].op == Op::Input) waiting.push_back(id);
    }
    while (!waiting.empty()) {
        const ValueId id = waiting.back();
        waiting.pop_back();
        if (needed[id.index()]) continue;
        needed[id.index()] = true;
        for (const ValueId arg : program_[id].args) waiting.push_back(arg);
    }
    for (const ValueId id : program_.order_) {
        if (needed[id.index()]) visit(id);
    }
    for (const ValueId id : program_.order_) {
        if (!needed[id.index()]) program_.values_[id.index()].reset();
    }
    program_.order_ = std::move(order);
}

void Editor::type() {
    std::vector<const Value*> args;
    for (const ValueId id : program_.order_) {
        const Value& value = program_[id];
        const bool stale = changed_[id.index()] || std::ranges::any_of(value.args, [&](ValueId arg) {
                               return changed_[arg.index()];
                           });
        if (!stale) continue;
        args.clear();
        for (const ValueId arg : value.args) args.push_back(&program_[arg]);
        Type type = [&] {
            try {
                return infer(program_.mesh(), value, args);
            } catch (const Refusal& refusal) {
                throw refusal.of_value(value.name);
            }
        }();
        changed_[id.index()] = type != value.type;
        if (!changed_[id.index()]) continue;
        auto copy = std::make_shared<Value>(value);
        copy->type = std::move(type);
        program_.values_[id.index()] = std::move(copy);
    }
}

Program Editor::finish() && {
    sort();
    type();
    return std::move(program_);
}

}  // namespace tutti::tensor
