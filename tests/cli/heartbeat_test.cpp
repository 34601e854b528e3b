#include "cli/heartbeat.hpp"

#include <doctest/doctest.h>

#include <future>
#include <sstream>
#include <utility>

using namespace tutti::cli;
using namespace std::chrono_literals;

namespace {

/// A terminal that tells when something was shown.
class FakeTerminal : public std::stringbuf {
  public:
    std::promise<void> shown;

  private:
    int sync() override {
        if (!std::exchange(told_, true)) shown.set_value();
        return 0;
    }
    bool told_ = false;
};

}  // namespace

TEST_CASE("a heartbeat shows the time in place and is wiped before a line and at the end") {
    std::ostringstream out;
    FakeTerminal terminal;
    std::ostream err(&terminal);
    const Streams streams{out, err, false, false, true};
    {
        Heartbeat heartbeat(streams, Talk{}, 0ms, 1h);
        terminal.shown.get_future().wait();
        heartbeat.say("a line");
    }
    CHECK(terminal.str() == "\rsearching, 0 s (Ctrl-C ends it)\033[K\r\033[Ka line\n");
    CHECK(out.str().empty());
}

TEST_CASE("without a terminal there is no heartbeat, only messages") {
    std::ostringstream out, err;
    const Streams streams{out, err, false, false, false};
    {
        Heartbeat heartbeat(streams, Talk{}, 0ms, 1ms);
        heartbeat.say("a line");
    }
    CHECK(err.str() == "a line\n");
}
