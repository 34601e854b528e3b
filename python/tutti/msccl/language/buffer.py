"""Scratch buffers, which grow as they are written."""

__all__ = ["BufferSlice"]


class BufferSlice:
    def __init__(self, buf, name):
        self.buf = buf
        self.name = name
        self.chunks = []

    def get_buffer(self):
        return self.buf

    def instance_size(self):
        return len(self.chunks)

    def __getitem__(self, index):
        return self.chunks[index]

    def __setitem__(self, index, value):
        if index >= len(self.chunks):
            self.chunks += [None] * (index + 1 - len(self.chunks))
        self.chunks[index] = value

    def __len__(self):
        return len(self.chunks)
