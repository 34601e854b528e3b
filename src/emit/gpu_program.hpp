#pragma once

/// What a CUDA program that `tutti convert --to cuda` writes stands on: one process for each GPU, two streams
/// (gpu_streams.hpp), and collectives by NCCL. It needs CUDA 12 or newer, NCCL 2.18 or newer, cuBLAS, and
/// rank_program.hpp, which has the layouts.
///
/// What is packed before a message and unpacked behind it is done by the stream of messages.
///
/// Sizes that do not divide. Parts of one dimension are ceil(size / n), the last shorter or empty: gathers
/// and reduce-scatters are padded to the size of the first part, other messages are of what there is.

#include "emit/gpu_streams.hpp"

namespace tutti::gpu {

/// How a chain of kernels is cut: the finest parts of its dimension, which these axes make, are cut into
/// `count` pieces of `piece` elements (the last is shorter). Within the chain all parts of a piece have one
/// size, so that nothing in it needs padding: what is behind the end of a part is never used.
struct Pieces {
    std::vector<std::size_t> axes{};
    Size part = 0, piece = 0, count = 0;
    Size length(Size p) const { return std::min(piece, part - p * piece); }
};

class Rank : public Streams {
  public:
    Rank(const Mesh& mesh, Size number, ncclComm_t world, const std::vector<std::vector<std::size_t>>& groups)
        : team_(mesh), place_(team_, number), world_(world) {
        for (const std::vector<std::size_t>& axes : groups) {
            Group& group = groups_[axes];
            for (Size other = 0; other < mesh.ranks(); ++other) {
                if (!differs_only(other, axes)) continue;
                if (other == number) group.position = static_cast<int>(group.members.size());
                group.members.push_back(other);
            }
            check(ncclCommSplit(world_, static_cast<int>(group.members.front()), group.position, &group.comm,
                                nullptr));
        }
    }

    const ranks::Rank& place() const { return place_; }
    Shape local(const Type& type) const { return place_.local(type); }

    /// Until everything is done on this GPU; with `together`, on all.
    void wait(bool together) {
        if (together) {
            check(ncclAllReduce(meeting(), meeting(), 1, ncclInt32, ncclSum, world_, streams_[kNetwork]));
        }
        check(cudaDeviceSynchronize());
    }

    template <class T>
    Array<T> filled(const Type& type, Number<T> with) {
        Array<T> out = made<T>(local(type));
        launch(kCompute, fill_elements<T>, product(out.shape), out.data, with);
        return finished(kCompute, out);
    }
    template <class T>
    Array<T> uniform(const Type& type, std::uint64_t seed) {
        Array<T> out = made<T>(local(type));
        launch(kCompute, draw_elements<T>, product(out.shape), out.data, numbering(type), seed);
        return finished(kCompute, out);
    }
    template <class T>
    Array<T> iota(const Type& type, std::size_t dim) {
        Array<T> out = made<T>(local(type));
        launch(kCompute, count_elements<T>, product(out.shape), out.data, numbering(type, dim));
        return finished(kCompute, out);
    }
    Numbering numbering(const Type& type) const { return numbering(type, strides_of(type.shape)); }
    Numbering numbering(const Type& type, std::size_t dim) const {
        Shape strides(type.shape.size(), 0);
        strides[dim] = 1;
        return numbering(type, strides);
    }

    /// The part that the rank has of `to`, out of its part of `from`.
    template <class T>
    Array<T> cut(const Array<T>& in, const Type& from, const Type& to) const {
        return boxed(in, within(place_.box(to), place_.box(from)));
    }

    // Collectives. Those between begin_group and end_group are one call of NCCL.

