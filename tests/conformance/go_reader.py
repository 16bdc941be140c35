# SPDX-License-Identifier: Apache-2.0
"""How a Go runtime reads what a plugin sends, rule by rule, written from the behaviour and not from
the code: a virtual connection hands over whole multiplexer frames, and a reader of 4096 bytes sits
above it.

1. A connection queues at most 256 frames; one more closes everything.
2. With nothing buffered, a read of 4096 bytes or more takes the next frame straight into the
   caller's memory, a smaller one into the reader's 4096 bytes.
3. A frame larger than the memory offered is ENOMEM: the frame is lost and the plugin is dropped,
   while the container is created without it.
4. A frame that claims more than 4 MiB + 10 closes everything; so does a message above 4 MiB, which
   cannot be skipped over because of rule 3.
"""

import collections
import struct

import wire

BUFFER, QUEUE, LARGEST = 4096, 256, 4 << 20


class Dropped(Exception):
    """A Go runtime would have closed the connection to this plugin."""


class Connection:
    """One virtual connection. `pump` blocks until more frames are queued."""

    def __init__(self, pump):
        self.pump = pump
        self.frames = collections.deque()
        self.buffered = b""

    def push(self, frame):
        if len(self.frames) >= QUEUE:
            raise Dropped(f"more than {QUEUE} frames queued")
        self.frames.append(frame)

    def read_full(self, size):
        out = b""
        while len(out) < size:
            missing = size - len(out)
            if not self.buffered:
                while not self.frames:
                    self.pump()
                frame = self.frames.popleft()
                offered = missing if missing >= BUFFER else BUFFER
                if len(frame) > offered:
                    raise Dropped(f"ENOMEM: a frame of {len(frame)} bytes for a buffer of {offered}")
                self.buffered = frame
            out += self.buffered[:missing]
            self.buffered = self.buffered[missing:]
        return out

    def message(self):
        """(stream, type, body) of the next ttrpc message."""
        size, stream, kind, _flags = struct.unpack(">IIBB", self.read_full(10))
        if size > LARGEST:
            raise Dropped(f"a message of {size} bytes")
        return stream, kind, self.read_full(size)


class Trunk:
    """Splits the socket's bytes into frames of connections."""

    def __init__(self, receive):
        self.receive = receive
        self.pending = b""
        self.connections = {number: Connection(self.pump) for number in (wire.PLUGIN, wire.RUNTIME)}

    def pump(self):
        """Reads the socket once and queues what is complete."""
        self.pending += self.receive()
        while len(self.pending) >= 8:
            number, size = struct.unpack(">II", self.pending[:8])
            if size > LARGEST + 10:
                raise Dropped(f"a frame of {size} bytes")
            if len(self.pending) < 8 + size:
                return
            if number in self.connections:
                self.connections[number].push(self.pending[8 : 8 + size])
            self.pending = self.pending[8 + size :]
