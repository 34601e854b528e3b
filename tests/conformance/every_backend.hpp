#pragma once

#include "models/backends/registry.hpp"

#include <doctest/doctest.h>

namespace tutti::test {

/// Calls `body(backend)` for every backend that is there; messages name it.
template <typename Body>
void for_backends(Body body) {
    for (const models::BackendEntry& entry : models::backends()) {
        const models::OpenedBackend opened = entry.open();
        if (!opened) continue;
        CAPTURE(entry.name);
        body(*opened.backend);
    }
}

}  // namespace tutti::test
