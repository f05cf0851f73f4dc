"""Reads a GGUF file with numpy, on its own terms: what the Rust reader is compared with."""

import struct

import numpy

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class Gguf:
    def __init__(self, path):
        self.data = open(path, "rb").read()
        self.at = 0
        assert self.take(4) == b"GGUF"
        self.number("I")
        tensors, values = self.number("Q"), self.number("Q")
        self.metadata = {}
        for _ in range(values):
            key = self.text()
            self.metadata[key] = self.value(self.number("I"))
        self.tensors = {}
        for _ in range(tensors):
            name = self.text()
            shape = [self.number("Q") for _ in range(self.number("I"))]
            self.tensors[name] = (shape, self.number("I"), self.number("Q"))
        self.start = -(-self.at // 32) * 32

    def take(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def text(self):
        return self.take(self.number("Q")).decode()

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            of, count = self.number("I"), self.number("Q")
            return [self.value(of) for _ in range(count)]
        return self.number(SCALARS[kind])

    def tensor(self, name):
        """The numbers of a tensor, rows first."""
        shape, kind, offset = self.tensors[name]
        count = int(numpy.prod(shape))
        begin = self.start + offset
        if kind == 0:
            flat = numpy.frombuffer(self.data, "<f4", count, begin)
        elif kind == 3:
            block = numpy.dtype([("scale", "<f2"), ("min", "<f2"), ("codes", "u1", 16)])
            blocks = numpy.frombuffer(self.data, block, count // 32, begin)
            codes = numpy.concatenate([blocks["codes"] & 15, blocks["codes"] >> 4], axis=1)
            scale, least = (blocks[part].astype("f4")[:, None] for part in ("scale", "min"))
            flat = codes * scale + least
        elif kind == 8:
            block = numpy.dtype([("scale", "<f2"), ("codes", "i1", 32)])
            blocks = numpy.frombuffer(self.data, block, count // 32, begin)
            flat = blocks["codes"] * blocks["scale"].astype("f4")[:, None]
        else:
            raise ValueError(f"{name} is of kind {kind}")
        return flat.astype("f4").reshape(list(reversed(shape)))