    void begin_group() {
        if (groups_open_++ == 0) check(ncclGroupStart());
    }
    void end_group() {
        if (--groups_open_ > 0) return;
        check(ncclGroupEnd());
        for (const std::function<void()>& work : behind_) work();
        behind_.clear();
    }
    template <class T>
    Array<T> all_reduce(const Array<T>& in, const std::vector<std::size_t>& axes, Reduction kind) {
        const Array<T> from = packed(in);
        Array<T> out = made<T>(in.shape);
        begin_group();
        check(ncclAllReduce(from.data, out.data, count(out), nccl_type<T>(), nccl_op<T>(kind), comm(axes),
                            streams_[kNetwork]));
        return ended(out);
    }
    /// What the others get has no meaning, and nothing that matters is computed of it.
    template <class T>
    Array<T> reduce_to(const Array<T>& in, const std::vector<std::size_t>& axes, Size root, Reduction kind) {
        const Array<T> from = packed(in);
        Array<T> out = made<T>(in.shape);
        begin_group();
        check(ncclReduce(from.data, out.data, count(out), nccl_type<T>(), nccl_op<T>(kind), at(axes, root),
                         comm(axes), streams_[kNetwork]));
        return ended(out);
    }
    template <class T>
    Array<T> broadcast_from(const Array<T>& in, const std::vector<std::size_t>& axes, Size root) {
        const Array<T> from = packed(in);
        Array<T> out = made<T>(in.shape);
        begin_group();
        check(ncclBroadcast(from.data, out.data, count(out), nccl_type<T>(), at(axes, root), comm(axes),
                            streams_[kNetwork]));
        return ended(out);
    }
    template <class T>
    Array<T> reduce_scatter(const Array<T>& in, const Type& from, const Type& to,
                            const std::vector<std::size_t>& axes, Reduction kind) {
        const Parts parts(*this, in, from, to, axes);
        start(kNetwork, in);
        const T* send = in.data;
        if (!parts.in_place) {
            T* const chunks = memory<T>(parts.largest * parts.count());
            for (Size m = 0; m < parts.count(); ++m)
                copy(kNetwork, chunk(chunks, parts, m), boxed(in, parts.boxes[static_cast<std::size_t>(m)]));
            send = chunks;
        }
        const Shape shape = local(to);
        Array<T> out{memory<T>(parts.largest), shape, strides_of(shape)};
        begin_group();
        check(ncclReduceScatter(send, out.data, static_cast<std::size_t>(parts.largest), nccl_type<T>(),
                                nccl_op<T>(kind), comm(axes), streams_[kNetwork]));
        return ended(out);
    }
    template <class T>
    Array<T> all_gather(const Array<T>& in, const Type& from, const Type& to,
                        const std::vector<std::size_t>& axes) {
        Array<T> out = made<T>(local(to));
        const Parts parts(*this, out, to, from, axes);
        Array<T> mine = packed(in);
        if (count(mine) < static_cast<std::size_t>(parts.largest)) {
            Array<T> padded{memory<T>(parts.largest), mine.shape, strides_of(mine.shape)};
            copy(kNetwork, padded, mine);
            mine = padded;
        }
        T* const chunks = parts.in_place ? out.data : memory<T>(parts.largest * parts.count());
        begin_group();
        check(ncclAllGather(mine.data, chunks, static_cast<std::size_t>(parts.largest), nccl_type<T>(),
                            comm(axes), streams_[kNetwork]));
        if (!parts.in_place) {
            behind_.push_back([=, this] {
                for (Size m = 0; m < parts.count(); ++m)
                    copy(kNetwork, boxed(out, parts.boxes[static_cast<std::size_t>(m)]),
                         chunk(chunks, parts, m));
            });
        }
        return ended(out);
    }
    /// all_to_all from slices to slices: every element goes from who has it to who is to have it.
    template <class T>
    Array<T> moved(const Array<T>& in, const Type& from, const Type& to,
                   const std::vector<std::size_t>& axes) {
        Array<T> out = made<T>(local(to));
        start(kNetwork, in);
        begin_group();
        const Box has = place_.box(from), wants = place_.box(to);
        const Group& group = groups_.at(axes);
        for (std::size_t m = 0; m < group.members.size(); ++m) {
            const ranks::Rank other(team_, group.members[m]);
            exchange(group, m, boxed(in, within(common(has, other.box(to)), has)),
                     boxed(out, within(common(wants, other.box(from)), wants)));
        }
        return ended(out);
    }
    /// all_to_all between ranks' own values.
    template <class T>
    Array<T> exchanged(const Array<T>& in, std::size_t axis, std::size_t split, std::size_t concat) {
        const Group& group = groups_.at({axis});
        const auto ranks = static_cast<Size>(group.members.size());
        const Size part = in.shape[split] / ranks;
        Shape shape = in.shape, piece = in.shape;
        shape[split] = piece[split] = part;
        shape[concat] *= ranks;
        Array<T> out = made<T>(shape);
        start(kNetwork, in);
        begin_group();
        for (Size m = 0; m < ranks; ++m) {
            Box here = whole_box(piece), there = here;
            there[split] = {m * part, (m + 1) * part};
            here[concat] = {m * piece[concat], (m + 1) * piece[concat]};
            exchange(group, static_cast<std::size_t>(m), boxed(in, there), boxed(out, here));
        }
        return ended(out);
    }
    /// What the rank `by` places before has; zeros where there is none.
    template <class T>
    Array<T> shifted(const Array<T>& in, std::size_t axis, Size by) {
        const Group& group = groups_.at({axis});
        const Size ranks = static_cast<Size>(group.members.size()), to = group.position + by,
                   from = group.position - by;
        const Array<T> mine = packed(in);
        Array<T> out = made<T>(in.shape);
        begin_group();
        if (to >= 0 && to < ranks)
            check(ncclSend(mine.data, count(mine), nccl_type<T>(), static_cast<int>(to), group.comm,
                           streams_[kNetwork]));
        if (from >= 0 && from < ranks) {
            check(ncclRecv(out.data, count(out), nccl_type<T>(), static_cast<int>(from), group.comm,
                           streams_[kNetwork]));
        } else {
            launch(kNetwork, fill_elements<T>, product(out.shape), out.data, Number<T>(0));
        }
        return ended(out);
    }

