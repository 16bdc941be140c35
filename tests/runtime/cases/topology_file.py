# SPDX-License-Identifier: Apache-2.0
"""The NCCL topology file of a virtual machine whose PCI tree hides the switches."""

from lib.case import RuntimeCase
from lib.machine import H100, Machine

AZURE = "azure-nd-a100-v4"


class TopologyFile(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.file = self.dir / "run/nccl-topology.xml"

    def azure_agent(self) -> Machine:
        machine = Machine(AZURE)
        self.agent(machine, "--inject-nccl-topo", str(self.file))
        return machine

    def test_a_container_with_gpus_can_read_it_and_nobody_can_write_it(self) -> None:
        machine = self.azure_agent()
        container = self.pod().run(devices=self.gpu_nodes(machine, 0, 1), user=1000)
        inside = container.look()
        self.assertEqual(str(self.file), inside.env["NCCL_TOPO_FILE"])
        text = container.exec("cat", inside.env["NCCL_TOPO_FILE"])
        self.assertEqual(self.file.read_text(), text)
        self.assertIn('busid="0001:00:00.0"', text)
        refused = container.exec("sh", "-c", 'echo x > "$NCCL_TOPO_FILE"')
        self.assertRegex(refused, "Read-only file system|Permission denied")

    def test_a_file_that_was_removed_is_there_for_the_next_container(self) -> None:
        machine = self.azure_agent()
        self.pod().run(devices=self.gpu_nodes(machine, 0))
        self.file.unlink()
        container = self.pod().run(devices=self.gpu_nodes(machine, 1))
        self.assertIn("<system", container.exec("cat", str(self.file)))

    def test_the_users_own_stays(self) -> None:
        machine = self.azure_agent()
        own = {"NCCL_TOPO_FILE": "/tmp/mine.xml"}
        container = self.pod().run(devices=self.gpu_nodes(machine, 0), env=own)
        self.assertEqual("/tmp/mine.xml", container.look().env["NCCL_TOPO_FILE"])

    def test_a_machine_that_shows_its_switches_needs_none(self) -> None:
        machine = Machine(H100)
        self.agent(machine, "--inject-nccl-topo", str(self.file))
        inside = self.pod().run(devices=self.gpu_nodes(machine, 0)).look()
        self.assertNotIn("NCCL_TOPO_FILE", inside.env)
