#pragma once

namespace tutti::models::remote {

/// The work of a helper process: reads one order from the socket, solves it, sends the answer. Returns the
/// exit code: 0 if an answer was sent. Ends the process if the other end of the socket is gone and so is the
/// parent.
[[nodiscard]] int serve(int socket);

}  // namespace tutti::models::remote
