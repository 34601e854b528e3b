#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace tutti::test {
namespace {

std::uint64_t number_in(const char* variable, std::uint64_t fallback) {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == '\0') return fallback;
    std::size_t used = 0;
    const std::uint64_t number = std::stoull(text, &used);
    if (text[used] != '\0') throw std::invalid_argument(std::string(variable) + ": expected a number");
    return number;
}

}  // namespace

std::uint64_t cases(std::uint64_t standard) {
#ifdef __SANITIZE_ADDRESS__
    standard /= 8;  // the sanitizers take about that much longer
#endif
    return number_in("TUTTI_PROPERTY_CASES", standard);
}

std::uint64_t first_seed() { return number_in("TUTTI_SEED", 1); }

void for_seeds(std::uint64_t count, const std::function<void(Rng& rng, std::uint64_t seed)>& body) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t seed = first_seed() + i;
        CAPTURE(seed);
        Rng rng(seed);
        body(rng, seed);
    }
}

bool with_thread_sanitizer() {
#ifdef __SANITIZE_THREAD__
    return true;
#else
    return false;
#endif
}

}  // namespace tutti::test
