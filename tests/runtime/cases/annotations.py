# SPDX-License-Identifier: Apache-2.0
"""What pod annotations may do: narrow, demand, and never obtain anything that is not RDMA."""

import json

from lib.case import RAISED_KIB, RuntimeCase
from lib.containerd import HARD_MEMLOCK
from lib.cri import Refused
from lib.machine import H100, SEED, Machine

VISIBLE = "NVIDIA_VISIBLE_DEVICES"
DISK = {"path": "/dev/sda", "type": "b", "major": 8, "minor": 0}


def device_list(*entries: dict) -> str:
    """As device-injector reads it: YAML, of which JSON is a part."""
    return json.dumps(entries)


class Annotations(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(H100)
        self.gpus = {VISIBLE: f"{self.machine.gpus[0].uuid},{self.machine.gpus[1].uuid}"}
        self.nics = self.machine.nearest(0, 1)

    def test_a_disk_is_refused_and_reported_and_the_container_starts(self) -> None:
        for key in ("devices.nri.io/pod", "devices.noderesource.dev/container.main"):
            for env in (self.gpus, {}):
                with self.subTest(key=key, gpus=bool(env)):
                    agent = self.agent(self.machine, "--annotations", "allow")
                    pod = self.pod(annotations={key: device_list(DISK)})
                    container = pod.run(env=env)
                    self.assertIn("No such file", container.exec("ls", "/dev/sda"))
                    inside = container.look()
                    if env:
                        self.assert_gets(inside, self.machine, self.nics)
                    else:
                        self.assert_gets_nothing(inside)
                    if env or "container" in key:  # pod forms reach only containers with GPUs
                        self.assertIn("/dev/sda", str(agent.decision(pod.name)))
                        self.assertEqual(1, agent.warnings("annotation-refused"))
                    agent.kill()

    def test_the_wrong_numbers_of_seed_002_are_ignored_with_a_warning(self) -> None:
        seed = Machine(SEED)
        agent = self.agent(seed)
        asked = {"path": "/dev/infiniband/uverbs0", "type": "c", "major": 231, "minor": 0}
        pod = self.pod(annotations={"devices.nri.io/pod": device_list(asked)})
        inside = pod.run(env={VISIBLE: "0,1"}).look()
        self.assert_gets(inside, seed, ["mlx5_0"])
        self.assertIn("remark.annotation-numbers-ignored", agent.decision(pod.name))

    def test_the_container_form_of_seed_002_never_widens(self) -> None:
        seed = Machine(SEED)
        agent = self.agent(seed)
        other = {"path": seed.uverbs("mlx5_3").path, "type": "c", "major": 231, "minor": 3}
        pod = self.pod(annotations={"devices.nri.io/container.main": device_list(other)})
        inside = pod.run(env={VISIBLE: "0,1"}).look()
        self.assert_gets(inside, seed, ["mlx5_0"])
        self.assertIn("remark.annotation-refused", agent.decision(pod.name))

    def test_without_gpus_an_annotation_gives_rdma_only_where_allowed(self) -> None:
        nic = self.nics[0]
        asked = {"path": self.machine.uverbs(nic).path, "type": "c", "major": 231, "minor": 0}
        annotations = {"devices.nri.io/container.main": device_list(asked)}
        agent = self.agent(self.machine)
        self.assert_gets_nothing(self.pod(annotations=annotations).run().look())
        agent.kill()
        self.agent(self.machine, "--annotations", "allow")
        inside = self.pod(annotations=annotations).run().look()
        self.assert_gets(inside, self.machine, [nic])

    def test_nics_narrows(self) -> None:
        self.agent(self.machine)
        pod = self.pod(annotations={"nics.railhead.io/pod": self.nics[1]})
        self.assert_gets(pod.run(env=self.gpus).look(), self.machine, self.nics[1:])

    def test_rdma_none_opts_out(self) -> None:
        self.agent(self.machine)
        pod = self.pod(annotations={"rdma.railhead.io/pod": "none"})
        self.assert_gets_nothing(pod.run(env=self.gpus).look())

    def test_required_memlock_above_the_ceiling_is_refused(self) -> None:
        agent = self.agent(self.machine)
        pod = self.pod(
            annotations={"rdma.railhead.io/pod": "required", "memlock.railhead.io/pod": "unlimited"}
        )
        with self.assertRaisesRegex(Refused, "railhead: .*memlock"):
            pod.create(env=self.gpus)
        self.assertEqual("memlock-short", agent.decision(pod.name)["reason"])

    def test_required_with_a_memlock_that_the_runtime_can_set_starts(self) -> None:
        self.agent(self.machine)
        memlock = str(HARD_MEMLOCK)
        pod = self.pod(
            annotations={"rdma.railhead.io/pod": "required", "memlock.railhead.io/pod": memlock}
        )
        self.assert_gets(pod.run(env=self.gpus).look(), self.machine, self.nics)

    def test_preferred_memlock_above_the_ceiling_is_clamped(self) -> None:
        agent = self.agent(self.machine)
        pod = self.pod(
            annotations={
                "rdma.railhead.io/pod": "preferred",
                "memlock.railhead.io/pod": "unlimited",
            }
        )
        self.assertEqual(RAISED_KIB, pod.run(env=self.gpus).look().memlock)
        self.assertIn("remark.memlock-clamped", agent.decision(pod.name))

    def test_deny_ignores_even_required(self) -> None:
        agent = self.agent(self.machine, "--annotations", "deny")
        pod = self.pod(
            annotations={"rdma.railhead.io/pod": "required", "nics.railhead.io/pod": "none-such"}
        )
        self.assert_gets(pod.run(env=self.gpus).look(), self.machine, self.nics)
        self.assertIn("remark.annotation-denied", agent.decision(pod.name))

    def test_garbage_is_reported_and_the_container_starts(self) -> None:
        agent = self.agent(self.machine)
        bomb = "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n"
        pod = self.pod(
            annotations={"devices.nri.io/pod": bomb, "memlock.railhead.io/pod": "a lot"}
        )
        self.assert_gets(pod.run(env=self.gpus).look(), self.machine, self.nics)
        self.assertIn("remark.annotation-malformed", agent.decision(pod.name))
