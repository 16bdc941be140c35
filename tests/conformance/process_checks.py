# SPDX-License-Identifier: Apache-2.0
"""The agent as a process: started with few descriptors, with closed ones, hung up on before it is there, and ended while
a driver hangs."""
import itertools
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
AGENT = [os.environ["RAILHEAD_BIN"], "agent", "--snapshot", str(ROOT / "tests/nodes/seed-8gpu-4nic.node"),
         "--nri-socket", "/nowhere/nri.sock", "--device-plugin=false", "--bind-address", "", "--metrics-socket", ""]
PATIENCE = 30
STARTED = b" runtime not connected "
WHY = b"railhead agent: "


class Agent:
    """One run; what it writes goes to a file."""

    def __init__(self, *flags, prepare=None, stdin=subprocess.DEVNULL):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*AGENT, *flags], stdin=stdin, stdout=self.log, stderr=self.log,
                                        preexec_fn=prepare)

    def text(self):
        return os.pread(self.log.fileno(), 1 << 20, 0)

    def until(self, happened):
        """False where the agent has ended before."""
        end = time.monotonic() + PATIENCE
        while not happened():
            if self.process.poll() is not None:
                return False
            if time.monotonic() > end:
                raise TimeoutError(self.text().decode())
            time.sleep(0.005)
        return True

    def is_running(self):
        """Its loop runs: it was told of the machine, or of something else, and waits."""
        return STARTED in self.text()

    def end(self):
        self.process.terminate()
        return self.process.wait(PATIENCE)

    def status(self, field):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(line.split()[1] for line in lines if line.startswith(field + ":"))


def few_descriptors():
    """an agent that lacks descriptors says so and ends with 2, or runs"""
    for limit in range(4, 48):
        def lack(limit=limit):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        agent = Agent(prepare=lack)
        agent.until(lambda: agent.is_running() or WHY in agent.text())
        code = agent.process.wait(PATIENCE) if WHY in agent.text() else agent.end()
        if code == -signal.SIGTERM:  # It took down its handlers: it was about to end by itself, and does so unasked.
            agent = Agent(prepare=lack)
            code = agent.process.wait(PATIENCE)
        said_why = agent.text().splitlines()[-1].startswith(WHY)
        assert code == 0 or said_why and code == 2, f"{limit}: {code}\n{agent.text().decode()}"
    assert code == 0, "not even with 47"


def closed_descriptors():
    """what is closed of 0, 1 and 2 is /dev/null, and never a descriptor of the agent's"""
    standard = (0, 1, 2)
    for closed in itertools.chain.from_iterable(itertools.combinations(standard, n) for n in (1, 2, 3)):
        def close(closed=closed):
            for one in closed:
                os.close(one)
        agent = Agent(prepare=close)
        files = pathlib.Path(f"/proc/{agent.process.pid}/fd")
        agent.until(lambda: len(os.listdir(files)) > 12)
        for one in closed:
            assert os.readlink(files / str(one)) == "/dev/null", f"{closed} closed: {os.readlink(files / str(one))}"
        assert agent.end() == 0, f"{closed} closed: {agent.text().decode()}"


def early_hang_up():
    """SIGHUP before the configuration is followed ends nothing"""
    agent = Agent("--config", "-", stdin=subprocess.PIPE)
    assert agent.until(lambda: int(agent.status("SigBlk"), 16) & 1 << signal.SIGHUP - 1)
    agent.process.send_signal(signal.SIGHUP)
    agent.process.stdin.close()
    assert agent.until(agent.is_running), f"{agent.process.returncode}: {agent.text().decode()}"
    assert agent.end() == 0


def blocked_signals():
    """a parent that has blocked the signals of its end does not make it deaf to them"""
    for number in (signal.SIGTERM, signal.SIGINT):
        agent = Agent(prepare=lambda one=number: signal.pthread_sigmask(signal.SIG_BLOCK, {one}))
        assert agent.until(agent.is_running)
        agent.process.send_signal(number)
        try:
            assert agent.process.wait(PATIENCE) == 0, agent.text().decode()
        finally:
            agent.process.kill()


def configuration_against_the_machine():
    """what the agent finds wrong with its configuration ends it with 64, and file, line and key are named"""
    exclusive = "{name: example.com/%s, mode: exclusive, include: {names: mlx5_0}}"
    for text, why in (("expect: [{name: mlx5_0, rateGbps: x}]", ":1:35: expect.rateGbps: "),
                      ("topology: {file: /nope.xml}", ":1:18: topology.file: /nope.xml: "),
                      (f"topology: {{file: {__file__}}}", f":1:18: topology.file: {__file__}:"),
                      (f"pools: [{exclusive % 'a'}, {exclusive % 'b'}]", "example.com/b")):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            agent = Agent("--config", file.name)
            code = agent.process.wait(PATIENCE)
            said = agent.text().decode().splitlines()[-1]
            assert code == 64 and why in said, f"{text}: {code}: {said}"


def pipe_for_a_configuration():
    """a pipe in place of the configuration file is refused, and the next file is read"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "config.yaml"
        path.write_text("injection: {gpus: closest}\n")
        agent = Agent("--config", str(path))
        assert agent.until(agent.is_running)
        path.unlink()
        os.mkfifo(path)
        assert agent.until(lambda: b"is not a file" in agent.text())
        path.unlink()
        path.write_text("injection: {gpus: none}\n")
        assert agent.until(lambda: b"changed=injection.gpus" in agent.text())
        assert agent.end() == 0


def stuck_reader():
    """a driver that hangs does not keep the agent from its end, and the log says which service is left behind"""
    agent = Agent("--rescan-interval", "1")
    assert agent.until(agent.is_running)
    tasks = pathlib.Path(f"/proc/{agent.process.pid}/task").iterdir()
    reader = next(task for task in tasks if (task / "comm").read_text() == "reader\n")
    with subprocess.Popen(["strace", "-e", "trace=openat", "-e", "inject=openat:delay_enter=100000000", "-p", reader.name],
                          stderr=subprocess.PIPE, text=True) as strace:
        try:
            assert "attached" in strace.stderr.readline()
            stopped = 0  # looks in a row at which it was: a delay, not a stop on the way

            def hangs():
                nonlocal stopped
                time.sleep(0.02)
                stopped = stopped + 1 if ") t " in (reader / "stat").read_text() else 0
                return stopped > 20
            assert agent.until(hangs)
            agent.process.terminate()
            assert agent.until(lambda: b"left behind services=machine" in agent.text())
        finally:
            strace.kill()  # until then the end of that thread is its to be told
    assert agent.process.wait(PATIENCE) == 0


failed = False
for check in (few_descriptors, closed_descriptors, early_hang_up, blocked_signals, configuration_against_the_machine,
              pipe_for_a_configuration, stuck_reader):
    try:
        check()
        print(f"ok    {check.__doc__}")
    except (AssertionError, TimeoutError, subprocess.TimeoutExpired) as problem:
        failed = True
        print(f"FAIL  {check.__doc__}\n      {problem}")
sys.exit(failed)
