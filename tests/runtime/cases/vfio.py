# SPDX-License-Identifier: Apache-2.0
"""Virtual functions that vfio-pci holds: the nodes of exactly the IOMMU groups that were allocated."""

import json
import re
import shutil

from lib.case import RuntimeCase
from lib.cri import Refused
from lib.machine import Machine, Tree
from lib.process import wait_until

DPDK = "allocation.railhead.io/intel.com/dpdk"
FIRST, SECOND = "0000:82:01.0", "0000:82:01.1"
CONFIG = {"resourceList": [{"resourceName": "dpdk", "selectors": {"drivers": ["vfio-pci"]}}]}


def bind_vfio(tree: Tree, address: str, group: int, numbers: str) -> None:
    """As the kernel shows a function after its driver was exchanged."""
    function = tree.at(f"/sys/bus/pci/devices/{address}").resolve()
    for name in ("infiniband", "infiniband_verbs", "net"):
        for entry in (function / name).glob("*"):
            tree.at(f"/sys/class/{name}/{entry.name}").unlink(missing_ok=True)
        shutil.rmtree(function / name, ignore_errors=True)
    uevent = (function / "uevent").read_text()
    (function / "uevent").write_text(re.sub(r"(?m)^DRIVER=.*$", "DRIVER=vfio-pci", uevent))
    tree.at(f"/sys/kernel/iommu_groups/{group}").mkdir(parents=True, exist_ok=True)
    (function / "iommu_group").unlink(missing_ok=True)
    up = "/".join([".."] * (len(function.relative_to(tree.at("/sys")).parts)))
    (function / "iommu_group").symlink_to(f"{up}/kernel/iommu_groups/{group}")
    for folder, text in ((f"/sys/class/vfio/{group}", numbers), ("/sys/class/misc/vfio", "10:196")):
        tree.at(folder).mkdir(parents=True, exist_ok=True)
        tree.write(f"{folder}/dev", text)


class Vfio(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.tree = Machine("vfs-on-one-socket").unpack(self.dir / "root")
        bind_vfio(self.tree, FIRST, 26, "511:300")
        bind_vfio(self.tree, SECOND, 27, "511:301")
        config = self.dir / "config.json"
        config.write_text(json.dumps(CONFIG))
        machine = Machine("vfs-on-one-socket")
        machine.snapshot = str(self.tree.root)
        self.agent(machine, "--config", str(config), "--rescan-interval", "1")

    def nodes(self, annotations: dict[str, str]) -> list[str]:
        container = self.pod().run(annotations=annotations)
        return container.exec("sh", "-c", "cd /dev/vfio && stat -c '%n %t:%T %a' *").splitlines()

    def test_the_container_has_its_own_group_and_no_other(self) -> None:
        self.assertEqual(["27 1ff:12d 600", "vfio a:c4 666"], self.nodes({DPDK: SECOND}))

    def test_a_group_that_changed_is_the_new_one_at_the_next_creation(self) -> None:
        self.assertIn("26 1ff:12c 600", self.nodes({DPDK: FIRST}))
        shutil.rmtree(self.tree.at("/sys/class/vfio/26"))
        bind_vfio(self.tree, FIRST, 41, "511:302")
        wanted = ["41 1ff:12e 600", "vfio a:c4 666"]
        wait_until("the other group", lambda: self.nodes({DPDK: FIRST}) == wanted)

    def test_a_group_without_its_node_is_refused(self) -> None:
        shutil.rmtree(self.tree.at("/sys/class/vfio/27"))
        def refusal() -> str:
            try:
                return self.pod().run(annotations={DPDK: SECOND}).id and ""
            except Refused as refused:
                return str(refused)

        said = wait_until("a refusal", refusal)
        self.assertRegex(said, "railhead: .*/dev/vfio/27, which intel.com/dpdk hands out, is not")
