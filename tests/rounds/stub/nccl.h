// As much of NCCL as functions written by tutti need, on MPI: a group is started when it ends, its messages
// together. Written for the tests from NCCL's documentation.
#pragma once

#include "cuda_runtime.h"

#include <mpi.h>

#include <cstddef>
#include <vector>

using ncclComm_t = MPI_Comm*;
enum ncclResult_t {
    ncclSuccess,
    ncclUnhandledCudaError,
    ncclInternalError,
    ncclInvalidArgument,
    ncclInvalidUsage
};
enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg };
enum ncclDataType_t {
    ncclInt8,
    ncclUint8,
    ncclInt32,
    ncclUint32,
    ncclInt64,
    ncclUint64,
    ncclFloat16,
    ncclFloat32,
    ncclFloat64,
    ncclBfloat16
};

inline std::vector<MPI_Request> stub_requests;
inline int stub_groups = 0;
inline int stub_bytes(ncclDataType_t type) {
    constexpr int kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return kBytes[type];
}

inline ncclResult_t ncclGroupStart() {
    ++stub_groups;
    return ncclSuccess;
}
inline ncclResult_t ncclGroupEnd() {
    if (--stub_groups > 0) return ncclSuccess;
    MPI_Waitall(static_cast<int>(stub_requests.size()), stub_requests.data(), MPI_STATUSES_IGNORE);
    stub_requests.clear();
    return ncclSuccess;
}
// Outside of a group a message would wait here for the other side: the tests want groups, and empty ones not.
inline ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                             ncclComm_t comm, cudaStream_t) {
    if (stub_groups != 1 || count == 0) return ncclInvalidUsage;
    stub_requests.emplace_back();
    // Synchronous, as large messages are: a wrong order of rounds hangs.
    MPI_Issend(from, static_cast<int>(count) * stub_bytes(type), MPI_BYTE, peer, 2, *comm,
               &stub_requests.back());
    return ncclSuccess;
}
inline ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                             cudaStream_t) {
    if (stub_groups != 1 || count == 0) return ncclInvalidUsage;
    stub_requests.emplace_back();
    MPI_Irecv(to, static_cast<int>(count) * stub_bytes(type), MPI_BYTE, peer, 2, *comm,
              &stub_requests.back());
    return ncclSuccess;
}
inline ncclResult_t ncclCommCount(ncclComm_t comm, int* ranks) {
    MPI_Comm_size(*comm, ranks);
    return ncclSuccess;
}
inline ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
    MPI_Comm_rank(*comm, rank);
    return ncclSuccess;
}
