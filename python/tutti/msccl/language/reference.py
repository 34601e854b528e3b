"""References to chunks, and the verbs that they have.

A verb costs less than a microsecond. There is one reference for each place (longer ranges are made anew), made when it is first asked for, so `chunk` is a lookup; what
is in the places is computed when somebody reads it (`MSCCLProgram.buffers`); the line that called is kept as a code object and the position in it, whose line number
and text are found when the trace is written.
"""

from sys import _getframe

from tutti.errors import ProgramError

__all__ = ["Ref"]


class Ref:
    """Neighbouring chunks of a buffer of a rank."""

    __slots__ = ("rank", "buffer", "index", "size", "prog", "_text")

    def __init__(self, rank, buffer, index, size, prog):
        self.rank = rank
        self.buffer = buffer
        self.index = index
        self.size = size
        self.prog = prog
        self._text = None

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

    def copy(self, dst, buffer=None, index=-1, sendtb=-1, recvtb=-1, ch=-1):
        program, rank = self.prog, self.rank
        if index == -1:
            buffer, index = program._next_place(self, dst, buffer)
        links = program._links
        try:
            linked = rank == dst or (links[dst][rank] if links else program.topo.link(rank, dst))
        except IndexError:
            raise IndexError(f"there is no rank {dst}; the program has {program.num_ranks}") from None
        if not linked:
            raise ProgramError(f"there is no link from rank {rank} to rank {dst}")
        if self.size == 1 and dst >= 0 and index >= 0 and buffer not in program._renamed:
            try:
                places = program._places[dst][buffer]
                made = places[index]
            except (KeyError, IndexError):
                places, made = program._with_room(dst, buffer, index), None
            if made.__class__ is not Ref:
                made = places[index] = Ref(dst, buffer, index, 1, program)
            elif made is self:
                return None
        else:
            made = program._written(self, dst, buffer, index)
            if made == self:
                return None
        frame = _getframe(1)
        program._record((False, self, made, sendtb, recvtb, ch, frame.f_code, frame.f_lasti))
        return made

    def reduce(self, other_chunkref, sendtb=-1, recvtb=-1, ch=-1):
        program, src, dst = self.prog, other_chunkref.rank, self.rank
        links = program._links
        if src != dst and not (links[dst][src] if links else program.topo.link(src, dst)):
            raise ProgramError(f"there is no link from rank {src} to rank {dst}")
        frame = _getframe(1)
        program._record((True, other_chunkref, self, sendtb, recvtb, ch, frame.f_code, frame.f_lasti))
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
