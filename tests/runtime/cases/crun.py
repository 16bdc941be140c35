# SPDX-License-Identifier: Apache-2.0
"""With crun what an OCI runtime can do otherwise than runc: nodes, limit, environment, refusal, mount."""

import pathlib

from cases import a_harness, permissions, roce, topology_file

# Where the shim has the OCI runtime keep its records, whichever runtime that is.
STATE = pathlib.Path("/run/containerd/runc/k8s.io")


class HarnessWithCrun(a_harness.Harness):
    oci_runtime = "crun"

    def test_the_containers_are_those_of_crun(self) -> None:
        folder = STATE / self.pod().run().id
        self.assertTrue((folder / "status").exists(), "crun's record of a container")
        self.assertFalse((folder / "state.json").exists(), "runc's")


class PermissionsWithCrun(permissions.Permissions):
    oci_runtime = "crun"


class RoceWithCrun(roce.Roce):
    oci_runtime = "crun"


class TopologyFileWithCrun(topology_file.TopologyFile):
    oci_runtime = "crun"
