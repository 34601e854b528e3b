// Which values share memory. A value whose elements are already somewhere (a stack, a slice of rows) is
// there; the operand of a gather, or of a broadcast that only the root has, is made inside the result, so
// that the own part is not copied; and the new value of a state is made in the state's memory if every reader
// of the old one comes before: in an earlier stage, or in the same loop, at the same element, in the same
// step or an earlier one. What is left gets memory for the stages in which it lives, the smallest free
// stretch that is large enough. Ranks read each other's memory only within a stage, and a stage begins when
// all that it exchanges with have ended the one before, so stages are the only times there are.

#include "run/memory_plan.hpp"

#include "run/exchange.hpp"
#include "tensor/dimensions.hpp"
#include "tensor/parts.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace tutti::run {

using tensor::Layouts, tensor::Mesh, tensor::Op, tensor::OpKind, tensor::Program, tensor::Type, tensor::Value,
    tensor::ValueId;
using Kind = ProgramPart::Kind;

namespace {

constexpr std::size_t kAligned = 64;
/// Values whose sizes are powers of two would begin in the same sets of the caches, of which a loop reads and
/// writes several at once: Adam of 4M elements took twice as long. Large ones are so far apart.
constexpr std::size_t kApart = 17 * kAligned, kLarge = std::size_t{1} << 14U;

/// Whether every rank's part of the one is a stretch of neighbours in its part of the other.
bool is_stretch(const Mesh& mesh, const Type& part, const Type& whole) {
    if (part.shape != whole.shape) return false;
    std::size_t d = 0;
    while (d < part.rank() && tensor::part_size(mesh, part, d) == 1) ++d;
    for (++d; d < part.rank(); ++d) {
        if (slicing_axes(part, d) != slicing_axes(whole, d)) return false;
    }
    return true;
}

/// Where a rank's part of a value begins in its part of another.
std::int64_t begin_inside(const Mesh& mesh, const Type& part, const Type& whole, std::int64_t rank) {
    const std::vector<std::int64_t> at = mesh.coordinates(rank);
    const std::vector<tensor::Interval> inner = held_box(mesh, part, at), outer = held_box(mesh, whole, at);
    const std::vector<std::int64_t> strides = row_major_strides(sizes_of(outer));
    std::int64_t begin = 0;
    for (std::size_t d = 0; d < inner.size(); ++d) {
        if (inner[d].size() == 0) return 0;
        begin += (inner[d].begin - outer[d].begin) * strides[d];
    }
    return begin;
}

}  // namespace

bool is_generated(const Value& value) {
    return value.op == Op::Uniform || value.op == Op::Iota || value.op == Op::Constant;
}

MemoryPlan::MemoryPlan(const Program& program, const std::vector<ProgramStage>& stages, Precision precision,
                       const RunFaults* faults)
    : program_(program),
      stages_(stages),
      users_(program),
      precision_(precision),
      faults_(faults),
      is_stored_(program.slots()),
      is_done_(program.slots()),
      root_offset_(program.slots()) {
    find_places();
    find_stored();
    add_generated();
    alias_words();
    alias_gathers();
    alias_updates();
    allocate();
}

bool MemoryPlan::is_output(ValueId id) const { return contains(program_.outputs(), id); }

void MemoryPlan::find_places() {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        for (const ProgramStage::Level& level : stages_[s].levels) {
            for (const ProgramPart& part : level.parts) {
                for (std::size_t step = 0; step < part.values.size(); ++step)
                    place_[part.values[step]] = {s, step, &part};
                if (part.head) place_[*part.head] = {s, 0, &part};
                for (const ValueId tail : part.tails) place_[tail] = {s, part.values.size(), &part};
            }
        }
    }
}

void MemoryPlan::find_stored() {
    for (const ValueId id : program_.order()) {
        const Value& value = program_[id];
        if (is_generated(value)) continue;
        const auto place = place_.find(id);
        bool stored = true;
        if (place != place_.end() && place->second.part->head == id) {
            stored = false;
        } else if (is_pointwise(value.op)) {
            stored = is_output(id) || std::ranges::any_of(users_[id], [&](ValueId user) {
                         return !contains(place->second.part->values, user);
                     });
        }
        is_stored_[id.index()] = stored;
    }
}

