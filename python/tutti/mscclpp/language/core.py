"""The program: `with CollectiveProgram(…): … JSON()`.

Its operations are written down thread block by thread block. `to_json` fuses them, adds syncs, makes the instances, and has the plan verified; no other plan
leaves here. Under `tutti compile` the plan is left in a folder for the command, which verifies it and writes the file.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from tutti.errors import ProgramError

from .fusion import fused
from .gpu import Gpu
from .operations import Operation, place_of_call
from .replication import AsWritten, Blocks, Interleaved, Placement, mixes_ranges
from .syncs import with_asked_syncs, with_needed_syncs
from .types import BufferType, ChannelType, MisuseError, ReplicationPolicy, whole
from .utils import AlgoSpec

if TYPE_CHECKING:
    from .collectives import Collective

_current: Optional["CollectiveProgram"] = None
_folder: Optional[Path] = None
_programs: list["CollectiveProgram"] = []
__all__ = ["CollectiveProgram", "MSCCLPPProgram", "get_program"]

texts: set[str] = set()
"""What `to_json` has returned, where a command runs the program."""

_Pair = tuple[int, int, ChannelType]


def get_program() -> "CollectiveProgram":
    if _current is None:
        raise MisuseError("there is no program here: expected `with CollectiveProgram(…):` around it")
    return _current


def set_program(program: Optional["CollectiveProgram"]) -> None:
    global _current
    _current = program


def write_plans_to(folder: Path) -> None:
    """Plans are written there, for the command that runs the program."""
    global _folder
    _folder = folder
    _programs.clear()


def write_remaining() -> None:
    """Writes the plans of programs that were described and not asked for as JSON, as a module for MSCCL++'s own compiler leaves them."""
    for program in _programs:
        if not program.written:
            program.to_json()