    // Overlaps.

    /// The piece p of what this rank has of `type`, cut along `dim`. `lane`: who reads it.
    template <class T>
    Array<T> piece(Lane lane, const Array<T>& in, const Type& type, std::size_t dim, const Pieces& cut,
                   Size p) {
        const std::vector<Interval> parts = finest(type, dim, cut);
        const Size length = cut.length(p), first = p * cut.piece;
        if (parts.size() == 1 && first + length <= parts[0].end - parts[0].begin) {
            Box box = whole_box(in.shape);
            box[dim] = {parts[0].begin + first, parts[0].begin + first + length};
            return boxed(in, box);
        }
        Shape shape = in.shape;
        shape[dim] = length * static_cast<Size>(parts.size());
        Array<T> out = made<T>(shape);
        start(lane, in);
        // What is behind the ends of parts is never used, but it is a number.
        launch(lane, fill_elements<T>, product(out.shape), out.data, Number<T>(0));
        each_part(parts, cut, p, in.shape, dim, [&](const Box& whole, const Box& there) {
            copy(lane, boxed(out, there), boxed(in, whole));
        });
        return finished(lane, out);
    }
    /// Puts a piece where it is in the whole.
    template <class T>
    void put(Array<T>& whole, const Array<T>& made, const Type& type, std::size_t dim, const Pieces& cut,
             Size p) {
        each_part(finest(type, dim, cut), cut, p, whole.shape, dim, [&](const Box& box, const Box& there) {
            copy(made.lane, boxed(whole, box), boxed(made, there));
        });
        whole = finished(made.lane, whole);
    }

    // Inputs and outputs.

