"""Chunk programs as msccl-tools has them: `with MSCCLProgram(…): chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0); XML()`.

What a program calls is written down, verb by verb, with the line that called it; `tutti compile` checks, compiles and verifies it. Kept as in msccl-tools, because
programs lean on it: `chunk` of an empty place is None, as is a copy onto itself; a reference reads what is in its place now; `instances` below 1 counts as 1.
"""

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from tutti.command import command
from tutti.errors import ProgramError

from .buffer import *
from .chunk import *
from .ir import *

_current_program = None
_folder = None
_written = 0
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _command():
    try:
        return command()
    except FileNotFoundError as error:
        raise ProgramError(str(error)) from None


def write_traces_to(folder):
    """XML() writes trace files there instead of printing plans."""
    global _folder, _written
    _folder, _written = Path(folder), 0


def _curr():
    if _current_program is None:
        raise RuntimeError("there is no program here: expected `with MSCCLProgram(…):` around it")
    return _current_program


def _name(text):
    return quote(str(text), safe="_-./+,()=") or "%"


def _place():
    """The line of the program that called, as a trace file has it."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return "" if frame is None else f" @{_file(frame.f_code.co_filename)}:{frame.f_lineno}"


@functools.lru_cache(maxsize=None)
def _file(path):
    return _name(os.path.relpath(path) if os.path.isabs(path) else path)


class MSCCLProgram:
    def __init__(self, name, topo, collective, instances, protocol="Simple", threadblock_policy=ThreadblockPolicy.auto,
                 interleaved_replication=True, instr_fusion=True, check_xml=True, dependence_nop=False):
        if protocol not in ("Simple", "LL", "LL128"):
            raise ProgramError(f"expected the protocol Simple, LL or LL128, found {protocol!r}")
        self.name = name
        self.topo = topo
        self.collective = collective
        self.num_ranks = topo.num_nodes()
        self.instances = instances
        self.protocol = protocol
        self.threadblock_policy = threadblock_policy
        self.interleaved_replication = interleaved_replication
        self.instr_fusion = instr_fusion
        self.check_xml = check_xml
        self.dependence_nop = dependence_nop
        self.buffers = collective.init_buffers()
        self._initial = [[[place for place, value in enumerate(buffers.get(buffer, ())) if value is not None]
                          for buffer in (Buffer.input, Buffer.output)] for buffers in self.buffers]
        self._verbs = []

    def __enter__(self):
        global _current_program
        if _current_program is not None:
            raise RuntimeError("there is a program around this one already")
        _current_program = self

    def __exit__(self, exc_type, exc_value, exc_traceback):
        global _current_program
        _current_program = None

    def get_ref(self, rank, buffer, index, size):
        buffer, index = self.collective.get_buffer_index(rank, buffer, index)
        return Ref(rank, buffer, index, size, self)

    def get_chunks(self, rank, buffer, index, size=1):
        places = self.buffers[rank][buffer]
        return [places[i] if i < len(places) else None for i in range(index, index + size)]

    def check_buffer_exists(self, rank, name):
        if name not in self.buffers[rank]:
            self.buffers[rank][name] = BufferSlice(Buffer.scratch, name)

    def check(self):
        return self.collective.check(self)

    def _slot(self, rank, buffer, index):
        word = buffer.value if isinstance(buffer, Buffer) else "s:" + _name(buffer)
        return f"{rank} {word} {index}"

    def _record(self, verb, source, target, count, sendtb, recvtb, ch):
        self._verbs.append(f"{verb} {source} {target} {count} sendtb {sendtb} recvtb {recvtb} ch {ch}{_place()}\n")

    def trace(self):
        """The program as a trace file."""
        kind = getattr(type(self.collective), "kind", "") or "custom"
        custom = kind == "custom"
        in_place = self.collective.inplace
        first = self.buffers[0]
        if custom:  # the flag alone says nothing
            in_place = all(b.get(Buffer.input) is b.get(Buffer.output) for b in self.buffers)
        words = [f"program {_name(self.name)} collective {kind} ranks {self.num_ranks} chunks {self.collective.chunk_factor} in_place {int(bool(in_place))}"]
        if kind == "broadcast":
            words.append(f"root {self.collective.root}")
        if custom:
            inputs = max(len(b.get(Buffer.input, ())) for b in self.buffers)
            outputs = max(len(b.get(Buffer.output, ())) for b in self.buffers)
            words.append(f"inputs {inputs} outputs {outputs}")
        words.append(f"protocol {self.protocol} instances {max(int(self.instances), 1)} interleaved {int(bool(self.interleaved_replication))}")
        words.append(f"policy {self.threadblock_policy} fusion {int(bool(self.instr_fusion))}")
        lines = ["tutti_trace 1\n", " ".join(words) + "\n"]
        if custom:
            for rank, (inputs, outputs) in enumerate(self._initial):
                lines += [f"init {rank} i {index} {rank} {index}\n" for index in inputs]
                if not in_place:
                    lines += [f"init {rank} o {index} {rank} {len(first[Buffer.input]) + index}\n" for index in outputs]
        return "".join(lines + self._verbs)

    def generate_xml(self):
        """The plan, verified. Raises ProgramError where the program is wrong."""
        self._check_custom()
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            trace = Path(folder) / "program.chunks"
            trace.write_text(self.trace())
            done = subprocess.run([_command(), "compile", str(trace), "-o", "-", "--quiet"], capture_output=True, text=True)
        if done.returncode != 0:
            raise ProgramError(done.stderr.strip().removeprefix("error: "), "check-failed" if done.returncode == 1 else "program-error")
        return done.stdout

    def _check_custom(self):
        """tutti checks the collectives that it knows; what a custom one wants only its own check knows."""
        if getattr(type(self.collective), "kind", "") == "" and self.collective.check(self) is False:
            raise ProgramError(f"the check of the collective {self.collective.name} fails", "check-failed")


def chunk(rank, buffer, index, size=1):
    program = _curr()
    if program.buffers[rank][buffer][index] is None:
        return None
    return program.get_ref(rank, buffer, index, size)


def XML():
    global _written
    program = _curr()
    if _folder is None:
        print(program.generate_xml())
        return
    program._check_custom()
    _written += 1
    (_folder / f"{_written}.chunks").write_text(program.trace())


def Check():
    return _curr().check()


def Print():
    print(_curr().trace())


class Ref:
    """Neighbouring chunks of a buffer of a rank."""

    __slots__ = ("rank", "buffer", "index", "size", "prog")

    def __init__(self, rank, buffer, index, size, prog):
        self.rank = rank
        self.buffer = buffer
        self.index = index
        self.size = size
        self.prog = prog

    def __eq__(self, other):
        return isinstance(other, Ref) and (self.rank, self.buffer, self.index, self.size) == (other.rank, other.buffer, other.index, other.size)

    def __hash__(self):
        return hash((self.rank, self.buffer, self.index, self.size))

    def __repr__(self):
        return f"Ref(Buffer:{self.buffer}, Index:{self.index}, Size:{self.size}, Rank:{self.rank})"

    def split(self, num):
        if self.size % num != 0:
            raise ProgramError(f"{self.size} chunks cannot be split into {num} equal parts")
        size = self.size // num
        return [self.prog.get_ref(self.rank, self.buffer, self.index + i * size, size) for i in range(num)]

    def group(self, other):
        if (self.rank, self.buffer) != (other.rank, other.buffer):
            raise ProgramError(f"{self} and {other} are not in one buffer")
        first = min(self.index, other.index)
        end = max(self.index + self.size, other.index + other.size)
        return Ref(self.rank, self.buffer, first, end - first, self.prog)

    def _check_link(self, src, dst):
        if src != dst and not self.prog.topo.link(src, dst):
            raise ProgramError(f"there is no link from rank {src} to rank {dst}")

    def copy(self, dst, buffer=None, index=-1, sendtb=-1, recvtb=-1, ch=-1):
        program = self.prog
        if buffer is None and index == -1:
            buffer, index = self.buffer, self.index
        program.check_buffer_exists(dst, buffer)
        if index == -1 and buffer not in (Buffer.input, Buffer.output):
            index = program.buffers[dst][buffer].instance_size()
        # With the sender's rank: programs for in-place all-gathers lean on it.
        buffer, index = program.collective.get_buffer_index(self.rank, buffer, index)
        self._check_link(self.rank, dst)
        made = program.get_ref(dst, buffer, index, self.size)
        if made == self:
            return None
        source, target = program.buffers[self.rank][self.buffer], program.buffers[dst][made.buffer]
        for i in range(self.size):
            target[made.index + i] = source[self.index + i]
        program._record("copy", program._slot(self.rank, self.buffer, self.index), program._slot(dst, made.buffer, made.index), self.size,
                        sendtb, recvtb, ch)
        return made

    def reduce(self, other_chunkref, sendtb=-1, recvtb=-1, ch=-1):
        program, other = self.prog, other_chunkref
        self._check_link(other.rank, self.rank)
        source, target = program.buffers[other.rank][other.buffer], program.buffers[self.rank][self.buffer]
        for i in range(self.size):
            target[self.index + i] = target[self.index + i].reduce(self.rank, source[other.index + i])
        program._record("reduce", program._slot(other.rank, other.buffer, other.index), program._slot(self.rank, self.buffer, self.index),
                        self.size, sendtb, recvtb, ch)
        return self

    def _chunk(self, index):
        return self.prog.buffers[self.rank][self.buffer][self.index + index]

    def get_origin_index(self, index=0):
        return self._chunk(index).origin_index

    def get_origin_rank(self, index=0):
        return self._chunk(index).origin_rank

    def get_dst_index(self, index=0):
        return self._chunk(index).dst_index

    def get_dst_rank(self, index=0):
        return self._chunk(index).dst_rank

    def print_chunk_info(self, index=0):
        print(self._chunk(index))
