# SPDX-License-Identifier: Apache-2.0
"""The tools of these tests themselves, without our agent: what they see is what the runtime did."""

from lib.case import RAISED_KIB, RuntimeCase
from lib.containerd import HARD_MEMLOCK
from lib.cri import Node, Refused
from peers.nri_plugin import device

VERBS = "/dev/infiniband/uverbs0"


class Harness(RuntimeCase):
    def test_a_container_without_plugins_has_nothing(self) -> None:
        self.assert_gets_nothing(self.pod().run(user=1000).look())

    def test_what_a_plugin_adds_is_seen_inside(self) -> None:
        limit = {"type": "RLIMIT_MEMLOCK", "hard": HARD_MEMLOCK, "soft": HARD_MEMLOCK}
        # More than 4096 bytes: the Go reader would lose them in one multiplexer frame.
        large = {"key": "LARGE", "value": "x" * 6000}
        adjustment = {"linux": {"devices": [device(VERBS, 231, 192, 0o640)]}, "rlimits": [limit]}
        self.plugin("peer", "50", {**adjustment, "env": [large]})
        inside = self.pod().run(user=1000).look()
        node = Node(231, 192, "0640", "0:0", "character special file")
        self.assertEqual({VERBS: node}, inside.nodes)
        self.assertEqual(RAISED_KIB, inside.memlock)
        self.assertEqual(6000, len(inside.env["LARGE"]))
        self.assertEqual(1000, inside.uid)

    def test_two_plugins_with_one_path_conflict(self) -> None:
        for name, index in (("first", "10"), ("second", "20")):
            self.plugin(name, index, {"linux": {"devices": [device(VERBS, 231, 192)]}})
        with self.assertRaisesRegex(Refused, r'"20-second" and "10-first" both tried to set'):
            self.pod().create()

    def test_the_runtime_survives_a_restart_with_its_pods(self) -> None:
        container = self.pod().run()
        self.runtime.restart()
        self.assertIn("busybox", container.exec("readlink", "/bin/sh"))
