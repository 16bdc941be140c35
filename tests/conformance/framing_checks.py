# SPDX-License-Identifier: Apache-2.0
"""Legal and merely odd traffic: the connection has to live on."""

import time

import wire
from runtime_side import Closed, expect


def answers_in_legal_frames(lab):
    """handshake and answers fit a Go reader of 4096 bytes and 256 frames"""
    session = lab.connected()
    for _ in range(20):
        session.create()


def large_answer(lab):
    """an answer of more than 4096 bytes fits it, too"""
    session = lab.connected()
    code, text, payload = session.call("CreateContainer", wire.create(lab.large_gpus))
    expect(code == 0, f"{code} {text}")
    expect(len(payload) > 4096, f"the answer has {len(payload)} bytes only")


def configure_overtakes(lab):
    """Configure may arrive before the answer to RegisterPlugin"""
    session = lab.accept()
    stream = session.expect_registration()
    session.configure()
    session.accept_registration(stream)
    session.synchronize()
    session.create()


def one_byte_frames(lab):
    """every byte in a multiplexer frame of its own"""
    session = lab.accept()
    reply = wire.ttrpc(session.expect_registration(), wire.RESPONSE, b"")
    for byte in reply:
        session.send(wire.mux(wire.RUNTIME, bytes([byte])))
    for method, payload in (
        ("Configure", wire.configure()), ("Synchronize", b""), ("CreateContainer", wire.create(lab.gpus)),
    ):
        stream, data = session.frame(method, payload)
        # A reader with a queue of 256 frames deserves time to drain it.
        for at, byte in enumerate(data):
            session.send(wire.mux(wire.PLUGIN, bytes([byte])))
            if at % 100 == 99:
                time.sleep(0.005)
        result = session.response(stream)
    session.expect_adjusted(result)


def split_frames(lab):
    """a request in two frames, at every byte"""
    session = lab.connected()
    length = len(session.frame("CreateContainer", wire.create(lab.gpus))[1])
    for cut in range(1, length):
        stream, data = session.frame("CreateContainer", wire.create(lab.gpus))
        session.send(wire.mux(wire.PLUGIN, data[:cut]) + wire.mux(wire.PLUGIN, data[cut:]))
        session.expect_adjusted(session.response(stream))


def split_writes(lab):
    """a request in two writes to the socket, at every byte"""
    session = lab.connected()
    length = len(wire.mux(1, session.frame("CreateContainer", wire.create(lab.gpus))[1]))
    for cut in range(1, length):
        stream, data = session.frame("CreateContainer", wire.create(lab.gpus))
        framed = wire.mux(wire.PLUGIN, data)
        session.send(framed[:cut])
        time.sleep(0.0005)
        session.send(framed[cut:])
        session.expect_adjusted(session.response(stream))


def many_in_one_write(lab):
    """100 requests in one write, each answered on its stream"""
    session = lab.connected()
    waiting, data = set(), b""
    for _ in range(100):
        stream, framed = session.frame("CreateContainer", wire.create(lab.gpus))
        waiting.add(stream)
        data += wire.mux(wire.PLUGIN, framed)
    session.send(data)
    while waiting:
        stream, _, body = session.trunk.connections[wire.PLUGIN].message()
        expect(stream in waiting, f"second or unasked response on stream {stream}")
        waiting.remove(stream)
        session.expect_adjusted(session.unwrap(body))


def unknown_connection(lab):
    """frames of connections that nobody opened are dropped"""
    session = lab.connected()
    for number in (0, 3, 7, 0xFFFFFFFF):
        session.send(wire.mux(number, b"whatever this is"))
    session.create()


def empty_frames(lab):
    """frames without content are nothing"""
    session = lab.connected()
    session.send(wire.mux(wire.PLUGIN, b"") * 10 + wire.mux(wire.RUNTIME, b"") * 10)
    session.create()


