#include "tests/support/random_execution.hpp"

#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace tutti::test {
namespace {

/// Grows the thread blocks side by side, as one run of the plan would: a wait is added when there is a token
/// for it, a packet is read when it was written. Now and then not, for plans that hang.
class Growth {
  public:
    explicit Growth(std::uint64_t seed) : random_(seed) {
        gpus_ = pick(3) == 0 ? 1 : 2;
        const int blocks = 2 + pick(2);
        for (int i = 0; i < blocks; ++i) {
            owner_.push_back(gpus_ == 1 ? 0 : i < 2 ? i : pick(2));
            lines_.emplace_back();
        }
        slices_ = pick(6) == 0;
        // Few kinds of operations at a time, so that they meet.
        packets_ = pick(3);
        semaphores_ = {pick(4) == 0 ? 1 : 0, 0};
        for (int i = 0; i < blocks * 4; ++i) grow(pick(blocks));
    }

    RandomExecution result() {
        RandomExecution made{ExecutionBuilder("test", gpus_), "", false};
        made.plan.out_of_place();
        for (int gpu = 0; gpu < gpus_; ++gpu) {
            made.plan.gpu(2, 2, 3, {semaphores_[0], semaphores_[1]});
            made.text += "gpu " + std::to_string(gpu) + "\n";
            for (std::size_t block = 0; block < lines_.size(); ++block) {
                if (owner_[block] != gpu) continue;
                made.plan.add_block(lines_[block]);
                made.text += "  tb\n";
                for (const std::string& line : lines_[block]) made.text += "    \"" + line + "\"\n";
            }
        }
        for (const auto& [counter, users] : users_)
            made.shared_counters = made.shared_counters || users.size() > 1;
        return made;
    }

  private:
    int pick(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }
    bool rarely() { return pick(25) == 0; }

    void grow(int block) {
        const std::array<int, 12> kinds{0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6};
        switch (kinds[static_cast<std::size_t>(pick(12))]) {
            case 0:
                return data(block);
            case 1:
                return line(block, "nop");
            case 2:
                return signal_or_wait(block);
            case 3:
                return semaphore(block);
            case 4:
                return barrier(block);
            case 5:
                return packets_ == 0 ? data(block) : packet(block);
            default:
                return line(block, "nop"), signal_or_wait(block), line(block, "nop");
        }
    }

    void line(int block, const std::string& text) { lines_[static_cast<std::size_t>(block)].push_back(text); }

    int gpu_of(int block) const { return owner_[static_cast<std::size_t>(block)]; }

    /// "s1+2": anywhere in scratch or output, or (to read) in the input.
    std::string local(int size, bool reads) {
        const int buffer = pick(reads ? 3 : 2);
        const char* letter = buffer == 0 ? "s" : buffer == 1 ? "o" : "i";
        const int room = buffer == 0 ? 3 : 2;
        return letter + std::to_string(pick(room - size + 1)) + (size == 1 ? "" : "+" + std::to_string(size));
    }

    std::string slice() { return slices_ && pick(2) == 0 ? " part " + std::to_string(pick(2)) + "/2" : ""; }

    void data(int block) {
        const int size = pick(3) == 0 ? 2 : 1;
        const int gpu = gpu_of(block);
        const std::string part = slice();
        const std::string from = local(size, true), to = local(size, false);
        const std::string remote = std::to_string(1 - gpu) + ":";
        if (gpus_ == 1 || pick(3) == 0) {
            const bool adds = pick(3) == 0;
            const std::string add = adds ? ", " + local(size, true) : "";
            return overlapping({from, to, adds ? add.substr(2) : from}, size)
                       ? line(block, "nop")
                       : line(block, (adds ? "re " : "copy ") + from + add + " -> " + to + part);
        }
        switch (pick(5)) {
            case 0:
                return line(block, "get " + remote + from + " -> " + to + part);
            case 1:
                return line(block, "put port " + from + " -> " + remote + to);
            case 2: {
                const std::string own = local(size, true);
                if (overlapping({own, to}, size)) return;
                return line(block, "rre " + own + ", " + remote + from + " -> " + to + part);
            }
            default:
                return line(block, "put " + from + " -> " + remote + to + part);
        }
    }

    /// Whether two of them overlap without being equal: that is another fault.
    static bool overlapping(const std::vector<std::string>& ranges, int size) {
        for (const std::string& a : ranges) {
            for (const std::string& b : ranges) {
                if (a[0] == b[0] && a != b && std::abs(a[1] - b[1]) < size) return true;
            }
        }
        return false;
    }

