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
from tutti.msccl.topologies.topology import Topology

from .buffer import *
from .chunk import *
from .ir import *
from .lowered import Lowered
from .reference import *

_current_program = None
_folder = None
_written = 0
_VERB_WORDS = 8  # of the list of verbs: whether it reduces, source, target, sendtb, recvtb, ch, code, position in it


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


@functools.lru_cache(maxsize=None)
def _file(path):
    return _name(os.path.relpath(path) if os.path.isabs(path) else path)


def _line(code, position):
    return next((line for first, end, line in code.co_lines() if first <= position < end and line is not None), code.co_firstlineno)


def _called_at(code, position):
    """The line of the program, as a trace file has it."""
    return f"{_file(code.co_filename)}:{_line(code, position)}"


def _matrix(topo):
    """The links, if they can be looked up as links[dst][src]; else None."""
    plain = type(topo).link is Topology.link and not any(isinstance(row, dict) for row in topo.links)
    return topo.links if plain else None


def lines_of_caller(routine):
    """For routines of this package: the verbs that they call are told with the line that called the routine."""
    @functools.wraps(routine)
    def wrapped(*arguments, **keywords):
        verbs = _curr()._verbs
        first, frame = len(verbs), sys._getframe(1)
        routine(*arguments, **keywords)
        count = (len(verbs) - first) // _VERB_WORDS
        verbs[first + 6::_VERB_WORDS] = [frame.f_code] * count
        verbs[first + 7::_VERB_WORDS] = [frame.f_lasti] * count
    return wrapped


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
        self._buffers = collective.init_buffers()
        self._initial = [[[place for place, value in enumerate(buffers.get(buffer, ())) if value is not None]
                          for buffer in (Buffer.input, Buffer.output)] for buffers in self._buffers]
        self._verbs = []
        self._record = self._verbs.extend
        self._valued = 0  # of the list of verbs: what has been done to the values in `_buffers`
        self._places = [self._held(buffers) for buffers in self._buffers]
        self._renamed = collective.renamed_buffers()
        self._links = _matrix(topo)

    def __enter__(self):
        global _current_program
        if _current_program is not None:
            raise RuntimeError("there is a program around this one already")
        _current_program = self

    def __exit__(self, exc_type, exc_value, exc_traceback):
        global _current_program
        _current_program = None

    @staticmethod
    def _held(buffers):
        """For each place of a rank None where it holds nothing, else the reference to it, or True while nobody has asked for that. Lists that are one stay one."""
        lists = {id(values): [None if value is None else True for value in values] for values in buffers.values()}
        return {buffer: lists[id(values)] for buffer, values in buffers.items()}

    def verbs(self):
        """For each verb so far whether it reduces, its source, and its target."""
        return zip(*(self._verbs[word::_VERB_WORDS] for word in range(3)))

    @property
    def buffers(self):
        """What is in the places now, by rank, buffer and index."""
        verbs, first = self._verbs, self._valued
        self._valued = len(verbs)
        for at in range(first, len(verbs), _VERB_WORDS):
            reduces, source, target = verbs[at:at + 3]
            from_, to = self._buffers[source.rank][source.buffer], self._buffers[target.rank][target.buffer]
            for i in range(target.size):
                value, into = from_[source.index + i], target.index + i
                if reduces and (value is None or to[into] is None):
                    raise ProgramError(f"{target} += {source}: a chunk holds nothing", place=_called_at(*verbs[at + 6:at + 8]))
                to[into] = to[into].reduce(target.rank, value) if reduces else value
        return self._buffers

    def get_ref(self, rank, buffer, index, size):
        buffer, index = self.collective.get_buffer_index(rank, buffer, index)
        if size != 1:
            return Ref(rank, buffer, index, size, self)
        places = self._places[rank][buffer]
        if places[index].__class__ is not Ref:
            places[index] = Ref(rank, buffer, index, size, self)
        return places[index]

    def get_chunks(self, rank, buffer, index, size=1):
        places = self.buffers[rank][buffer]
        return [places[i] if i < len(places) else None for i in range(index, index + size)]

    def check_buffer_exists(self, rank, name):
        if name not in self._buffers[rank]:
            self._buffers[rank][name] = BufferSlice(Buffer.scratch, name)
            self._places[rank][name] = []

    def check(self):
        return self.collective.check(self)

    def _next_place(self, ref, rank, buffer):
        """Where a copy without an index goes: to the same place, or behind the end of a scratch buffer."""
        if buffer is None:
            return ref.buffer, ref.index
        if buffer in (Buffer.input, Buffer.output):
            raise ProgramError("expected an index; only in a scratch buffer there is a next place")
        self.check_buffer_exists(rank, buffer)
        return buffer, len(self._places[rank][buffer])

    def _with_room(self, rank, buffer, index):
        """The places of a buffer; scratch grows as it is written."""
        self.check_buffer_exists(rank, buffer)
        places = self._places[rank][buffer]
        if index >= len(places):
            if not isinstance(self._buffers[rank][buffer], BufferSlice):
                raise ProgramError(f"index {index} is outside of the {buffer.name} buffer of rank {rank}, which has {_chunks(len(places))}")
            places += [None] * (index + 1 - len(places))
        return places

    def _written(self, ref, rank, buffer, index):
        """A reference to what a copy writes, for all kinds of copies."""
        if rank < 0 or index < 0:
            raise ProgramError(f"expected a rank and an index of 0 or more, found {rank} and {index}")
        self.check_buffer_exists(rank, buffer)
        # With the sender's rank: programs for in-place all-gathers lean on it.
        buffer, index = self.collective.get_buffer_index(ref.rank, buffer, index)
        buffer, index = self.collective.get_buffer_index(rank, buffer, index)
        places = self._with_room(rank, buffer, index + ref.size - 1)
        end = index + ref.size
        if None in places[index:end]:
            places[index:end] = [place or True for place in places[index:end]]
        return self.get_ref(rank, buffer, index, ref.size)

    @staticmethod
    def _slot(ref):
        word = ref.buffer.value if isinstance(ref.buffer, Buffer) else "s:" + _name(ref.buffer)
        return f" {ref.rank} {word} {ref.index}"

    def _verb_lines(self):
        """Most verbs differ from others in their places only."""
        tails, words = {}, [iter(self._verbs)] * _VERB_WORDS
        for reduces, source, target, sendtb, recvtb, ch, code, position in zip(*words):
            key = (reduces, target.size, sendtb, recvtb, ch, id(code), position)
            verb, tail = tails.get(key) or tails.setdefault(key, (
                "reduce" if reduces else "copy", f" {target.size} sendtb {sendtb} recvtb {recvtb} ch {ch} @{_called_at(code, position)}\n"))
            if source._text is None:
                source._text = self._slot(source)
            if target._text is None:
                target._text = self._slot(target)
            yield verb + source._text + target._text + tail

    def trace(self):
        """The program as a trace file."""
        kind = getattr(type(self.collective), "kind", "") or "custom"
        custom = kind == "custom"
        in_place = self.collective.inplace
        first = self._buffers[0]
        if custom:  # the flag alone says nothing
            in_place = all(b.get(Buffer.input) is b.get(Buffer.output) for b in self._buffers)
        words = [f"program {_name(self.name)} collective {kind} ranks {self.num_ranks} chunks {self.collective.chunk_factor} in_place {int(bool(in_place))}"]
        if kind == "broadcast":
            words.append(f"root {self.collective.root}")
        if custom:
            inputs = max(len(b.get(Buffer.input, ())) for b in self._buffers)
            outputs = max(len(b.get(Buffer.output, ())) for b in self._buffers)
            words.append(f"inputs {inputs} outputs {outputs}")
        words.append(f"protocol {self.protocol} instances {max(int(self.instances), 1)} interleaved {int(bool(self.interleaved_replication))}")
        words.append(f"policy {self.threadblock_policy} fusion {int(bool(self.instr_fusion))}")
        lines = ["tutti_trace 1\n", " ".join(words) + "\n"]
        if custom:
            for rank, (inputs, outputs) in enumerate(self._initial):
                lines += [f"init {rank} i {index} {rank} {index}\n" for index in inputs]
                if not in_place:
                    lines += [f"init {rank} o {index} {rank} {len(first[Buffer.input]) + index}\n" for index in outputs]
        lines.extend(self._verb_lines())
        return "".join(lines)

    def generate_xml(self):
        """The plan, verified. Raises ProgramError where the program is wrong."""
        self._check_custom()
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            trace = Path(folder) / "program.chunks"
            trace.write_text(self.trace())
            done = subprocess.run([_command(), "compile", str(trace), "-o", "-", "--quiet"], capture_output=True, text=True)
        if done.returncode != 0:
            raise ProgramError(done.stderr.strip().removeprefix("error: ").removeprefix(f"{trace}: "), "check-failed" if done.returncode == 1 else "program-error")
        return done.stdout

    def lower(self):
        """The verified plan as objects: `gpus[i].threadblocks[j].ops`."""
        return Lowered(self.generate_xml())

    def _check_custom(self):
        """tutti checks the collectives that it knows; what a custom one wants only its own check knows."""
        if getattr(type(self.collective), "kind", "") == "" and self.collective.check(self) is False:
            raise ProgramError(f"the check of the collective {self.collective.name} fails", "check-failed")


def _chunks(count):
    return "1 chunk" if count == 1 else f"{count} chunks"


def _missing(program, rank, buffer, index):
    """Why there is no such chunk."""
    if rank >= len(program._places):
        return f"there is no rank {rank}; the program has {len(program._places)}"
    name = getattr(buffer, "name", buffer)
    if buffer not in program._places[rank]:
        return f"rank {rank} has no buffer '{name}'; nothing was copied to it before"
    return f"{name}[{index}] of rank {rank} is outside of its buffer, which has {_chunks(len(program._places[rank][buffer]))}"


def chunk(rank, buffer, index, size=1):
    program = _current_program or _curr()
    if rank < 0 or index < 0:
        raise ProgramError(f"expected a rank and an index of 0 or more, found {rank} and {index}")
    try:
        place = program._places[rank][buffer][index]
    except (IndexError, KeyError) as error:
        raise type(error)(_missing(program, rank, buffer, index)) from None
    if place is None or size == 1 and place is not True:
        return place
    if size != 1 and buffer not in program._renamed:
        return Ref(rank, buffer, index, size, program)
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