    template <class T>
    Array<T> input(const Files& files, const std::string& name, const Type& type) {
        const auto host = files.input<Number<T>>(place_, name, type);
        const std::vector<T> elements(host.elements.begin(), host.elements.end());
        Array<T> in{allocated<T>(product(host.shape)), host.shape, strides_of(host.shape)};
        check(cudaMemcpy(in.data, elements.data(), elements.size() * sizeof(T), cudaMemcpyHostToDevice));
        return in;
    }
    template <class T>
    void output(const Files& files, const std::string& name, const Type& type, const Array<T>& array) {
        const Array<T> from = dense(kCompute, array);
        check(cudaDeviceSynchronize());
        std::vector<T> elements(count(from));
        check(cudaMemcpy(elements.data(), from.data, elements.size() * sizeof(T), cudaMemcpyDeviceToHost));
        ranks::Array<Number<T>> host(from.shape);
        std::transform(elements.begin(), elements.end(), host.elements.begin(),
                       [](T element) { return number(element); });
        files.output(place_, name, type, host);
    }

  private:
    /// The ranks that differ from this one on some axes only, in their order.
    struct Group {
        ncclComm_t comm = nullptr;
        std::vector<Size> members{};
        int position = 0;
    };
    /// The parts of all members, as boxes in an array of the whole, and whether chunks of one size that lie
    /// one behind the other are just that array.
    struct Parts {
        std::vector<Box> boxes{};
        Size largest = 0;
        bool in_place = true;

        template <class T>
        Parts(const Rank& rank, const Array<T>& array, const Type& whole, const Type& part,
              const std::vector<std::size_t>& axes) {
            const Box mine = rank.place_.box(whole);
            for (const Size member : rank.groups_.at(axes).members) {
                boxes.push_back(within(common(mine, ranks::Rank(rank.team_, member).box(part)), mine));
                largest = std::max(largest, product(sizes(boxes.back())));
            }
            in_place = is_dense(array);
            for (std::size_t m = 0; m < boxes.size(); ++m) {
                const Array<T> one = boxed(array, boxes[m]);
                in_place = in_place && is_dense(one) && product(one.shape) == largest &&
                           one.data == array.data + static_cast<Size>(m) * largest;
            }
        }
        Size count() const { return static_cast<Size>(boxes.size()); }
    };

    bool differs_only(Size other, const std::vector<std::size_t>& axes) const {
        const ranks::Rank there(team_, other);
        for (std::size_t a = 0; a < place_.mesh().axes.size(); ++a)
            if (there.at(a) != place_.at(a) && std::find(axes.begin(), axes.end(), a) == axes.end())
                return false;
        return true;
    }
    ncclComm_t comm(const std::vector<std::size_t>& axes) const { return groups_.at(axes).comm; }
    /// The place in the group of the rank that is at `position` on each of its axes.
    int at(const std::vector<std::size_t>& axes, Size position) const {
        Size place = 0;
        for (const std::size_t axis : axes) place = place * place_.mesh().axes[axis].second + position;
        return static_cast<int>(place);
    }

    static Shape sizes(const Box& box) {
        Shape shape;
        for (const Interval& interval : box) shape.push_back(interval.end - interval.begin);
        return shape;
    }
    static Box whole_box(const Shape& shape) {
        Box box;
        for (const Size size : shape) box.push_back({0, size});
        return box;
    }
    static Box common(const Box& a, const Box& b) {
        Box box;
        for (std::size_t d = 0; d < a.size(); ++d) {
            const Size begin = std::max(a[d].begin, b[d].begin);
            box.push_back({begin, std::max(begin, std::min(a[d].end, b[d].end))});
        }
        return box;
    }
    /// The box as it is in an array that has `outer`.
    static Box within(Box box, const Box& outer) {
        for (std::size_t d = 0; d < box.size(); ++d)
            box[d].begin -= outer[d].begin, box[d].end -= outer[d].begin;
        return box;
    }
    template <class T>
    static Array<T> boxed(Array<T> array, const Box& box) {
        array.shape = sizes(box);
        if (product(array.shape) == 0) return array;
        for (std::size_t d = 0; d < box.size(); ++d) array.data += box[d].begin * array.strides[d];
        return array;
    }
    template <class T>
    static Array<T> chunk(T* chunks, const Parts& parts, Size m) {
        const Shape shape = sizes(parts.boxes[static_cast<std::size_t>(m)]);
        return {chunks + m * parts.largest, shape, strides_of(shape)};
    }

