# SPDX-License-Identifier: Apache-2.0
"""NRI's validator holds back pods that name Railhead as required, while no agent is connected."""

import json

from lib.case import RuntimeCase
from lib.cri import Refused
from lib.machine import H100, Machine

VALIDATOR = """
[plugins."io.containerd.nri.v1.nri".default_validator]
  enable = true
"""
KEY = "required-plugins.noderesource.dev"


class RequiredPlugins(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        if self.runtime.version == "1.7":
            self.skipTest("containerd has validators from 2.2 on")
        self.machine = Machine(H100)
        self.gpu = {"NVIDIA_VISIBLE_DEVICES": self.machine.gpus[5].uuid}
        config = self.runtime.dir / "config.toml"
        before = config.read_text()
        self.addCleanup(self.runtime.restart)
        self.addCleanup(config.write_text, before)
        config.write_text(before + VALIDATOR)
        self.runtime.restart()

    def test_a_pod_that_requires_it_waits_for_the_agent(self) -> None:
        for key, named in ((f"{KEY}/pod", "railhead"), (f"{KEY}/container.main", "90-railhead"), (KEY, "railhead")):
            with self.subTest(key=key, named=named):
                pod = self.pod(annotations={key: json.dumps([named])})
                with self.assertRaisesRegex(Refused, f'required plugin "{named}" not present'):
                    pod.create(env=self.gpu)
                agent = self.agent(self.machine)
                inside = pod.run(env=self.gpu, attempt=1).look()
                self.assert_gets(inside, self.machine, self.machine.nearest(5))
                agent.terminate()

    def test_other_pods_start_without_it(self) -> None:
        self.assert_gets_nothing(self.pod().run(env=self.gpu).look())
        other = self.pod(annotations={f"{KEY}/container.sidecar": '["railhead"]'})
        self.assert_gets_nothing(other.run(env=self.gpu).look())
