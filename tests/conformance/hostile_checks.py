# SPDX-License-Identifier: Apache-2.0
"""Traffic that no honest runtime sends: the plugin may hang up, and has to come back."""

import random
import socket
import struct
import time

import wire
from framing_checks import close_or_refuse
from runtime_side import Closed, Failed, expect

MEMORY_MIB = 128


def small(lab):
    expect(lab.rss_mib() < MEMORY_MIB, f"memory grew to {lab.rss_mib()} MiB")


def even_stream(lab):
    """an even stream id is refused"""
    body = wire.request("CreateContainer", wire.create(lab.gpus))
    close_or_refuse(lab, wire.ttrpc(1000, wire.REQUEST, body), 1000)


def repeated_stream(lab):
    """a stream id that was used already is refused"""
    body = wire.request("CreateContainer", wire.create(lab.gpus))
    close_or_refuse(lab, wire.ttrpc(1, wire.REQUEST, body), 1)


def undecodable_envelope(lab):
    """an envelope that is no protobuf is refused"""
    close_or_refuse(lab, wire.ttrpc(101, wire.REQUEST, b"\xff" * 40), 101)


def undecodable_payload(lab):
    """payloads that are no CreateContainerRequest get nothing: an error would fail the container"""
    bad = [
        b"\xff" * 30,
        wire.message((1, wire.pod())) + b"\x12\xff\xff\xff\xff\x0f",  # a length beyond the end
        b"\x0b" * 10_000,  # groups in groups
        b"\x08" + b"\x80" * 11,  # a number that does not end
    ]
    session = lab.connected()
    for payload in bad:
        expect(session.call("CreateContainer", payload) == (0, "", b""), "not an empty answer")
    session.create()


def deep_nesting(lab):
    """10,000 messages in each other end in an answer or a hang-up"""
    nested = b""
    for _ in range(10_000):
        nested = wire.field(2, nested)
    session = lab.connected()
    try:
        session.call("CreateContainer", nested)
    except Closed:
        pass
    finally:
        session.close()


def not_utf8(lab):
    """text that is not UTF-8 ends in an answer or a hang-up"""
    broken = wire.message((1, "c"), (3, b"\xc3\x28"), (8, b"A=\xff\xfe\x00"))
    session = lab.connected()
    try:
        session.call("CreateContainer", wire.message((1, wire.pod()), (2, broken)))
    except Closed:
        pass
    finally:
        session.close()


def unasked_responses(lab):
    """responses that nobody waits for"""
    session = lab.connected()
    try:
        for number in (wire.RUNTIME, wire.PLUGIN):
            session.send(wire.mux(number, wire.ttrpc(77, wire.RESPONSE, b"")) * 5)
        session.create()
    except Closed:
        pass
    finally:
        session.close()


def requests_on_runtime_connection(lab):
    """requests on the connection that is ours to serve"""
    session = lab.connected()
    try:
        session.send(wire.mux(wire.RUNTIME, session.frame("CreateContainer", wire.create(lab.gpus))[1]))
        session.create()
    except Closed:
        pass
    finally:
        session.close()


def before_its_time(lab):
    """CreateContainer before Configure, and everything in the wrong order"""
    session = lab.accept()
    session.expect_registration()
    try:
        session.call("CreateContainer", wire.create(lab.gpus))
        session.call("Synchronize", b"")
        session.call("Configure", wire.configure())
    except Closed:
        pass
    finally:
        session.close()


def refused_registration(lab):
    """a registration that is answered with an error is tried again"""
    session = lab.accept()
    stream = session.expect_registration()
    status = wire.message((1, 2), (2, "no plugins today"))
    session.send(wire.mux(wire.RUNTIME, wire.ttrpc(stream, wire.RESPONSE, wire.field(1, status))))
    time.sleep(0.05)
    session.close()


def truncated(lab):
    """the connection ends within a request"""
    for cut in (1, 4, 7, 8, 9, 17, 18, 19, 60):
        session = lab.connected()
        framed = wire.mux(wire.PLUGIN, session.frame("CreateContainer", wire.create(lab.gpus))[1])
        session.send(framed[:cut])
        session.close()


def reset_with_answer_pending(lab):
    """the connection ends while an answer is on its way"""
    for _ in range(5):
        session = lab.connected()
        session.send(wire.mux(wire.PLUGIN, session.frame("CreateContainer", wire.create(lab.gpus))[1]))
        session.close()


def hangs_up(lab, data):
    session = lab.connected()
    try:
        session.send(data)
        session.sock.shutdown(socket.SHUT_WR)
        session.wait_closed()
    except (Closed, OSError):
        pass
    finally:
        session.close()
    small(lab)


def oversized_frames(lab):
    """multiplexer frames that claim 17 MiB and more"""
    for size in ((17 << 20) + 1, 1 << 30, 0x7FFFFFFF, 0xFFFFFFFF):
        hangs_up(lab, struct.pack(">II", wire.PLUGIN, size) + b"\0" * 1000)


def oversized_messages(lab):
    """messages that claim more than 4 MiB"""
    for size in ((4 << 20) + 1, 0x01000000, 0xFFFFFFFF):
        header = struct.pack(">IIBB", size, 101, wire.REQUEST, 0)
        hangs_up(lab, wire.mux(wire.PLUGIN, header + b"\0" * 1000))


def garbage(lab):
    """random bytes"""
    for seed in range(10):
        hangs_up(lab, random.Random(seed).randbytes(8192))


def flipped_bits(lab):
    """good requests with a few bits changed"""
    for seed in range(25):
        chance = random.Random(seed)
        session = lab.connected()
        data = bytearray(wire.mux(wire.PLUGIN, session.frame("CreateContainer", wire.create(lab.gpus))[1]))
        for _ in range(1 + seed % 4):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            session.send(bytes(data))
            session.sock.shutdown(socket.SHUT_WR)
            session.wait_closed()
        except (Closed, OSError):
            pass
        finally:
            session.close()
    small(lab)


def empty_pods(lab):
    """a state of 15 MiB of empty pods costs no memory"""
    session = lab.accept()
    session.accept_registration(session.expect_registration())
    session.configure()
    chunk = wire.message((1, b"")) * ((3 << 20) // 2)
    for _ in range(4):
        session.synchronize(chunk, more=True)
        small(lab)
    session.synchronize(chunk)
    session.create()


def nobody_reads(lab):
    """a runtime that asks and never reads the answers costs no memory"""
    session = lab.connected()
    session.sock.setblocking(False)
    end = time.monotonic() + 2
    pending = b""
    while time.monotonic() < end:
        if not pending:
            pending = wire.mux(wire.PLUGIN, session.frame("CreateContainer", wire.create(lab.gpus))[1])
        try:
            pending = pending[session.sock.send(pending) :]
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:
            break
    small(lab)
    session.close()


def backs_off(lab):
    """a runtime that always hangs up is not stormed"""
    connections, end = 0, time.monotonic() + 3
    while time.monotonic() < end:
        try:
            lab.accept(patience=end - time.monotonic() + 0.1).close()
            connections += 1
        except Failed:
            expect(lab.alive(), "the plugin ended")
    expect(connections <= 30, f"{connections} connections in 3 s")


CHECKS = [
    even_stream, repeated_stream, undecodable_envelope, undecodable_payload, deep_nesting, not_utf8,
    unasked_responses, requests_on_runtime_connection, before_its_time, refused_registration,
    truncated, reset_with_answer_pending, oversized_frames, oversized_messages, garbage, flipped_bits,
    empty_pods, nobody_reads, backs_off,
]