    void raise(const std::string& counter, int block) {
        ++tokens_[counter];
        users_["raise " + counter].insert(block);
    }
    bool lower(const std::string& counter, int block, int initial = 0) {
        if (tokens_[counter] + initial <= lowered_[counter] && !rarely()) return false;
        ++lowered_[counter];
        users_["lower " + counter].insert(block);
        return true;
    }

    void signal_or_wait(int block) {
        if (gpus_ == 1) return semaphore(block);
        const int gpu = gpu_of(block);
        const std::string peer = std::to_string(1 - gpu);
        if (pick(2) == 0) {
            if (pick(5) == 0) {
                raise("port" + peer, block);
                return line(block, pick(2) == 0
                                       ? "signal port " + peer
                                       : "pws " + local(1, true) + " -> " + peer + ":" + local(1, false));
            }
            raise("memory" + peer, block);
            return line(block, "signal " + peer);
        }
        const bool port = tokens_["port" + std::to_string(gpu)] > lowered_["port" + std::to_string(gpu)];
        if (lower((port ? "port" : "memory") + std::to_string(gpu), block)) {
            line(block, std::string("wait ") + (port ? "port " : "") + peer);
        }
    }

    void semaphore(int block) {
        const int id = pick(2);
        const std::string name = "sem" + std::to_string(gpu_of(block)) + "/" + std::to_string(id);
        if (pick(2) == 0) {
            raise(name, block);
            return line(block, "release " + std::to_string(id));
        }
        if (lower(name, block, semaphores_[static_cast<std::size_t>(id)]))
            line(block, "acquire " + std::to_string(id));
    }

    void barrier(int block) {
        const int gpu = gpu_of(block);
        std::vector<int> members;
        for (int other = 0; other < static_cast<int>(lines_.size()); ++other) {
            if (gpu_of(other) == gpu) members.push_back(other);
        }
        for (const int other : members) line(other, "barrier 0 " + std::to_string(members.size()));
    }

    void packet(int block) {
        const int gpu = gpu_of(block);
        const int size = pick(3) == 0 ? 2 : 1;
        const int at = pick(3 - size + 1);
        const std::string suffix = size == 1 ? "" : "+2";
        const std::string spot = "s" + std::to_string(at) + suffix;
        const auto written = [&](int where, int first) {
            for (int i = 0; i < size; ++i) written_.insert({where, first + i});
        };
        const auto has = [&](int first) {
            for (int i = 0; i < size; ++i) {
                if (!written_.contains({gpu, first + i})) return false;
            }
            return true;
        };
        if (pick(2) == 0) {
            const int where = gpus_ == 2 && pick(2) == 0 ? 1 - gpu : gpu;
            written(where, at);
            // Mostly one source per packet, so that writing again is writing the same.
            const std::string from =
                pick(8) == 0 ? local(size, true) : "i" + std::to_string(at % (3 - size)) + suffix;
            return line(block, (where == gpu ? "cpkt " : "ppkt ") + from + " -> " +
                                   (where == gpu ? "" : std::to_string(where) + ":") + spot);
        }
        if (!has(at) && !rarely()) return;
        if (gpus_ == 2 && pick(3) == 0) {
            const std::string from = local(size, true), to = local(size, false);
            if (pick(2) == 0) {
                written(1 - gpu, at);
                const int how = pick(4);
                const std::string name = how == 0 ? "ppkt port " : how == 1 ? "rppkt port " : "rppkt ";
                return line(block, name + spot + " -> " + std::to_string(1 - gpu) + ":" + spot);
            }
            if (!overlapping({from, to}, size))
                return line(block, "repkt " + from + ", " + spot + " -> " + to);
        }
        line(block, "upkt " + spot + " -> " + local(size, false));
    }

    std::mt19937_64 random_;
    int gpus_ = 1;
    bool slices_ = false;
    int packets_ = 0;
    std::vector<int> owner_;
    std::vector<std::vector<std::string>> lines_;
    std::array<int, 2> semaphores_{};
    std::map<std::string, int> tokens_, lowered_;
    std::map<std::string, std::set<int>> users_;
    std::set<std::pair<int, int>> written_;
};

}  // namespace

RandomExecution random_execution(std::uint64_t seed) { return Growth(seed).result(); }

}  // namespace tutti::test
