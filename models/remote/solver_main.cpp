// tutti-solver: solves one program for the process that has started it (models/remote), and ends.

#include "models/remote/helper.hpp"
#include "models/remote/serve.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

int main() {
    using namespace tutti::models::remote;
    struct stat about {};
    if (::fstat(kHelperSocket, &about) != 0 || !S_ISSOCK(about.st_mode)) {
        (void)std::fputs(
            "tutti-solver is started by tutti, to solve programs in a process that can be stopped\n", stderr);
        return 2;
    }
    // Without the destructors of the solvers: what they hold goes with the process.
    ::_exit(serve(kHelperSocket));
}
