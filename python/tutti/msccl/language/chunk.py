"""Values of places while a program runs."""

__all__ = ["Chunk", "ReduceChunk"]


class Chunk:
    """A chunk as it was at the start, and where the collective wants it."""

    __slots__ = ("origin_rank", "origin_index", "dst_rank", "dst_index")

    def __init__(self, origin_rank, origin_index, dst_rank=-1, dst_index=-1):
        self.origin_rank = origin_rank
        self.origin_index = origin_index
        self.dst_rank = dst_rank
        self.dst_index = dst_index

    def reduce(self, dst, chunk):
        return ReduceChunk._of(dst, self, chunk)

    def __eq__(self, other):
        return type(other) is Chunk and (self.origin_rank, self.origin_index) == (other.origin_rank, other.origin_index)

    def __lt__(self, other):
        return (self.origin_rank, self.origin_index) < (other.origin_rank, other.origin_index)

    def __hash__(self):
        return hash((self.origin_rank, self.origin_index))

    def __repr__(self):
        return f"Chunk(origin_rank={self.origin_rank}, origin_index={self.origin_index}, dst_rank={self.dst_rank}, dst_index={self.dst_index})"


class ReduceChunk:
    """A sum of chunks. Its list is made when somebody asks for it: most programs never do."""

    __slots__ = ("creation_rank", "_parts", "_chunks")

    def __init__(self, creation_rank, chunks):
        self.creation_rank = creation_rank
        self._parts = None
        self._chunks = list(chunks)

    @classmethod
    def _of(cls, rank, first, second):
        made = cls.__new__(cls)
        made.creation_rank = rank
        made._parts = (first, second)
        made._chunks = None
        return made

    @property
    def chunks(self):
        if self._chunks is None:
            found, open_ = [], [self]
            while open_:
                part = open_.pop()
                if type(part) is ReduceChunk:
                    open_ += reversed(part._parts) if part._chunks is None else reversed(part._chunks)
                else:
                    found.append(part)
            self._chunks = found
        return self._chunks

    def reduce(self, dst, chunk):
        return ReduceChunk._of(self.creation_rank, self, chunk)

    def sort(self):
        self.chunks.sort()

    def __eq__(self, other):
        return type(other) is ReduceChunk and sorted(self.chunks) == sorted(other.chunks)

    def __hash__(self):
        return hash((self.creation_rank, *sorted(self.chunks)))

    def __repr__(self):
        return f"ReduceChunk(creation_rank={self.creation_rank}, chunks={self.chunks})"
