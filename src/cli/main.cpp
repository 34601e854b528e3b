#include "cli/failure.hpp"
#include "cli/interrupt.hpp"
#include "cli/parse.hpp"
#include "cli/terminal.hpp"

#include <string>
#include <vector>

int main(int argc, char** argv) {
    using namespace tutti::cli;
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    open_standard_descriptors();
    const Process process{process_streams(), &catch_signals(), argc > 0 ? argv[0] : "tutti"};
    ExitCode code = ExitCode::Done;
    try {
        code = parse(arguments).run(process);
    } catch (...) {
        Failure failure = failure_of(std::current_exception());
        if (failure.code == ExitCode::LimitReached && process.was_interrupted())
            failure.code = ExitCode::Interrupted;
        report(failure, arguments, process.streams);
        code = failure.code;
    }
    return static_cast<int>(flushed(process.streams, code));
}
