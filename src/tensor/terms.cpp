#include "tensor/terms.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace tutti::tensor {
namespace {

/// splitmix64's finalizer.
std::uint64_t scrambled(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
}

class Hasher {
  public:
    void number(std::uint64_t x) {
        hash_.low = scrambled(hash_.low + 0x9E3779B97F4A7C15ULL + x);
        hash_.high = scrambled(hash_.high * 3 + 0xD1B54A32D192ED03ULL + x);
    }
    void number(std::int64_t x) { number(static_cast<std::uint64_t>(x)); }
    void hash(const StructureHash& other) {
        number(other.low);
        number(other.high);
    }
    void text(std::string_view text) {
        number(std::uint64_t{text.size()});
        for (const char c : text) number(std::uint64_t{static_cast<unsigned char>(c)});
    }
    void numbers(const std::vector<std::int64_t>& list) {
        number(std::uint64_t{list.size()});
        for (const std::int64_t x : list) number(x);
    }
    [[nodiscard]] const StructureHash& result() const { return hash_; }

  private:
    StructureHash hash_{0x243F6A8885A308D3ULL, 0x13198A2E03707344ULL};
};

void add_attributes(Hasher& hasher, const Value& value) {
    hasher.number(static_cast<std::uint64_t>(value.op));
    if (value.op == Op::Input) hasher.text(value.name);
    if (kind_of(value.op) == OpKind::Source || value.op == Op::Broadcast || value.op == Op::Reshape)
        hasher.numbers(value.type.shape);
    if (kind_of(value.op) == OpKind::Source || value.op == Op::Cast)
        hasher.number(static_cast<std::uint64_t>(value.type.dtype));
    if (value.op == Op::Input) {
        for (const Layout layout : value.layout) {
            hasher.number(static_cast<std::uint64_t>(layout.kind()));
            hasher.number(std::uint64_t{layout.root()});
        }
    }
    hasher.number(std::bit_cast<std::uint64_t>(value.number));
    hasher.number(value.seed);
    hasher.text(value.spec);
    hasher.numbers(value.dims);
    hasher.number(std::uint64_t{value.keepdims});
    hasher.numbers(value.perm);
    std::vector<AxisId> axes = value.axes;
    std::ranges::sort(axes);
    hasher.number(std::uint64_t{axes.size()});
    for (const AxisId axis : axes) hasher.number(std::uint64_t{axis.value()});
    for (const std::int64_t x : {value.dim, value.root, value.split, value.concat, value.by})
        hasher.number(x);
    hasher.number(static_cast<std::uint64_t>(value.reduction));
}

}  // namespace

std::vector<StructureHash> value_hashes(const Program& program) {
    std::vector<StructureHash> hashes(program.slots());
    for (const ValueId id : program.order()) {
        Hasher hasher;
        add_attributes(hasher, program[id]);
        for (const ValueId arg : program[id].args) hasher.hash(hashes[arg.index()]);
        hashes[id.index()] = hasher.result();
    }
    return hashes;
}

StructureHash structure_hash(const Program& program) {
    const std::vector<StructureHash> hashes = value_hashes(program);
    Hasher hasher;
    for (const ValueId id : program.outputs()) hasher.hash(hashes[id.index()]);
    std::vector<StructureHash> all;
    for (const ValueId id : program.order()) all.push_back(hashes[id.index()]);
    std::ranges::sort(all);
    for (const StructureHash& hash : all) hasher.hash(hash);
    return hasher.result();
}

}  // namespace tutti::tensor