    Numbering numbering(const Type& type, const Shape& strides) const {
        const Box box = place_.box(type);
        Numbering result{{sizes(box), strides}, 0};
        for (std::size_t d = 0; d < box.size(); ++d) result.first += box[d].begin * strides[d];
        return result;
    }
    /// The finest parts of a dimension that this rank has, as places in its own part.
    std::vector<Interval> finest(Type type, std::size_t dim, const Pieces& cut) const {
        const Size begin = place_.box(type)[dim].begin;
        std::vector<std::size_t> finer;
        for (const std::size_t axis : cut.axes) {
            if (type.layout[axis] != static_cast<int>(dim)) finer.push_back(axis);
            type.layout[axis] = static_cast<int>(dim);
        }
        std::vector<Interval> parts;
        for (Size other = 0; other < place_.mesh().ranks(); ++other) {
            if (!differs_only(other, finer)) continue;
            const Interval part = ranks::Rank(team_, other).box(type)[dim];
            parts.push_back({part.begin - begin, part.end - begin});
        }
        return parts;
    }
    /// What there is of piece p: as a box of the whole, and as one of the piece.
    template <class F>
    static void each_part(const std::vector<Interval>& parts, const Pieces& cut, Size p, const Shape& shape,
                          std::size_t dim, const F& f) {
        const Size length = cut.length(p);
        for (std::size_t j = 0; j < parts.size(); ++j) {
            Box box = whole_box(shape), there = box;
            const Size begin = parts[j].begin + p * cut.piece, end = std::min(begin + length, parts[j].end);
            if (end <= begin) continue;
            box[dim] = {begin, end};
            there[dim].begin = static_cast<Size>(j) * length;
            there[dim].end = there[dim].begin + end - begin;
            f(box, there);
        }
    }

    std::int32_t* meeting() {
        if (meeting_ == nullptr) meeting_ = allocated<std::int32_t>(1);
        return meeting_;
    }
    /// Ends what a collective began: the array is there behind the whole group.
    template <class T>
    Array<T> ended(Array<T> out) {
        out.lane = kNetwork;
        out.there = next_event();
        behind_.push_back([=, this] { check(cudaEventRecord(out.there, streams_[kNetwork])); });
        end_group();
        return out;
    }

    /// For a message: there, and without gaps.
    template <class T>
    Array<T> packed(const Array<T>& in) {
        start(kNetwork, in);
        return dense(kNetwork, in);
    }
    /// Between this rank and member m; with itself, a copy.
    template <class T>
    void exchange(const Group& group, std::size_t m, const Array<T>& give, const Array<T>& get) {
        if (static_cast<int>(m) == group.position) {
            if (count(get) > 0) copy(kNetwork, get, give);
            return;
        }
        const int peer = static_cast<int>(m);
        if (count(give) > 0) {
            const Array<T> from = dense(kNetwork, give);
            check(ncclSend(from.data, count(from), nccl_type<T>(), peer, group.comm, streams_[kNetwork]));
        }
        if (count(get) == 0) return;
        Array<T> landing = get;
        if (!is_dense(get)) {
            landing = made<T>(get.shape);
            behind_.push_back([=, this] { copy(kNetwork, get, landing); });
        }
        check(ncclRecv(landing.data, count(landing), nccl_type<T>(), peer, group.comm, streams_[kNetwork]));
    }

    // Einsums.

