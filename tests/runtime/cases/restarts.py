# SPDX-License-Identifier: Apache-2.0
"""Runtime and agent come and go; containers are right or untouched, and never fail for it."""

import threading

from lib.agent import Agent
from lib.case import RuntimeCase
from lib.cri import Container
from lib.machine import H100, Machine
from lib.process import wait_until

VISIBLE = "NVIDIA_VISIBLE_DEVICES"
MISSING = "railhead_nri_containers_missing_devices"


class Restarts(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(H100)
        self.gpu = {VISIBLE: self.machine.gpus[5].uuid}
        self.nics = self.machine.nearest(5)

    def test_the_agent_comes_back_after_a_restart_of_the_runtime(self) -> None:
        agent = self.agent(self.machine)
        before = self.pod().run(env=self.gpu)
        self.runtime.stop()
        agent.wait_not_ready()
        self.runtime.start()
        agent.wait_ready()
        self.assert_gets(before.look(), self.machine, self.nics)
        self.assert_gets(self.pod().run(env=self.gpu).look(), self.machine, self.nics)
        self.assertEqual(2, agent.metric("railhead_nri_registrations_total"))
        self.assertEqual(0, agent.metric(MISSING), "it has its nodes")

    def test_the_agent_waits_for_a_runtime_that_is_not_there_yet(self) -> None:
        self.runtime.stop()
        agent = self.agent(self.machine, ready=False)
        wait_until("it says why it waits", lambda: agent.events("runtime not connected"))
        self.runtime.start()
        agent.wait_ready()
        self.assert_gets(self.pod().run(env=self.gpu).look(), self.machine, self.nics)

    def test_a_killed_agent_starts_again_and_reports_what_it_missed(self) -> None:
        agent = self.agent(self.machine)
        pod = self.pod()
        agent.kill()
        self.assert_gets_nothing(pod.run("missed", env=self.gpu).look())
        pod.run("plain")
        agent.start()
        self.assert_gets(pod.run("next", env=self.gpu).look(), self.machine, self.nics)
        self.assertEqual(1, agent.metric(MISSING))
        reported = agent.events("container without its devices", least=1)
        self.assertEqual([(f"default/{pod.name}", "missed")], [self.identity(e) for e in reported])
        self.assertIn(self.machine.uverbs(self.nics[0]).path, reported[0]["missing"])

    @staticmethod
    def identity(event: dict) -> tuple[str, str]:
        return event["pod"], event["container"]

    def test_sigterm_ends_it_cleanly(self) -> None:
        agent = self.agent(self.machine)
        self.assertEqual(0, agent.terminate())
        self.assert_gets_nothing(self.pod().run(env=self.gpu).look())

    def test_200_containers_while_the_agent_restarts_every_second(self) -> None:
        agent = self.agent(self.machine)
        stop = threading.Event()
        restarter = threading.Thread(target=self.restart_until, args=(agent, stop))
        restarter.start()
        adjusted = 0
        try:
            for number in range(10):
                pod = self.pod()
                adjusted += sum(self.create_one(pod, 20 * number + i) for i in range(20))
                pod.remove()
        finally:
            stop.set()
            restarter.join()
        self.assertGreater(adjusted, 0, "the agent was there at least some of the time")

    @staticmethod
    def restart_until(agent: Agent, stop: threading.Event) -> None:
        turn = 0
        while not stop.wait(1):
            if turn % 2:
                agent.kill()
            else:
                agent.terminate()
            agent.start(ready=False)
            turn += 1

    def create_one(self, pod, number: int) -> bool:
        """Creates a container, every second one with a GPU; whether it was adjusted."""
        with_gpu = number % 2 == 0
        container = pod.create(f"c{number}", env=self.gpu if with_gpu else {})
        adjusted = self.all_or_nothing(container)
        self.assertFalse(adjusted and not with_gpu, f"c{number} holds no GPU")
        if number % 10 < 2:
            container.start()
        return adjusted

    def all_or_nothing(self, container: Container) -> bool:
        spec = container.spec()
        paths = {device["path"] for device in spec["linux"].get("devices", [])}
        paths = {path for path in paths if "/infiniband/" in path}
        limits = [limit["type"] for limit in spec["process"].get("rlimits") or []]
        hca = [value for value in spec["process"]["env"] if value.startswith("NCCL_IB_HCA=")]
        if not paths:
            self.assertEqual(([], []), (limits, hca))
            return False
        self.assertEqual(set(self.machine.devices(self.nics)), paths)
        self.assertEqual((["RLIMIT_MEMLOCK"], 1), (limits, len(hca)))
        return True