class CollectiveProgram:
    def __init__(self, name: str, collective: "Collective", num_ranks: int, instances: int = 1, protocol: str = "Simple", instr_fusion: bool = True,
                 auto_sync: bool = True, replication_policy: ReplicationPolicy = ReplicationPolicy.interleaved, reuse_resources: bool = False,
                 num_threads_per_block: int = 1024, use_double_scratch_buffer: bool = False, buffer_alignment: int = 16, min_message_size: int = 0,
                 max_message_size: int = 2**64 - 1) -> None:
        if protocol not in ("Simple", "LL"):
            raise MisuseError(f"expected the protocol Simple or LL, found {protocol!r}")
        self.name = name
        self.collective = collective
        self.num_ranks = whole(num_ranks, "the number of ranks", 1, 65536)
        self.instances = whole(instances, "the number of instances", 1, 1024)
        self.protocol = protocol
        self.instr_fusion = instr_fusion
        self.auto_sync = auto_sync
        self.replication_policy = replication_policy
        self.reuse_resources = reuse_resources
        self.num_threads_per_block = whole(num_threads_per_block, "the threads of a block", 1, 2**31 - 1)
        self.use_double_scratch_buffer = use_double_scratch_buffer
        self.buffer_alignment = whole(buffer_alignment, "the alignment", 1, 2**31 - 1)
        self.min_message_size = whole(min_message_size, "the least message", 0, 2**64 - 1)
        self.max_message_size = whole(max_message_size, "the largest message", 0, 2**64 - 1)
        self.buffers = collective.init_buffers()
        if len(self.buffers) < self.num_ranks:
            raise MisuseError(f"expected buffers of {self.num_ranks} ranks, found a collective of {len(self.buffers)}")
        self.gpus = [Gpu(rank, len(self.buffers[rank][BufferType.input]), len(self.buffers[rank][BufferType.output])) for rank in range(self.num_ranks)]
        self.written = 0
        self._place = place_of_call()
        self._loop: Optional[dict[tuple[int, int], list[Operation]]] = None
        self._rounds = (0, 0)
        self._signals: dict[_Pair, list[str]] = {}
        self._waits: dict[_Pair, list[str]] = {}

    @classmethod
    def from_spec(cls, spec: AlgoSpec) -> "CollectiveProgram":
        return cls(spec.name, spec.collective, spec.world_size, spec.instances, spec.protocol, spec.instr_fusion, spec.auto_sync, spec.replication_policy,
                   spec.reuse_resources, spec.num_threads_per_block, spec.use_double_scratch_buffer, spec.buffer_alignment, spec.min_message_size,
                   spec.max_message_size)

    def __enter__(self) -> "CollectiveProgram":
        if _current is not None:
            raise MisuseError("there is a program around this one already")
        set_program(self)
        _programs.append(self)
        return self

    def __exit__(self, error: Optional[type[BaseException]], *_: object) -> None:
        set_program(None)
        if error is not None and not self.written:
            _programs.remove(self)  # it is not whole, should the program go on

    def checked_rank(self, rank: int) -> int:
        return whole(rank, "a rank", 0, self.num_ranks - 1)

    def chunks_of(self, rank: int, buffer: BufferType) -> int:
        return self.gpus[rank].scratch_chunks if buffer is BufferType.scratch else len(self.buffers[rank][buffer])

    def add(self, rank: int, tb: int, operation: Operation) -> None:
        block = self.gpus[rank].block(tb)
        if self._loop is None:
            block.operations.append(operation)
        else:
            self._loop.setdefault((rank, tb), []).append(operation)

    def begin_loop(self, unit: int, num_chunks: int) -> None:
        if self._loop is not None:
            raise MisuseError("there is a loop around this one already")
        self._loop = {}
        self._rounds = (unit, num_chunks)

    def end_loop(self) -> None:
        loop, self._loop = self._loop or {}, None
        for (rank, tb), body in loop.items():
            self.add(rank, tb, Operation("pipeline", body[0].place, rounds=self._rounds, body=body))

    def count_signal(self, waits: bool, rank: int, peer: int, kind: ChannelType, place: str) -> None:
        key = (peer, rank, kind) if waits else (rank, peer, kind)
        (self._waits if waits else self._signals).setdefault(key, []).append(place)

    def _unpaired(self) -> dict[str, str]:
        """Signals from one rank to another that are not as many as the waits for them: the next call of the plan would begin with the rest."""
        for key in [*self._signals, *self._waits]:
            signals, waits = self._signals.get(key, []), self._waits.get(key, [])
            if len(signals) != len(waits):
                sender, receiver, kind = key
                message = f"rank {sender} signals rank {receiver} {len(signals)} times on {kind} channels, which waits {len(waits)} times"
                return {"message": message, "place": signals[len(waits)] if len(signals) > len(waits) else waits[len(signals)]}
        return {}

    def _placement(self) -> Placement:
        if self.replication_policy.value != ReplicationPolicy.interleaved.value:
            return AsWritten()
        if self.instances == 1 or not mixes_ranges(operation for gpu in self.gpus for block in gpu.blocks for operation in block.operations):
            return Interleaved()
        share = self.collective.chunk_factor if self.collective.name in ("allgather", "reducescatter", "alltoall") else 0
        scratch = max(gpu.scratch_chunks for gpu in self.gpus)
        for gpu in self.gpus:
            gpu.scratch_chunks = scratch
        return Blocks({"i": share or self.gpus[0].input_chunks, "o": share or self.gpus[0].output_chunks, "s": scratch})

    def _finished(self, operations: list[Operation], placement: Placement) -> list[Operation]:
        if isinstance(placement, Blocks):
            operations = list(placement.pieces(operations))
        made = with_asked_syncs(fused(operations) if self.instr_fusion else operations)
        return with_needed_syncs(made) if self.auto_sync else made

    def to_json(self, indent: Optional[int] = 2, **arguments: Any) -> str:
        placement = self._placement()
        operations = [[self._finished(block.operations, placement) for block in gpu.blocks] for gpu in self.gpus]
        plan = {
            "name": str(self.name),
            "collective": self.collective.name,
            "protocol": self.protocol,
            "inplace": bool(self.collective.inplace),
            "reuse_resources": bool(self.reuse_resources),
            "gpus": [gpu.json(operations[gpu.rank], self.instances, placement) for gpu in self.gpus],
            "num_threads_per_block": self.num_threads_per_block,
            "use_double_scratch_buffer": bool(self.use_double_scratch_buffer),
            "buffer_alignment": self.buffer_alignment,
            "min_message_size": self.min_message_size,
            "max_message_size": self.max_message_size,
        }
        text = json.dumps(plan, indent=indent, **arguments)
        if _folder is None:
            unpaired = self._unpaired()
            if unpaired:
                raise ProgramError(unpaired["message"], "signals", unpaired["place"])
            _verify(text)
        else:
            self._leave(_folder, plan, operations)
            texts.add(text)
        return text

    def _leave(self, folder: Path, plan: dict[str, Any], operations: list[list[list[Operation]]]) -> None:
        if self.written == 0:
            self.written = 1 + max(program.written for program in _programs + [self])
        (folder / f"{self.written}.json").write_text(json.dumps(plan))
        lines = [[[[operation.place, *[inner.place for inner in operation.body]] for operation in block] for block in gpu] for gpu in operations]
        (folder / f"{self.written}.lines").write_text(json.dumps({"program": self._place, "instances": self.instances, "unpaired": self._unpaired(), "lines": lines}))


MSCCLPPProgram = CollectiveProgram
"""As earlier programs call it."""


def _verify(plan: str) -> None:
    command = os.environ.get("TUTTI_COMMAND") or shutil.which("tutti")
    if command is None:
        raise ProgramError("the command tutti is not found; TUTTI_COMMAND can name it")
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        file = Path(folder) / "plan.json"
        file.write_text(plan)
        done = subprocess.run([command, "verify", str(file)], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout, end="", file=sys.stderr)
        raise ProgramError("the plan of this program is refused", "plan-refused")