    mutable ranks::Team team_;
    ranks::Rank place_;
    ncclComm_t world_;
    std::map<std::vector<std::size_t>, Group> groups_;
    int groups_open_ = 0;
    std::vector<std::function<void()>> behind_;  ///< a group: what its stream does next
    std::int32_t* meeting_ = nullptr;
};

/// The first of these variables of the environment that is set.
inline const char* environment(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const char* value = std::getenv(name)) return value;
    return nullptr;
}
inline Size whole_number(const char* text, Size otherwise) {
    return text == nullptr ? otherwise : static_cast<Size>(std::atoll(text));
}

/// The id of a communicator, which rank 0 makes, by a file that all see: TUTTI_NCCL_ID names it.
inline ncclUniqueId shared_id(Size rank, const std::string& path) {
    ncclUniqueId id{};
    if (rank == 0) {
        check(ncclGetUniqueId(&id));
        std::ofstream file(path + ".new", std::ios::binary);
        file.write(reinterpret_cast<const char*>(&id), sizeof id);
        if (!file.flush() || std::rename((path + ".new").c_str(), path.c_str()) != 0)
            throw std::runtime_error(path + ": cannot be written");
        return id;
    }
    for (int tenth = 0; tenth < 600; ++tenth) {
        std::ifstream file(path, std::ios::binary);
        if (file.read(reinterpret_cast<char*>(&id), sizeof id)) return id;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    throw std::runtime_error(path + ": rank 0 has not written it for a minute");
}

/// PROGRAM [FOLDER [CALLS]], once for each GPU, by mpirun, srun, torchrun or anything that sets RANK and
/// WORLD_SIZE: `body` reads its inputs, calls the step that it is given to time, and writes its outputs.
/// Prints the median of the calls but the first.
inline int main(int argc, char** argv, const Mesh& mesh, const std::vector<std::vector<std::size_t>>& groups,
                const std::function<void(Rank&, const Files&,
                                         const std::function<void(const std::function<void()>&)>&)>& body) {
    const Size number =
        whole_number(environment({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}), 0);
    try {
        const Size world =
            whole_number(environment({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}), 1);
        if (world != mesh.ranks())
            throw std::runtime_error("the program has " + std::to_string(mesh.ranks()) + " ranks, and " +
                                     std::to_string(world) +
                                     " processes were started (mpirun -n; RANK and WORLD_SIZE)");
        int gpus = 0;
        check(cudaGetDeviceCount(&gpus));
        if (gpus == 0) throw std::runtime_error("no GPU");
        const Size local = whole_number(
            environment({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}),
            number);
        check(cudaSetDevice(static_cast<int>(local % gpus)));
        const char* const job = environment({"PMIX_NAMESPACE", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"});
        const char* const given = environment({"TUTTI_NCCL_ID"});
        const std::string path =
            given != nullptr ? given : std::string("nccl_id.") + (job != nullptr ? job : "tutti");
        const ncclUniqueId id = shared_id(number, path);
        ncclComm_t comm{};
        check(ncclCommInitRank(&comm, static_cast<int>(world), id, static_cast<int>(number)));
        if (number == 0) std::remove(path.c_str());
        Rank rank(mesh, number, comm, groups);
        const Files files(argc > 1 ? argv[1] : "");
        const int calls = argc > 2 ? std::max(1, std::atoi(argv[2])) : 10;
        body(rank, files, [&](const std::function<void()>& step) {
            std::vector<double> seconds;
            for (int call = 0; call < calls; ++call) {
                rank.wait(true);
                const auto begin = std::chrono::steady_clock::now();
                step();
                rank.wait(true);
                const double took =
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
                if (call > 0 || calls == 1) seconds.push_back(took);
            }
            std::sort(seconds.begin(), seconds.end());
            if (number == 0)
                std::printf("%lld ranks: %.6f s, the median of %zu calls (%.6f to %.6f)\n",
                            static_cast<long long>(world), seconds[seconds.size() / 2], seconds.size(),
                            seconds.front(), seconds.back());
        });
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %lld: %s\n", static_cast<long long>(number), error.what());
        std::exit(2);  // the others would wait for it
    }
    return 0;
}

}  // namespace tutti::gpu