def many_chunks(lab):
    """a Synchronize of 300 chunks, each echoed"""
    session = lab.accept()
    session.accept_registration(session.expect_registration())
    session.configure()
    chunk = wire.message((1, wire.pod()), (2, [wire.container("")] * 20))
    for _ in range(299):
        session.synchronize(chunk, more=True)
    session.synchronize(chunk)
    session.create()


def synchronize_again(lab):
    """a second Synchronize in the same session"""
    session = lab.connected()
    session.synchronize()
    session.create()


def unknown_methods(lab):
    """unknown methods and services are UNIMPLEMENTED"""
    session = lab.connected()
    for method, service in (("DoSomethingNew", wire.PLUGIN_SERVICE), ("CreateContainer", "some.Other")):
        code, text, _ = session.call(method, b"", service=service)
        expect(code == wire.UNIMPLEMENTED, f"{service}/{method}: {code} {text}")
    session.create()


def state_changes(lab):
    """events by StateChange and by their own methods are answered"""
    session = lab.connected()
    for event in list(range(0, 16)) + [1000]:
        code, text, _ = session.call("StateChange", wire.message((1, event), (2, wire.pod()), (3, wire.container(""))))
        expect(code in (0, wire.UNIMPLEMENTED), f"event {event}: {code} {text}")
    for method in ("RunPodSandbox", "StopPodSandbox", "RemovePodSandbox", "PostCreateContainer",
                   "StartContainer", "PostStartContainer", "StopContainer", "RemoveContainer"):
        code, text, _ = session.call(method, wire.message((1, wire.pod()), (2, wire.container(""))))
        expect(code in (0, wire.UNIMPLEMENTED), f"{method}: {code} {text}")
    session.create()


def unknown_fields(lab):
    """fields of a newer runtime are skipped, metadata is ignored"""
    session = lab.connected()
    newer = wire.create(lab.gpus) + wire.message((99, 1), (100, "x" * 300), (536870911, b"\xff"))
    stream = session.next_stream()
    body = wire.request("CreateContainer", newer) + wire.field(5, wire.message((1, "traceparent"), (2, "00-1-2-01")))
    session.send(wire.mux(wire.PLUGIN, wire.ttrpc(stream, wire.REQUEST, body)))
    session.expect_adjusted(session.response(stream))


def large_container(lab):
    """a container with 50,000 variables"""
    session = lab.connected()
    env = [f"NAME_{i}=value" for i in range(50_000)]
    session.expect_adjusted(session.call("CreateContainer", wire.create(lab.gpus, env)))
    session.create()


def large_frame(lab):
    """a request of 1 MB in one frame, as other runtimes than Go may send it"""
    session = lab.connected()
    env = [f"NAME_{i}=value" for i in range(50_000)]
    stream, data = session.frame("CreateContainer", wire.create(lab.gpus, env))
    session.send(wire.mux(wire.PLUGIN, data))
    session.expect_adjusted(session.response(stream))
    session.create()


def unknown_frame_types(lab):
    """frame types of a newer ttrpc are ignored"""
    session = lab.connected()
    for kind in (0, 4, 9, 255):
        session.send(wire.mux(wire.PLUGIN, wire.ttrpc(session.next_stream(), kind, b"abc")))
    session.create()


def close_or_refuse(lab, data, stream):
    """Sends something wrong: a refusal and life goes on, or the plugin hangs up; never silence."""
    session = lab.connected()
    session.send(wire.as_go(wire.PLUGIN, data))
    try:
        code, _, _ = session.response(stream)
        expect(code != 0, "answered as if it were right")
        session.stream = max(session.stream, stream + stream % 2 + 1)
        session.create()
    except Closed:
        pass
    finally:
        session.close()


CHECKS = [
    answers_in_legal_frames, large_answer, configure_overtakes, one_byte_frames, split_frames,
    split_writes, many_in_one_write, unknown_connection, empty_frames, many_chunks, synchronize_again,
    unknown_methods, state_changes, unknown_fields, large_container, large_frame,
    unknown_frame_types,
]
