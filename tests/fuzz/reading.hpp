#pragma once

#include "core/error.hpp"
#include "io/source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tutti::fuzz {

/// Has the bytes read as a file. That it is refused with an InputError is an answer; whatever else leaves
/// `read`, what the sanitizers see, a hang and a flood of memory are finds.
template <class Read>
int reading(const std::uint8_t* data, std::size_t size, Read read) {
    try {
        io::Source source =
            io::Source::of_text(std::string(reinterpret_cast<const char*>(data), size), "input");
        read(source);
    } catch (const InputError&) {
    }
    return 0;
}

/// A find of our own.
[[noreturn]] inline void find(const char* what) {
    __builtin_printf("%s\n", what);
    __builtin_trap();
}

}  // namespace tutti::fuzz