/// What loops read as numbers is not there.
void MemoryPlan::add_generated() {
    for (const auto& [id, place] : place_) {
        const Value& value = program_[id];
        for (std::size_t k = 0; k < value.args.size(); ++k) {
            const Value& arg = program_[value.args[k]];
            if (!is_generated(arg) || (is_pointwise(value.op) && arg.op == Op::Constant)) continue;
            const Layouts layout = is_collective(value.op) ? arg.type.layout
                                   : value.op == Op::Slice ? value.type.layout
                                                           : read_type(program_, value, k).layout;
            generated_[{value.args[k], layout}] = 0;
        }
    }
}

ValueId MemoryPlan::root_of(ValueId id) const {
    for (auto found = alias_.find(id); found != alias_.end(); found = alias_.find(id)) id = found->second.of;
    return id;
}

void MemoryPlan::alias_words() {
    for (const ValueId id : program_.order()) {
        const Value& value = program_[id];
        const bool is_words = value.op == Op::Stack || value.op == Op::Unstack || value.op == Op::Reshape;
        if ((!is_words && value.op != Op::Slice) || is_generated(program_[value.args[0]])) continue;
        const Value& root = program_[root_of(value.args[0])];
        const bool is_state = root.op == Op::Input && root.state;
        if (value.op == Op::Reshape && is_state) continue;  // no order makes it a reader of the old state
        if (value.op == Op::Slice && !is_stretch(program_.mesh(), value.type, program_[value.args[0]].type))
            continue;
        alias_.insert({id, {value.args[0], value.op == Op::Slice}});
        is_done_[id.index()] = true;
    }
}

void MemoryPlan::alias_gathers() {
    for (const ValueId id : program_.order()) {
        const Value& value = program_[id];
        if (value.op != Op::AllGather && value.op != Op::BroadcastFrom) continue;
        const ValueId operand = value.args[0];
        const Value& made = program_[operand];
        if (kind_of(made.op) == OpKind::Source || made.op == Op::Update || alias_.contains(operand)) continue;
        if (value.op == Op::BroadcastFrom && !only_root_has_operand(program_, id)) continue;
        if (is_stretch(program_.mesh(), made.type, value.type)) alias_.insert({operand, {id, true}});
    }
}

/// Those of the state, and of other words for it.
std::vector<ValueId> MemoryPlan::readers_of_memory(ValueId state) const {
    std::vector<ValueId> same{state}, readers;
    for (std::size_t i = 0; i < same.size(); ++i) {
        for (const ValueId reader : users_[same[i]]) {
            if (alias_.contains(reader) && is_done_[reader.index()] && program_[reader].op != Op::Update) {
                same.push_back(reader);
            } else {
                readers.push_back(reader);
            }
        }
    }
    return readers;
}

void MemoryPlan::alias_updates() {
    for (const ValueId id : program_.order()) {
        const Value& update = program_[id];
        if (update.op != Op::Update) continue;
        const ValueId state = update.args[0], made = update.args[1];
        if (may_overwrite(state, id)) {
            alias_.insert({made, {state, false}});
            alias_.insert({id, {state, false}});
            is_done_[id.index()] = true;
        } else if (may_copy(state, id)) {
            alias_.insert({id, {state, false}});
        } else if (!is_generated(program_[made])) {  // the state keeps its old value
            alias_.insert({id, {made, false}});
            is_done_[id.index()] = true;
        }
    }
}

bool MemoryPlan::may_overwrite(ValueId state, ValueId update) const {
    const ValueId made = program_[update].args[1];
    const Value& value = program_[made];
    if (kind_of(value.op) == OpKind::Source || value.op == Op::Update || alias_.contains(made)) return false;
    if (value.type != program_[state].type) return false;
    // The first thing that is written there: of a gather what is made inside it.
    ValueId writer = made;
    for (const auto& [part, alias] : alias_) {
        if (alias.of == made && alias.is_inside && !is_done_[part.index()] &&
            place_.at(part).stage <= place_.at(writer).stage)
            writer = part;
    }
    const Place& first = place_.at(writer);
    std::vector<ValueId> memory{state};
    for (const auto& [words, alias] : alias_) {
        if (root_of(words) == state) memory.push_back(words);
    }
    if (std::ranges::any_of(memory, [&](ValueId words) { return is_output(words); })) return false;
    return std::ranges::all_of(readers_of_memory(state), [&](ValueId reader) {
        if (reader == update) return true;
        const Place& at = place_.at(reader);
        if (at.stage != first.stage) return at.stage < first.stage;
        return first.part->kind == Kind::Loop && contains(first.part->values, reader) &&
               contains(first.part->values, writer) && at.step <= first.step &&
               reads_own_elements(reader, memory, program_[writer].type);
    });
}

