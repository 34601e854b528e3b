#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::batch::cluster {

/// Where rank 0 is to be found, and what to say there.
struct Address {
    std::vector<std::string> hosts{};  ///< addresses, best first
    std::uint16_t port = 0;
    std::string secret{};  ///< whoever knows it is one of us
    std::string boot{};    ///< the same for processes of one kernel, which can meet at its loopback

    friend bool operator==(const Address&, const Address&) = default;
};

/// A file in the folder of the results, through which ranks find each other; one of its own for each job.
/// Only its user can read it.
class Rendezvous {
  public:
    Rendezvous(const std::string& results, const std::string& job);

    /// Rank 0: from now on others can find it. Makes the folder if need be, and removes what jobs of earlier
    /// days have left. Throws InputError when the file cannot be written.
    void publish(const Address& address) const;
    /// Rank 0: nobody needs to come any more. Throws nothing.
    void call_off() const noexcept;
    /// Rank 0: everybody has been here.
    void remove() const noexcept;

    struct Answer {
        bool over = false;  ///< it was called off
        std::optional<Address> address{};
    };
    /// The others: what the file says now. Nothing at all where there is none, or somebody else's, or one
    /// that others can write.
    [[nodiscard]] Answer look() const;

  private:
    void write(const std::string& text) const;

    std::string folder_, path_;
    bool has_job_;
};

/// 32 hexadecimal digits that nobody can guess.
[[nodiscard]] std::string new_secret();
/// What processes have in common that run under one kernel; empty where that is not known.
[[nodiscard]] std::string boot_id();

}  // namespace tutti::batch::cluster
