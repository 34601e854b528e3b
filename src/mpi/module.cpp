// The module tutti_mpi.so: a MPI library behind run::MpiLibrary.

#include "mpi/types.hpp"
#include "run/mpi_interface.hpp"

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tutti::mpi {
namespace {

class Library : public run::MpiLibrary {
  public:
    Library() {
        int initialised = 0;
        MPI_Initialized(&initialised);
        int provided = 0;  // ranks of tensor programs have threads, which take turns
        if (initialised == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
        MPI_Comm_dup(MPI_COMM_WORLD, &world_);
        MPI_Comm_rank(world_, &process_);
        MPI_Comm_size(world_, &processes_);
        MPI_Comm near{};
        MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
        int neighbours = 0;
        MPI_Comm_size(near, &neighbours);
        MPI_Comm_free(&near);
        on_one_machine_ = sum(neighbours == processes_ ? 0 : 1) == 0;
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(text, &length);
        version_.assign(text, static_cast<std::size_t>(length));
        version_ = version_.substr(0, version_.find_first_of(",\n"));
    }
    ~Library() override {
        MPI_Comm_free(&world_);
        MPI_Finalize();
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    std::uint32_t process() const override { return static_cast<std::uint32_t>(process_); }
    std::uint32_t processes() const override { return static_cast<std::uint32_t>(processes_); }
    bool on_one_machine() const override { return on_one_machine_; }
    const char* version() const override { return version_.c_str(); }

    void barrier() override { MPI_Barrier(world_); }
    void broadcast(void* data, std::size_t bytes) override {
        MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, world_);
    }
    std::uint64_t sum(std::uint64_t number) override {
        std::uint64_t all = 0;
        MPI_Allreduce(&number, &all, 1, MPI_UINT64_T, MPI_SUM, world_);
        return all;
    }
    void abort() override { MPI_Abort(world_, 1); }

    Request send(const std::byte* data, std::size_t bytes, std::uint32_t to, std::uint32_t tag) override {
        const Request request = free_request();
        MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, static_cast<int>(to), static_cast<int>(tag),
                  world_, &requests_[request]);
        return request;
    }
    Request receive(std::byte* data, std::size_t bytes, std::uint32_t from, std::uint32_t tag) override {
        const Request request = free_request();
        MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, static_cast<int>(from), static_cast<int>(tag),
                  world_, &requests_[request]);
        return request;
    }
    bool done(Request request) override {
        int flag = 0;
        MPI_Test(&requests_[request], &flag, MPI_STATUS_IGNORE);
        if (flag != 0) free_.push_back(request);
        return flag != 0;
    }
    std::uint32_t most_tags() const override {
        void* value = nullptr;
        int found = 0;
        MPI_Comm_get_attr(world_, MPI_TAG_UB, &value, &found);
        return found != 0 ? static_cast<std::uint32_t>(*static_cast<int*>(value)) : 32767;
    }

    bool call(CollectiveKind kind, const std::byte* input, std::byte* output, std::size_t count,
              run::ElementType type, run::Operator op, std::uint32_t root) override {
        const MPI_Datatype datatype = datatype_of(type);
        const MPI_Op operation = op_of(op);
        const bool is_copied = kind == CollectiveKind::AllGather || kind == CollectiveKind::AllToAll ||
                               kind == CollectiveKind::Broadcast;
        if (datatype == MPI_DATATYPE_NULL || (operation == MPI_OP_NULL && !is_copied)) return false;
        if (count > static_cast<std::size_t>(std::numeric_limits<int>::max())) return false;
        const int number = static_cast<int>(count);
        const void* const from = input == output ? MPI_IN_PLACE : static_cast<const void*>(input);
        switch (kind) {
            case CollectiveKind::AllReduce:
                return MPI_Allreduce(from, output, number, datatype, operation, world_) == MPI_SUCCESS;
            case CollectiveKind::AllGather:
                return MPI_Allgather(from, number, datatype, output, number, datatype, world_) == MPI_SUCCESS;
            case CollectiveKind::ReduceScatter:
                return MPI_Reduce_scatter_block(from, output, number, datatype, operation, world_) ==
                       MPI_SUCCESS;
            case CollectiveKind::AllToAll:
                return MPI_Alltoall(from, number, datatype, output, number, datatype, world_) == MPI_SUCCESS;
            case CollectiveKind::Broadcast:
                return MPI_Bcast(output, number, datatype, static_cast<int>(root), world_) == MPI_SUCCESS;
            default:
                return false;
        }
    }

  private:
    Request free_request() {
        if (free_.empty()) {
            requests_.push_back(MPI_REQUEST_NULL);
            return requests_.size() - 1;
        }
        const Request request = free_.back();
        free_.pop_back();
        return request;
    }

    MPI_Comm world_ = MPI_COMM_NULL;
    int process_ = 0, processes_ = 1;
    bool on_one_machine_ = false;
    std::string version_;
    std::vector<MPI_Request> requests_;
    std::vector<Request> free_;
};

}  // namespace
}  // namespace tutti::mpi

extern "C" tutti::run::MpiLibrary* tutti_open_mpi(const char* interface) {
    if (std::string_view(interface) != tutti::run::kMpiInterface) return nullptr;
    return new tutti::mpi::Library();
}

static_assert(std::is_same_v<decltype(tutti_open_mpi), tutti::run::MpiModuleFunction>);
