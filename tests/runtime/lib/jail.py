# SPDX-License-Identifier: Apache-2.0
"""Runs a function where nothing it starts or mounts can outlive it.

The function gets a PID namespace and a mount namespace of its own: when it ends, for whatever
reason, SIGKILL included, the kernel ends every process that was started below it, and its mounts
go. Three processes: the caller waits and passes signals on; the namespace's first process adopts
and reaps orphans (containerd's shims); the third runs the function.
"""

import ctypes
import itertools
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable

CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000  # linux/sched.h
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 1 << 18  # linux/mount.h
DPKG = "/var/lib/dpkg"  # scripts/image asks which packages are there
PR_SET_PDEATHSIG = 1  # linux/prctl.h

_libc = ctypes.CDLL(None, use_errno=True)
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """A signal asked the function to end; raised in it once, so that `finally` blocks run.

    unittest reports every exception but KeyboardInterrupt as an error of the test and goes on.
    """


def _check(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def _die_with_parent() -> None:
    """For a child after fork: SIGKILL when the parent ends."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")


def _fork(child: Callable[[], int]) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        _die_with_parent()
        code = child()
    except BaseException:  # the child must never return into the parent's code
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _wait_for(pid: int, insist: int = signal.SIGTERM) -> int:
    """The exit code of a child; a signal to us goes on to it, every further one as `insist`."""
    numbers = itertools.chain([signal.SIGTERM], itertools.repeat(insist))
    for number in _PASSED_ON:
        signal.signal(number, lambda _signal, _frame: os.kill(pid, next(numbers)))
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def _worker(function: Callable[[], int]) -> int:
    def interrupt(_signal: int, _frame: object) -> None:
        for number in _PASSED_ON:
            signal.signal(number, signal.SIG_IGN)
        raise Interrupted

    for number in _PASSED_ON:
        signal.signal(number, interrupt)
    try:
        return function()
    except Interrupted:
        return 130


def _mount(kind: bytes, where: bytes, flags: int = 0) -> None:
    result = _libc.mount(kind, where, kind, flags, None)
    _check(result, f"mount {kind.decode()} on {where.decode()}")


def _first_process(function: Callable[[], int], own_network: bool) -> int:
    _mount(b"none", b"/", MS_REC | MS_PRIVATE)
    _mount(b"proc", b"/proc")
    # Shims, runc and CNI write to fixed places below these.
    _mount(b"tmpfs", b"/run")
    packages = os.open(DPKG, os.O_PATH)
    _mount(b"tmpfs", b"/var/lib")
    os.mkdir(DPKG)
    _mount(f"/proc/self/fd/{packages}".encode(), DPKG.encode(), MS_BIND)
    os.close(packages)
    if own_network:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    code = _wait_for(_fork(lambda: _worker(function)))
    return code if code >= 0 else 128 - code


def run(function: Callable[[], int], own_network: bool = False) -> int:
    """The exit code of `function`, 130 if a signal ended it. Fails with OSError without root. With
    `own_network` it has the loopback device alone, and what it makes goes with it."""
    _check(_libc.unshare(CLONE_NEWNS | CLONE_NEWPID | (CLONE_NEWNET if own_network else 0)), "unshare")
    # Whoever presses Ctrl-C twice wants it to end now; the namespaces clean up.
    code = _wait_for(_fork(lambda: _first_process(function, own_network)), insist=signal.SIGKILL)
    return code if code >= 0 else 128 - code
