# SPDX-License-Identifier: Apache-2.0
"""A runtime for one plugin, as far as the checks need it."""

import os
import select
import shlex
import signal
import socket
import subprocess
import time

import go_reader
import wire

PATIENCE = 60.0  # seconds for anything the plugin has to do, its longest back-off included


class Failed(Exception):
    """A check found something wrong."""


class Closed(Exception):
    """The plugin hung up."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def has_left(sock):
    """Whether the other end has closed it; what it sent before may still be there to read."""
    poll = select.poll()
    poll.register(sock, select.POLLRDHUP)
    return bool(poll.poll(0))


class Session:
    """One connection of the plugin."""

    def __init__(self, sock, gpus):
        self.sock, self.gpus = sock, gpus
        self.sock.settimeout(PATIENCE)
        self.trunk = go_reader.Trunk(self.receive)
        self.stream = -1

    def receive(self):
        try:
            data = self.sock.recv(65536)
        except socket.timeout:
            raise Failed(f"no answer within {PATIENCE:.0f} s") from None
        except OSError as error:
            raise Closed(str(error)) from None
        if not data:
            raise Closed("end of file")
        return data

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise Closed(str(error)) from None

    def next_stream(self):
        self.stream += 2
        return self.stream

    def frame(self, method, payload, **more):
        """A request as ttrpc bytes, and its stream."""
        stream = self.next_stream()
        return stream, wire.ttrpc(stream, wire.REQUEST, wire.request(method, payload, **more))

    def response(self, stream):
        """(code, message, payload) of the response to a stream."""
        got, kind, body = self.trunk.connections[wire.PLUGIN].message()
        expect(kind == wire.RESPONSE, f"frame of type {kind} instead of a response")
        expect(got == stream, f"response to stream {got} instead of {stream}")
        return self.unwrap(body)

    @staticmethod
    def unwrap(body):
        fields = wire.parse(body)
        status = wire.parse(wire.one(fields, 1))
        return wire.one(status, 1, 0), wire.one(status, 2).decode(errors="replace"), wire.one(fields, 2)

    def call(self, method, payload, **more):
        stream, data = self.frame(method, payload, **more)
        self.send(wire.as_go(wire.PLUGIN, data))
        return self.response(stream)

    def expect_registration(self):
        """Reads RegisterPlugin and returns its stream."""
        stream, kind, body = self.trunk.connections[wire.RUNTIME].message()
        fields = wire.parse(body)
        expect(kind == wire.REQUEST, f"frame of type {kind} instead of a request")
        expect(stream % 2 == 1, f"even stream {stream}")
        expect(wire.one(fields, 2) == b"RegisterPlugin", f"method {wire.one(fields, 2)!r}")
        register = wire.parse(wire.one(fields, 3))
        expect(len(wire.one(register, 2)) == 2, f"index {wire.one(register, 2)!r}")
        return stream

    def accept_registration(self, stream):
        self.send(wire.mux(wire.RUNTIME, wire.ttrpc(stream, wire.RESPONSE, b"")))

    def configure(self):
        code, text, payload = self.call("Configure", wire.configure())
        expect(code == 0, f"Configure: {code} {text}")
        events = wire.one(wire.parse(payload), 2, 0)
        expect(events & wire.CREATE_CONTAINER, f"events 0x{events:x}")

    def synchronize(self, payload=b"", more=False):
        code, text, answer = self.call("Synchronize", payload + (wire.field(3, 1) if more else b""))
        expect(code == 0, f"Synchronize: {code} {text}")
        fields = wire.parse(answer)
        expect(bool(wire.one(fields, 2, 0)) == more, f"more is not {more}")
        expect(not (more and fields.get(1)), "updates in the middle of a Synchronize")

    def handshake(self):
        self.accept_registration(self.expect_registration())
        self.configure()
        self.synchronize()
        return self

    def expect_adjusted(self, result):
        code, text, payload = result
        expect(code == 0, f"CreateContainer: {code} {text}")
        expect(wire.devices_of(payload), "a container with a GPU got no device")

    def create(self):
        self.expect_adjusted(self.call("CreateContainer", wire.create(self.gpus)))

    def wait_closed(self):
        """Reads until the plugin hangs up."""
        try:
            while True:
                self.receive()
        except Closed:
            pass

    def close(self):
        self.sock.close()


class Lab:
    """The listening socket and the one plugin process that all checks share: what one check breaks,
    the next would see."""

    def __init__(self, command, gpus, folder, restart):
        self.gpus, self.restart = gpus, restart
        self.command = command.replace("{socket}", os.path.join(folder, "nri.sock"))
        self.log_path = os.path.join(folder, "plugin.log")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(folder, "nri.sock"))
        self.listener.listen(8)
        self.process = None
        self.sessions = []

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(shlex.split(self.command), stdout=log, stderr=log)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def accept(self, patience=PATIENCE):
        """The next connection of the plugin; one on the upstream stub is started again if it left. The plugin hangs up
        where nobody answers it for half a minute, as while other checks run: then the next connection counts."""
        end = time.monotonic() + patience
        while True:
            if self.restart and not self.alive():
                self.start()
            self.listener.settimeout(0.2)
            try:
                sock = self.listener.accept()[0]
                if has_left(sock):
                    sock.close()
                    continue
                self.sessions.append(Session(sock, self.gpus))
                return self.sessions[-1]
            except socket.timeout:
                expect(self.alive() or self.restart, f"the plugin ended: {self.log_tail()}")
                expect(time.monotonic() < end, f"the plugin did not connect within {patience:.0f} s")

    def connected(self):
        return self.accept().handshake()

    def close_sessions(self):
        while self.sessions:
            self.sessions.pop().close()

    def healthy(self):
        """The plugin connects, registers and does its work. A connection that it had begun while a
        check was ending may be stale."""
        for _ in range(4):
            session = self.accept()
            try:
                session.handshake().create()
                return
            except Closed:
                continue
            finally:
                session.close()
        raise Failed("the plugin hangs up on a good runtime")

    def rss_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) // 1024
        return 0

    def log_tail(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return " / ".join(log.read().splitlines()[-4:])

    def stop(self):
        """Ends the plugin; returns its exit status."""
        self.listener.close()
        if not self.alive():
            return self.process.returncode if self.process else 0
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed(f"not ended {PATIENCE:.0f} s after SIGTERM") from None