bool MemoryPlan::reads_own_elements(ValueId reader, const std::vector<ValueId>& memory,
                                    const Type& loop) const {
    const Value& value = program_[reader];
    for (std::size_t k = 0; k < value.args.size(); ++k) {
        if (!contains(memory, value.args[k])) continue;
        const Type read = read_type(program_, value, k);
        if (read.shape != loop.shape || read.layout != loop.layout) return false;
    }
    return true;
}

bool MemoryPlan::may_copy(ValueId state, ValueId update) const {
    const Place& place = place_.at(update);
    for (const ValueId words : program_.outputs()) {
        if (root_of(words) == state && words != update) return false;
    }
    return std::ranges::all_of(readers_of_memory(state), [&](ValueId reader) {
        return reader == update || place_.at(reader).stage < place.stage;
    });
}

std::size_t MemoryPlan::bytes_of_part(const Type& type) const {
    const auto elements = static_cast<std::size_t>(tensor::part_elements(program_.mesh(), type));
    const std::size_t bytes = elements * bytes_of(storage_of(type.dtype, precision_));
    return std::max((bytes + kAligned - 1) / kAligned, std::size_t{1}) * kAligned +
           (bytes >= kLarge ? kApart : 0);
}

void MemoryPlan::allocate() {
    const auto lasting = [&](std::size_t& offset, const Type& type) {
        offset = bytes_;
        bytes_ += bytes_of_part(type);
    };
    for (auto& [key, offset] : generated_) {
        Type type = program_[key.first].type;
        type.layout = key.second;
        lasting(offset, type);
    }
    struct Life {
        std::size_t first = std::numeric_limits<std::size_t>::max(), last = 0;
    };
    std::map<ValueId, Life> lives;
    for (const ValueId id : program_.order()) {
        const Value& value = program_[id];
        if (value.op == Op::Input) lasting(root_offset_[id.index()], value.type);
        const ValueId root = root_of(id);
        if (!has(id) || program_[root].op == Op::Input || is_generated(program_[root])) continue;
        Life& life = lives[root];
        const auto live_at = [&](std::size_t stage) {
            life.first = std::min(life.first, stage);
            life.last = std::max(life.last, stage);
        };
        if (const auto place = place_.find(id); place != place_.end()) live_at(place->second.stage);
        for (const ValueId user : users_[id]) {
            if (const auto place = place_.find(user); place != place_.end()) live_at(place->second.stage);
        }
        if (is_output(id) || value.op == Op::Update) life.last = stages_.size();
    }
    if (faults_ != nullptr && faults_->life) {
        for (auto& [id, life] : lives) faults_->life(id, life.first, life.last);
    }
    scratch_begin_ = bytes_;
    std::vector<std::pair<std::size_t, ValueId>> order;
    for (const auto& [id, life] : lives) order.emplace_back(life.first, id);
    std::ranges::sort(order);
    struct Used {
        std::size_t begin = 0, end = 0, last = 0;
    };
    std::vector<Used> used;  // in order of begin
    for (const auto& [first, id] : order) {
        std::erase_if(used, [at = first](const Used& stretch) { return stretch.last < at; });
        const std::size_t bytes = bytes_of_part(program_[id].type);
        std::size_t best = std::numeric_limits<std::size_t>::max(), begin = scratch_begin_,
                    at = scratch_begin_;
        for (const Used& stretch : used) {
            const std::size_t room = stretch.begin - at;
            if (room >= bytes && room < best) {
                best = room;
                begin = at;
            }
            at = stretch.end;
        }
        if (best == std::numeric_limits<std::size_t>::max()) begin = at;
        used.push_back({begin, begin + bytes, lives[id].last});
        std::ranges::sort(used, {}, &Used::begin);
        root_offset_[id.index()] = begin;
        bytes_ = std::max(bytes_, begin + bytes);
    }
}

std::size_t MemoryPlan::offset(ValueId id, std::int64_t rank) const {
    std::size_t offset = 0;
    const ValueId value = id;
    for (auto found = alias_.find(id); found != alias_.end(); found = alias_.find(id)) {
        const Alias& alias = found->second;
        if (alias.is_inside) {
            const Type& type = program_[id].type;
            offset +=
                static_cast<std::size_t>(begin_inside(program_.mesh(), type, program_[alias.of].type, rank)) *
                bytes_of(storage_of(type.dtype, precision_));
        }
        id = alias.of;
    }
    offset += root_offset_[id.index()];
    return faults_ != nullptr && faults_->offset ? faults_->offset(value, rank, offset) : offset;
}

}  // namespace tutti::run
