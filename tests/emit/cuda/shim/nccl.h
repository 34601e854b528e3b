#pragma once

// NCCL between processes by files in one folder: each message is a file, written under another name and
// renamed. A message of another size than the one that is expected is an error.

#include "cuda_bf16.h"
#include "cuda_runtime.h"

#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

enum ncclResult_t { ncclSuccess };
enum ncclDataType_t { ncclFloat64, ncclFloat32, ncclFloat16, ncclBfloat16, ncclInt64, ncclInt32, ncclUint32, ncclInt8, ncclUint8 };
enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin };
struct ncclUniqueId {
    char internal[128];
};
struct ncclConfig_t {};
inline const char* ncclGetErrorString(ncclResult_t) { return "no error"; }

namespace shim {

struct Comm {
    std::string name;
    int rank = 0, size = 1;
    long calls = 0;
    std::map<int, long> sent{}, received{};
};
inline int open_groups = 0;
struct Call {
    std::function<void()> publish, finish;
};
inline std::map<Stream*, std::vector<Call>> group;

inline std::size_t size_of(ncclDataType_t type) {
    constexpr std::size_t kSizes[] = {8, 4, 2, 2, 8, 4, 4, 1, 1};
    return kSizes[type];
}
inline void write(const std::string& name, const void* data, std::size_t bytes) {
    std::ofstream file(name + ".new", std::ios::binary);
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    file.close();
    if (!file || std::rename((name + ".new").c_str(), name.c_str()) != 0) fail("a message cannot be written");
}
inline std::string read(const std::string& name, std::size_t bytes) {
    for (int wait = 0; wait < 300000; ++wait) {
        std::ifstream file(name, std::ios::binary);
        if (file) {
            std::ostringstream text;
            text << file.rdbuf();
            if (text.str().size() != bytes) fail("a message of another size than expected");
            return text.str();
        }
        usleep(100);
    }
    fail("a message does not come");
}
template <class F>
void with_type(ncclDataType_t type, const F& f) {
    if (type == ncclFloat64) f(double{});
    if (type == ncclFloat32) f(float{});
    if (type == ncclFloat16) f(__half{});
    if (type == ncclBfloat16) f(__nv_bfloat16{});
    if (type == ncclInt64) f(std::int64_t{});
    if (type == ncclInt32) f(std::int32_t{});
    if (type == ncclUint32) f(std::uint32_t{});
    if (type == ncclInt8) f(std::int8_t{});
    if (type == ncclUint8) f(std::uint8_t{});
}
template <class T>
T wide(T x) {
    return x;
}
inline float wide(__half x) { return __half2float(x); }
inline float wide(__nv_bfloat16 x) { return __bfloat162float(x); }

inline void add_up(char* to, const char* with, std::size_t count, ncclDataType_t type, ncclRedOp_t op) {
    with_type(type, [&](auto number) {
        using T = decltype(number);
        T* const a = reinterpret_cast<T*>(to);
        std::vector<T> b(count);
        std::memcpy(b.data(), with, count * sizeof(T));
        for (std::size_t i = 0; i < count; ++i) {
            const auto x = wide(a[i]), y = wide(b[i]);
            a[i] = T(op == ncclSum ? x + y : op == ncclProd ? x * y : op == ncclMax ? std::max(x, y) : std::min(x, y));
        }
    });
}
inline void enqueue(Stream* stream, Call call) {
    group[stream].push_back(std::move(call));
    if (open_groups > 0) return;
    const auto calls = std::exchange(group[stream], {});
    push(stream, [calls] {
        for (const Call& one : calls) one.publish();
        for (const Call& one : calls) one.finish();
    });
}
/// Everybody publishes what it has; `f` gets what all have published.
template <class F>
void collective(Comm* comm, Stream* stream, const void* send, std::size_t bytes, F f) {
    const std::string name = comm->name + "." + std::to_string(comm->calls++) + ".";
    enqueue(stream, {[=] { write(name + std::to_string(comm->rank), send, bytes); },
                     [=] {
                         std::vector<std::string> all;
                         for (int rank = 0; rank < comm->size; ++rank) all.push_back(read(name + std::to_string(rank), bytes));
                         f(all);
                     }});
}

}  // namespace shim

