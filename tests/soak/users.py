# SPDX-License-Identifier: Apache-2.0
"""What any user of the node can do: open device nodes, connect to the metrics port, send nonsense."""

import contextlib
import http.client
import os
import pathlib
import random
import socket
import threading

from agents import SoakedAgent
from ledger import Ledger

IDLE = 40
OPENS_A_SECOND = 200
STALL_S = 30.0
# A liveness probe as the kubelet makes it by default: a second's patience, three in a row.
PROBE_EVERY_S, PROBE_TIMEOUT_S, PROBES = 5.0, 1.0, 3


def open_and_close(node: pathlib.Path, stop: threading.Event, ledger: Ledger) -> None:
    while not stop.wait(0.1):
        for _ in range(OPENS_A_SECOND // 10):
            with contextlib.suppress(OSError):  # unplugged just now
                os.close(os.open(node, os.O_RDWR))
                ledger.count("opened and closed")


def _connect(agent: SoakedAgent) -> socket.socket:
    if not agent.addresses:
        raise ConnectionError("no address yet")
    host, port = agent.addresses[0]
    return socket.create_connection((host, port), 2)


def idle_connections(agent: SoakedAgent, stop: threading.Event, ledger: Ledger) -> None:
    """Holds them all the time; one that the agent closes is made again, each at most every two seconds."""
    held: list[socket.socket] = []
    while not stop.wait(2):
        alive = []
        for connection in held:
            connection.setblocking(False)
            try:
                closed = connection.recv(4096) == b""
            except BlockingIOError:
                closed = False
            except OSError:
                closed = True
            if closed:
                connection.close()
                ledger.count("idle connections closed by the agent")
            else:
                alive.append(connection)
        held = alive
        with contextlib.suppress(OSError):
            while len(held) < IDLE:
                held.append(_connect(agent))
    for connection in held:
        connection.close()


def _nonsense(chance: random.Random) -> bytes:
    kinds = (
        lambda: chance.randbytes(4096),
        lambda: b"GET /metrics HTTP/1.1\r\nHost: a\r\n",  # not finished
        lambda: b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        lambda: b"POST /metrics HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n" + bytes(1 << 20),
        lambda: b"GET /metrics HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        lambda: b"GET /pods HTTP/1.0\r\n\r\n",  # and nobody reads the answer
        lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    )
    return chance.choice(kinds)()


def garbage(
    agent: SoakedAgent, chance: random.Random, stop: threading.Event, ledger: Ledger
) -> None:
    while not stop.wait(0.5):
        with contextlib.suppress(OSError), _connect(agent) as connection:
            connection.settimeout(0.5)
            connection.sendall(_nonsense(chance))
            ledger.count("garbage sent")
            if chance.random() < 0.5:
                connection.recv(1024)


def get(address: tuple[str, int], path: str, timeout_s: float) -> tuple[int, str]:
    connection = http.client.HTTPConnection(*address, timeout=timeout_s)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


def probe(agent: SoakedAgent, stop: threading.Event, ledger: Ledger) -> None:
    """As a liveness probe; what would have had the agent restarted is wrong."""
    failures = 0
    while not stop.wait(PROBE_EVERY_S):
        answers = [get(address, "/healthz", PROBE_TIMEOUT_S)[0] for address in agent.addresses]
        if 200 in answers:
            failures = 0
            ledger.count("probes answered")
            continue
        failures += 1
        ledger.count("probes not answered")
        if failures == PROBES:
            ledger.find("wrong", f"{PROBES} probes of /healthz in a row failed: {answers}")
            failures = 0


def stall_log(
    agent: SoakedAgent,
    pause_s: tuple[float, float],
    chance: random.Random,
    stop: threading.Event,
    ledger: Ledger,
) -> None:
    while not stop.wait(chance.uniform(*pause_s)):
        ledger.count("log reader stopped")
        with ledger.trouble("log"):
            agent.stop_reading(STALL_S, stop)
