#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reader that stands for NCCL finds what NCCL would trip over: two GPUs, each with a NIC on its own switch."""
import unittest

from nccl_fusion import fusion_problems
from snapshot_facts import Facts
from sysfs_tree import Tree

SWITCH_IDS = 'vendor="0x1000" device="0xc030" subsystem_vendor="0x0000" subsystem_device="0x0000"'
AFFINITY = 'affinity="00000003"'
FILE = "\n".join([
    f'<system version="1"><cpu numaid="0" {AFFINITY} arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">',
    *(f'<pci busid="0000:{at}1:00.0" class="0x060400" {SWITCH_IDS} link_speed="32.0 GT/s PCIe" link_width="16">'
      f'<pci busid="0000:{at}3:00.0" class="0x030200"/>'
      f'<pci busid="0000:{at}4:00.0" class="0x020700" link_speed="" link_width="0">'
      f'<nic><net name="mlx5_{at}"/></nic></pci></pci>' for at in (1, 2)),
    '</cpu></system>'])
TOPOLOGY = {
    "gpus": [{"pci": f"0000:{at}3:00.0", "numaNode": 0} for at in (1, 2)],
    "nics": [{"pci": f"0000:{at}4:00.0", "name": f"mlx5_{at}", "numaNode": 0} for at in (1, 2)],
    "relations": [["PIX", "NODE"], ["NODE", "PIX"]]}


def facts():
    tree = Tree()
    for at in (1, 2):
        root = f"/sys/devices/pci0000:{at}0/0000:{at}0:01.0"
        switch = f"{root}/0000:{at}1:00.0"
        functions = {root: ("60400", "8086:352A"), switch: ("60400", "1000:C030"),
                     f"{switch}/0000:{at}2:00.0": ("60400", "1000:C030"),
                     f"{switch}/0000:{at}2:01.0": ("60400", "1000:C030"),
                     f"{switch}/0000:{at}2:00.0/0000:{at}3:00.0": ("30200", "10DE:2330"),
                     f"{switch}/0000:{at}2:01.0/0000:{at}4:00.0": ("20700", "15B3:1021")}
        for path, (code, ids) in functions.items():
            tree.raw(f"{path}/uevent", f"PCI_CLASS={code}\nPCI_ID={ids}\nPCI_SUBSYS_ID=0000:0000\n".encode())
            tree.text(f"{path}/numa_node", 0)
            tree.link(f"/sys/bus/pci/devices/{path.rpartition('/')[2]}", path)
        tree.link(f"/sys/class/infiniband/mlx5_{at}", f"{path}/infiniband/mlx5_{at}")
    return Facts(tree, ())


def problems(*left_out):
    text = FILE
    for part in left_out:
        assert part in text
        text = text.replace(part, "")
    return list(fusion_problems(text, facts(), TOPOLOGY))


class NcclFusionTest(unittest.TestCase):
    def test_a_complete_file_fuses(self):
        self.assertEqual(problems(), [])

    def test_a_switch_without_subsystem_ids_stands_twice(self):
        found = problems('subsystem_vendor="0x0000" ')
        self.assertIn(("pci 0000:11:00.0", "2 times", "once"), found)
        self.assertIn(("net mlx5_2", "2 times", "once"), found)
        self.assertIn(("0000:23:00.0/mlx5_2", "PHB", "PIX"), found)

    def test_a_switch_without_a_link_stands_twice(self):
        self.assertIn(("pci 0000:11:00.0", "2 times", "once"), problems(' link_speed="32.0 GT/s PCIe"'))

    def test_another_class_than_that_of_sysfs_does_so_too(self):
        found = list(fusion_problems(FILE.replace("0x060400", "0x060401"), facts(), TOPOLOGY))
        self.assertIn(("pci 0000:21:00.0", "2 times", "once"), found)

    def test_without_nets_each_rank_fills_in_all(self):
        self.assertEqual(problems(SWITCH_IDS, *(f'<nic><net name="mlx5_{at}"/></nic>' for at in (1, 2))), [])

    def test_a_file_of_nothing_is_filled_in_from_sysfs(self):
        self.assertEqual(list(fusion_problems('<system version="1"/>', facts(), TOPOLOGY)), [])

    def test_a_processor_without_affinity_stands_twice(self):
        """Where a rank has no GPU below it."""
        with_two = FILE.replace('<pci busid="0000:21:00.0"', f'</cpu><cpu numaid="1" {AFFINITY} arch="x86_64" '
                                'vendor="GenuineIntel" familyid="6" modelid="143"><pci busid="0000:21:00.0"')
        topology = {**TOPOLOGY, "relations": [["PIX", "SYS"], ["SYS", "PIX"]]}
        self.assertEqual(list(fusion_problems(with_two, facts(), topology)), [])
        found = list(fusion_problems(with_two.replace(AFFINITY, ""), facts(), topology))
        self.assertIn(("cpu 1", "2 times", "once"), found)


if __name__ == "__main__":
    unittest.main()
