#!/usr/bin/env python3
"""mypy --strict over the package, its examples, its tests, and the examples of docs/python.md. Run in the repository's root, with the build folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    build = Path(sys.argv[1])
    blocks = re.findall(r"^```python\n(.*?)^```$", Path("docs/python.md").read_text(), re.DOTALL | re.MULTILINE)
    with tempfile.TemporaryDirectory(prefix="tutti-types-") as folder:
        page = Path(folder) / "docs_python.py"
        page.write_text("\n".join(blocks))
        files = [str(page), "python/examples", *map(str, sorted(Path("python/tests").glob("*.py")))]
        paths = f"{build / 'python'}{os.pathsep}python/tests"
        mypy = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", str(build / "python/.mypy_cache"), "--no-error-summary"]
        codes = [subprocess.run([*mypy, *what], env=os.environ | {"MYPYPATH": paths}).returncode for what in (["-p", "tutti"], files)]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
