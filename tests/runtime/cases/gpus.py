# SPDX-License-Identifier: Apache-2.0
"""Which containers hold GPUs, and that they get the NICs of these GPUs and no others."""

import json
import subprocess

from lib import paths
from lib.case import RuntimeCase
from lib.machine import H100, SEED, Machine

VISIBLE = "NVIDIA_VISIBLE_DEVICES"


class Gpus(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(H100)

    def uuids(self, *indices: int) -> str:
        return ",".join(self.machine.gpus[index].uuid for index in indices)

    def test_by_uuid_as_the_device_plugin_sets_it(self) -> None:
        self.agent(self.machine)
        pod = self.pod()
        for indices in ((0, 1), (7,), tuple(range(8))):
            with self.subTest(gpus=indices):
                name = f"gpus-{'-'.join(map(str, indices))}"
                inside = pod.run(name, env={VISIBLE: self.uuids(*indices)}).look()
                self.assert_gets(inside, self.machine, self.machine.nearest(*indices))

    def test_by_device_nodes(self) -> None:
        self.agent(self.machine)
        inside = self.pod().run(devices=self.gpu_nodes(self.machine, 2, 3)).look()
        self.assert_gets(inside, self.machine, self.machine.nearest(2, 3))

    def test_by_device_nodes_with_the_void_of_cdi(self) -> None:
        self.agent(self.machine)
        nodes = self.gpu_nodes(self.machine, 4, 5)
        inside = self.pod().run(devices=nodes, env={VISIBLE: "void"}).look()
        self.assert_gets(inside, self.machine, self.machine.nearest(4, 5))

    def test_by_a_cdi_name_that_the_runtime_resolves(self) -> None:
        minor = self.machine.gpus[6].minor
        node = {
            "path": f"/dev/nvidia{minor}",
            "hostPath": self.runtime.character_device(195, minor),
        }
        spec = {
            "cdiVersion": "0.5.0",
            "kind": "nvidia.com/gpu",
            "devices": [{"name": "six", "containerEdits": {"deviceNodes": [node]}}],
            "containerEdits": {"env": [f"{VISIBLE}=void"]},
        }
        file = self.runtime.cdi / "nvidia.json"
        file.write_text(json.dumps(spec))
        self.addCleanup(file.unlink)
        self.agent(self.machine)
        inside = self.pod().run(cdi=("nvidia.com/gpu=six",)).look()
        self.assertEqual("void", inside.env[VISIBLE])
        self.assert_gets(inside, self.machine, self.machine.nearest(6))

    def test_by_index_on_the_machine_of_eight_gpus_and_four_nics(self) -> None:
        seed = Machine(SEED)
        self.agent(seed)
        pod = self.pod()
        for ids, nics in (
            ("0,1", ["mlx5_0"]),
            ("4,5", ["mlx5_2"]),
            ("0,1,2,3", ["mlx5_0", "mlx5_1"]),
            ("0,1,2,3,4,5,6,7", ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]),
        ):
            with self.subTest(ids=ids):
                inside = pod.run(f"ids-{ids.replace(',', '-')}", env={VISIBLE: ids}).look()
                self.assert_gets(inside, seed, nics)

    def test_without_gpus_nothing_is_added(self) -> None:
        agent = self.agent(self.machine)
        pod = self.pod()
        self.assert_gets_nothing(pod.run(user=1000).look())
        self.assertEqual("untouched", agent.decision(pod.name)["outcome"])
        for value in ("all", "void", "none", ""):
            with self.subTest(value=value):
                container = pod.run(f"value-{value}", env={VISIBLE: value})
                self.assert_gets_nothing(container.look())

    def test_only_the_container_with_gpus_of_a_pod_gets_nics(self) -> None:
        self.agent(self.machine)
        pod = self.pod()
        trainer = pod.run("trainer", env={VISIBLE: self.uuids(0)})
        sidecar = pod.run("sidecar")
        self.assert_gets(trainer.look(), self.machine, self.machine.nearest(0))
        self.assert_gets_nothing(sidecar.look())

    def test_nothing_is_dealt_where_the_operator_wants_to_be_asked(self) -> None:
        self.agent(self.machine, "--gpus", "none")
        self.assert_gets_nothing(self.pod().run(env={VISIBLE: self.uuids(0)}).look())

    def test_the_command_line_gives_the_same_answer(self) -> None:
        self.agent(self.machine)
        inside = self.pod().run(env={VISIBLE: self.uuids(1, 6)}).look()
        command = [paths.railhead(), "affinity", "--snapshot", self.machine.snapshot]
        command += ["--gpus", "1,6", "-o", "json"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=10)
        said = json.loads(done.stdout)
        self.assertEqual(sorted(said["devices"]), sorted(inside.nodes))
        self.assertEqual(said["env"]["NCCL_IB_HCA"], inside.env["NCCL_IB_HCA"])

    def test_every_decision_is_logged_with_its_reason_and_counted(self) -> None:
        agent = self.agent(self.machine)
        pod = self.pod()
        pod.create("gpu", env={VISIBLE: self.uuids(0)})
        pod.create("plain")
        gpu, plain = agent.decision(pod.name, "gpu"), agent.decision(pod.name, "plain")
        self.assertEqual(("adjusted", "gpus"), (gpu["outcome"], gpu["reason"]))
        self.assertEqual(",".join(self.machine.nearest(0)), gpu["nics"])
        self.assertEqual(("untouched", "not-rdma"), (plain["outcome"], plain["reason"]))
        decided = "railhead_nri_decisions_total"
        self.assertEqual(1, agent.metric(decided, outcome="adjusted", reason="gpus"))
        self.assertEqual(1, agent.metric(decided, outcome="untouched", reason="not-rdma"))
