#pragma once

/// expects(condition): a written precondition, checked where it can be checked cheaply. A caller that breaks
/// it has a bug: the condition, the place and the function are printed and the process aborts, which
/// sanitizers and fuzzers report. Wrong input is not a bug: that is InputError.
///
/// On where NDEBUG is not defined (the presets debug, fuzz and coverage), or where TUTTI_EXPECTS is defined
/// as 1 before the include. When off, the condition is compiled but never evaluated: variables that only it
/// uses cause no warning. It may cost as much as the call that it guards.
///
/// Headers that src/tutti.hpp includes do not include this one: programs that use the library may have their
/// own `expects`.
#ifndef TUTTI_EXPECTS
#ifdef NDEBUG
#define TUTTI_EXPECTS 0
#else
#define TUTTI_EXPECTS 1
#endif
#endif

#if TUTTI_EXPECTS

#include <cstdio>
#include <cstdlib>

namespace tutti {

[[noreturn]] inline void abort_for_precondition(const char* condition, const char* file, int line,
                                                const char* function) {
    std::fprintf(stderr, "%s:%d: precondition of %s is broken: %s\n", file, line, function, condition);
    std::abort();
}

}  // namespace tutti

#define expects(...)                      \
    ((__VA_ARGS__) ? static_cast<void>(0) \
                   : ::tutti::abort_for_precondition(#__VA_ARGS__, __FILE__, __LINE__, __PRETTY_FUNCTION__))

#else

#define expects(...) static_cast<void>(sizeof((__VA_ARGS__) ? 1 : 0))

#endif