using ncclComm_t = shim::Comm*;
inline ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    const char* const folder = std::getenv("TMPDIR");
    std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/nccl-XXXXXX";
    if (mkdtemp(path.data()) == nullptr || path.size() >= sizeof id->internal) shim::fail("no folder for messages");
    std::strcpy(id->internal, path.c_str());
    return ncclSuccess;
}
inline ncclResult_t ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
    *comm = new shim::Comm{std::string(id.internal) + "/world", rank, size};
    shim::write((*comm)->name + ".here." + std::to_string(rank), "", 0);
    for (int other = 0; other < size; ++other) shim::read((*comm)->name + ".here." + std::to_string(other), 0);
    return ncclSuccess;
}
inline ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t*) {
    const int mine[2] = {color, key};
    const std::string name = comm->name + "." + std::to_string(comm->calls++) + ".";
    shim::write(name + std::to_string(comm->rank), mine, sizeof mine);
    std::vector<std::pair<int, int>> members;
    for (int rank = 0; rank < comm->size; ++rank) {
        const std::string text = shim::read(name + std::to_string(rank), sizeof mine);
        int theirs[2];
        std::memcpy(theirs, text.data(), sizeof theirs);
        if (theirs[0] == color) members.emplace_back(theirs[1], rank);
    }
    std::sort(members.begin(), members.end());
    *part = new shim::Comm{name + "color" + std::to_string(color), 0, static_cast<int>(members.size())};
    while (members[static_cast<std::size_t>((*part)->rank)].second != comm->rank) ++(*part)->rank;
    return ncclSuccess;
}
inline ncclResult_t ncclGroupStart() {
    ++shim::open_groups;
    return ncclSuccess;
}
inline ncclResult_t ncclGroupEnd() {
    if (--shim::open_groups > 0) return ncclSuccess;
    for (auto& [stream, calls] : shim::group) {
        const auto together = std::exchange(calls, {});
        if (together.empty()) continue;
        shim::push(stream, [together] {
            for (const shim::Call& one : together) one.publish();
            for (const shim::Call& one : together) one.finish();
        });
    }
    return ncclSuccess;
}
inline ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    const std::size_t bytes = count * shim::size_of(type);
    shim::collective(comm, stream, send, bytes, [=](std::vector<std::string>& all) {
        for (std::size_t rank = 1; rank < all.size(); ++rank) shim::add_up(all[0].data(), all[rank].data(), count, type, op);
        std::memcpy(receive, all[0].data(), bytes);
    });
    return ncclSuccess;
}
inline ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
    const std::size_t bytes = count * shim::size_of(type);
    shim::collective(comm, stream, send, bytes, [=](std::vector<std::string>& all) {
        for (std::size_t rank = 1; rank < all.size(); ++rank) shim::add_up(all[0].data(), all[rank].data(), count, type, op);
        if (comm->rank == root) std::memcpy(receive, all[0].data(), bytes);
    });
    return ncclSuccess;
}
inline ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
    const std::size_t bytes = count * shim::size_of(type);
    shim::collective(comm, stream, send, bytes, [=](std::vector<std::string>& all) { std::memcpy(receive, all[static_cast<std::size_t>(root)].data(), bytes); });
    return ncclSuccess;
}
inline ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    const std::size_t bytes = count * shim::size_of(type), all_bytes = bytes * static_cast<std::size_t>(comm->size);
    shim::collective(comm, stream, send, all_bytes, [=](std::vector<std::string>& all) {
        for (std::size_t rank = 1; rank < all.size(); ++rank)
            shim::add_up(all[0].data(), all[rank].data(), count * static_cast<std::size_t>(comm->size), type, op);
        std::memcpy(receive, all[0].data() + bytes * static_cast<std::size_t>(comm->rank), bytes);
    });
    return ncclSuccess;
}
inline ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
    const std::size_t bytes = count * shim::size_of(type);
    shim::collective(comm, stream, send, bytes, [=](std::vector<std::string>& all) {
        for (std::size_t rank = 0; rank < all.size(); ++rank) std::memcpy(static_cast<char*>(receive) + rank * bytes, all[rank].data(), bytes);
    });
    return ncclSuccess;
}
inline std::string between(ncclComm_t comm, int from, int to, long number) {
    return comm->name + ".from" + std::to_string(from) + ".to" + std::to_string(to) + "." + std::to_string(number);
}
inline ncclResult_t ncclSend(const void* send, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
    const std::string name = between(comm, comm->rank, peer, comm->sent[peer]++);
    shim::enqueue(stream, {[=] { shim::write(name, send, count * shim::size_of(type)); }, [] {}});
    return ncclSuccess;
}
inline ncclResult_t ncclRecv(void* receive, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
    const std::string name = between(comm, peer, comm->rank, comm->received[peer]++);
    const std::size_t bytes = count * shim::size_of(type);
    shim::enqueue(stream, {[] {}, [=] { std::memcpy(receive, shim::read(name, bytes).data(), bytes); }});
    return ncclSuccess;
}
