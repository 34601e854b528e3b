#!/usr/bin/env python3
"""Writes NAME.json, the program, and NAME.schedule.json, its schedule, for every example here; --check only compares.

    PYTHONPATH=python python3 examples/tensor/write.py [--check]
"""

import importlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = ["sgd", "adam", "adam_f16", "lamb", "matmul_block", "mlp", "attention", "pipeline_step", "moe"]


def text_of(value: dict) -> str:
    """One line for each value or step, so that changes can be read."""
    lists = [key for key in ("values", "steps") if key in value]
    rest = {key: item for key, item in value.items() if key not in lists}
    lines = [f"  {json.dumps(key)}: {json.dumps(item)}" for key, item in rest.items()]
    for key in lists:
        lines.append(f"  {json.dumps(key)}: [\n" + ",\n".join(f"    {json.dumps(item)}" for item in value[key]) + "\n  ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> int:
    sys.path.insert(0, str(HERE))
    stale = []
    for name in NAMES:
        example = importlib.import_module(name)
        program = example.program()
        for path, value in ((HERE / f"{name}.json", program.to_dict()), (HERE / f"{name}.schedule.json", example.schedule(program).schedule())):
            if not path.exists() or path.read_text() != text_of(value):
                stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(text_of(value))
    if "--check" in sys.argv and stale:
        print(f"not what the Python says: {', '.join(stale)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
