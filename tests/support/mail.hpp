#pragma once

#include "core/rng.hpp"
#include "run/mpi_library.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace tutti::test {

/// Messages between threads. A send is over when it was received, as large ones of MPI are, and both sides
/// have to ask several times.
class Mail {
  public:
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, tag

    class Box : public run::MpiLibrary {
      public:
        Box(Mail& mail, std::uint32_t process, std::uint32_t processes)
            : mail_(mail), process_(process), processes_(processes), rng_(process + 1) {}
        std::uint32_t process() const override { return process_; }
        std::uint32_t processes() const override { return processes_; }
        std::uint32_t most_tags() const override { return 32767; }
        Request send(const std::byte* data, std::size_t bytes, std::uint32_t to, std::uint32_t tag) override {
            const std::lock_guard lock(mail_.mutex_);
            return mail_.post(mail_.sends_[{process_, to, tag}],
                              {const_cast<std::byte*>(data), bytes, false});
        }
        Request receive(std::byte* data, std::size_t bytes, std::uint32_t from, std::uint32_t tag) override {
            const std::lock_guard lock(mail_.mutex_);
            return mail_.post(mail_.receives_[{from, process_, tag}], {data, bytes, false});
        }
        bool done(Request request) override {
            if (rng_.below(3) == 0) return false;
            const std::lock_guard lock(mail_.mutex_);
            mail_.deliver();
            return mail_.posted_[request].over;
        }

        bool on_one_machine() const override { return true; }
        const char* version() const override { return "threads"; }
        void barrier() override { mail_.meeting_.arrive_and_wait(); }
        void broadcast(void* data, std::size_t bytes) override {
            if (process_ == 0) mail_.root_ = data;
            barrier();
            if (process_ != 0) std::memcpy(data, mail_.root_, bytes);
            barrier();
        }
        std::uint64_t sum(std::uint64_t number) override {
            mail_.sum_ += number;
            barrier();
            const std::uint64_t all = mail_.sum_;
            barrier();
            mail_.sum_ = 0;
            return all;
        }
        void abort() override { std::abort(); }
        bool call(CollectiveKind, const std::byte*, std::byte*, std::size_t, run::ElementType, run::Operator,
                  std::uint32_t) override {
            return false;
        }

      private:
        Mail& mail_;
        std::uint32_t process_, processes_;
        Rng rng_;
    };

    explicit Mail(std::uint32_t processes) : meeting_(processes) {}

    [[nodiscard]] bool is_empty() const { return waiting_ == 0; }

  private:
    struct Posted {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        bool over = false;
    };
    std::size_t post(std::vector<std::size_t>& queue, Posted posted) {
        queue.push_back(posted_.size());
        posted_.push_back(posted);
        ++waiting_;
        return posted_.size() - 1;
    }
    void deliver() {
        for (auto& [key, sends] : sends_) {
            auto& receives = receives_[key];
            while (!sends.empty() && !receives.empty()) {
                Posted &from = posted_[sends.front()], &to = posted_[receives.front()];
                CHECK(from.bytes == to.bytes);
                std::memcpy(to.data, from.data, from.bytes);
                from.over = to.over = true;
                sends.erase(sends.begin());
                receives.erase(receives.begin());
                waiting_ -= 2;
            }
        }
    }

    std::barrier<> meeting_;
    void* root_ = nullptr;
    std::atomic<std::uint64_t> sum_{0};
    std::mutex mutex_;
    std::vector<Posted> posted_;
    std::map<Key, std::vector<std::size_t>> sends_, receives_;
    std::size_t waiting_ = 0;
};

}  // namespace tutti::test
