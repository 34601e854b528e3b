#!/usr/bin/env python3
"""Joins test files into one source, which compiles in half the time: join.py OUTPUT ROOT FILE...

Every file is put into a namespace of its own, so that its helpers may have the short names that those of other files have.
For that its includes must come first, outside: they are collected at the top. A file that defines macros or opens a named
namespace cannot be treated so (tests/CMakeLists.txt compiles it alone).
"""

import os
import re
import sys

# What must not be inside a namespace or be seen by other files; tests/CMakeLists.txt has the same pattern.
ALONE = re.compile(r"^(namespace [^{\n]*[^{\s][^{\n]*\{|#[^i]|#if|extern|template <>)", re.MULTILINE)
INCLUDE = re.compile(r'^#include ([<"])([^>"]*)[>"]', re.MULTILINE)


def include_line(match, folder):
    """The include as it reads from anywhere."""
    beside = os.path.join(folder, match[2])
    return f'#include "{beside}"' if match[1] == '"' and os.path.exists(beside) else match[0]


def joined(root, files):
    includes, bodies = {}, []
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        bad = ALONE.search(text)
        if bad:
            line = text.count("\n", 0, bad.start()) + 1
            sys.exit(f"{path}:{line}: '{bad[0]}' keeps this file from being joined with others; configure again")
        for match in INCLUDE.finditer(text):
            includes[include_line(match, os.path.dirname(path))] = True
        name = re.sub(r"\W", "_", os.path.relpath(path, root))
        bodies.append(f'namespace {name} {{\n#include "{path}"\n}}\n')
    return "\n".join(includes) + "\n" + "".join(bodies)


def main():
    output, root, *files = sys.argv[1:]
    text = joined(root, files)
    # Where only bodies have changed the output has not: what does not see them is not compiled again.
    if os.path.exists(output):
        with open(output, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)


main()
