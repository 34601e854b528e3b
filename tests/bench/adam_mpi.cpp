// What users of MPI write: adam_mpi ELEMENTS CALLS, in two processes or more. Adam in f32 after an all-reduce
// of the gradients, once with one loop for every operation and once with all of them in one loop; and how
// fast memory is meanwhile (a triad, all processes at the same time). Prints JSON: microseconds of each call,
// of the process that took longest, and bytes per second of a process. Compiled by tensor.py.

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Vector = std::vector<float>;

struct Adam {
    explicit Adam(std::size_t n) : g(n, 0.5F), sum(n), w(n, 1), m(n), v(n) {
        for (Vector& one : made) one.assign(n, 0);
    }
    Vector g, sum, w, m, v;
    Vector made[8];  // what operations hand on to each other
};

template <class Function>
void loop(Vector& out, Function function) {
    float* const to = out.data();
    for (std::size_t i = 0; i < out.size(); ++i) to[i] = function(i);
}

void one_loop_each(Adam& a) {
    auto& t = a.made;
    const float *sum = a.sum.data(), *m = a.m.data(), *v = a.v.data(), *w = a.w.data();
    const float* x[8];
    for (int k = 0; k < 8; ++k) x[k] = t[k].data();
    loop(t[0], [=](std::size_t i) { return sum[i] / 2.0F; });
    loop(t[1], [=](std::size_t i) { return m[i] * 0.9F; });
    loop(t[2], [=](std::size_t i) { return x[0][i] * 0.1F; });
    loop(a.m, [=](std::size_t i) { return x[1][i] + x[2][i]; });
    loop(t[3], [=](std::size_t i) { return x[0][i] * x[0][i]; });
    loop(t[4], [=](std::size_t i) { return v[i] * 0.999F; });
    loop(t[5], [=](std::size_t i) { return x[3][i] * 0.001F; });
    loop(a.v, [=](std::size_t i) { return x[4][i] + x[5][i]; });
    loop(t[1], [=](std::size_t i) { return m[i] / 0.1F; });
    loop(t[2], [=](std::size_t i) { return v[i] / 0.001F; });
    loop(t[3], [=](std::size_t i) { return std::sqrt(x[2][i]); });
    loop(t[4], [=](std::size_t i) { return x[3][i] + 1e-8F; });
    loop(t[5], [=](std::size_t i) { return x[1][i] / x[4][i]; });
    loop(t[6], [=](std::size_t i) { return x[5][i] * 0.001F; });
    loop(a.w, [=](std::size_t i) { return w[i] - x[6][i]; });
}

void one_loop(Adam& a) {
    const float* const sum = a.sum.data();
    float *const m = a.m.data(), *const v = a.v.data(), *const w = a.w.data();
#pragma GCC ivdep
    for (std::size_t i = 0; i < a.w.size(); ++i) {
        const float g = sum[i] / 2.0F;
        m[i] = m[i] * 0.9F + g * 0.1F;
        v[i] = v[i] * 0.999F + g * g * 0.001F;
        w[i] -= m[i] / 0.1F / (std::sqrt(v[i] / 0.001F) + 1e-8F) * 0.001F;
    }
}

template <class Work>
std::vector<double> times_of(int calls, Work work) {
    std::vector<double> times;
    for (int call = 0; call <= calls; ++call) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        work();
        double mine = (MPI_Wtime() - start) * 1e6, longest = 0;
        MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (call > 0) times.push_back(longest);
    }
    return times;
}

std::string text(const std::vector<double>& times) {
    std::string list;
    for (const double time : times) list += (list.empty() ? "" : ", ") + std::to_string(time);
    return "[" + list + "]";
}

}  // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const auto elements = static_cast<std::size_t>(std::atoll(arguments[1]));
    const int calls = std::atoi(arguments[2]);
    Adam adam(elements);
    const auto reduce = [&] {
        MPI_Allreduce(adam.g.data(), adam.sum.data(), static_cast<int>(elements), MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    };
    const auto loops = times_of(calls, [&] {
        reduce();
        one_loop_each(adam);
    });
    const auto fused = times_of(calls, [&] {
        reduce();
        one_loop(adam);
    });
    // As much memory as the fused kernel goes through.
    Vector a(std::max<std::size_t>(elements, 1) * 4), b(a.size(), 1);
    const auto triad = times_of(calls, [&] {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] += 0.5F * b[i];
    });
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    if (rank == 0) {
        std::printf(
            "{\"loops\": %s, \"fused\": %s, \"triad_us\": %s, \"triad_bytes\": %zu, \"version\": \"%.*s\"}\n",
            text(loops).c_str(), text(fused).c_str(), text(triad).c_str(), 3 * a.size() * sizeof(float),
            static_cast<int>(std::string(version).find(',')), version);
    }
    MPI_Finalize();
}
