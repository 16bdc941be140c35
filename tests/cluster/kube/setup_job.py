# SPDX-License-Identifier: Apache-2.0
"""The Job of deploy/setup, run on a node."""

from lib import paths
from lib.process import Failed, wait_until

from .case import ClusterCase
from .chart import IMAGE, version

SETUP = paths.TREE / "deploy/setup"
REVERT = "[setup, revert, --host-root, /host]"


def run_job(case: ClusterCase, node: str, profile: str, args: str = "") -> str:
    """Its log. `args`: others than it comes with."""
    text = (SETUP / "job.yaml").read_text().replace("NODE", node).replace("bare-metal-ib", profile)
    line = next(line for line in text.splitlines() if line.strip().startswith("args:"))
    if args:
        text = text.replace(line, f"{line.partition('args:')[0]}args: {args}")
    case.assertIn(f"{IMAGE}:{version()}", text, "the manifest names the image of this version")
    name = f"railhead-setup-{node}"
    of_job = ("-n", "kube-system", "get", "job", name, "-o", "jsonpath={.status.succeeded},{.status.failed}")
    case.kubectl("apply", "-f", "-", text=text)
    try:
        ended = wait_until("the Job has ended", lambda: case.kubectl(*of_job).removesuffix(",0").strip(","))
        log = case.kubectl("-n", "kube-system", "logs", f"job/{name}")
        case.assertEqual("1", ended, f"it failed: {log}")
        return log
    except Failed as failure:
        raise Failed(f"{failure}\n{case.kubectl('-n', 'kube-system', 'describe', 'pods')[-3000:]}") from None
    finally:
        case.kubectl("-n", "kube-system", "delete", "job", name, "--cascade=foreground", "--wait=true")
