#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The chart and its kustomization without a cluster: check.py RAILHEAD [pattern…] [--bless]

helm and kubeconform judge it; goldens say what each set of values renders. --bless writes the goldens, the
chart's README and the base of the kustomization anew.
"""

import concurrent.futures
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests/runtime"))

import yaml  # noqa: E402
from lib import paths  # noqa: E402
from lib.process import output  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CHART = TREE / "deploy/charts"
KUSTOMIZE = TREE / "deploy/kustomize"
NPD = CHART / "files/railhead-doctor.json"
# The oldest that the chart admits, the oldest that the cluster tests meet, and the newest.
KUBERNETES = ("1.26.15", "1.30.14", "1.36.3")
# As the post on k8s-rdma-device-plugin installs its chart.
ACCOUNTING = ("--set", "rdma.resourceName=rdma.io/hca", "--set", "rdma.resourceCount=100",
              "--set", "gpuRdmaAutoInject=true")
INJECT_ONLY = ("--set", "rdma.enableDevicePlugin=false", "--set", "gpuRdmaAutoInject=true")
CASES = {
    "default": (),
    "accounting": ACCOUNTING,
    "inject-only": INJECT_ONLY,
    "everything": ("-f", str(HERE / "values/everything.yaml")),
    # In place of nodeConditions, which everything has.
    "node-problem-detector": ("--set", "nodeProblemDetector.enabled=true", "--set", "nodeProblemDetector.namespace=monitoring"),
}
EXAMPLES = {path.stem: ("-f", str(path)) for folder in ("examples", "profiles") for path in sorted((CHART / folder).iterdir())}
# Profile -> the resource whose slots its nodes offer, how many, and the class of setup's steps. hpc has no Kubernetes.
PROFILES = {
    "aks-dynamo": ("rdma/hca_shared_devices_a", 1000, "R2"),
    "aks-llm-d": ("rdma/ib", 8, "R2"),
    "openshift-full-stack": ("nvidia.com/sriov_rdma_vf", None, None),
    "bare-metal-ib": ("rdma.io/hca", 100, "R2"),
    "roce": ("rdma.io/hca", 100, "R2"),
}
# Overlay -> what it is the same as.
OVERLAYS = {
    "inject-only": INJECT_ONLY,
    "pods": ("--set", "pods.enabled=true"),
    "openshift": ("--set", "openshift.enabled=true"),
    "before-1.30": ("--kube-version", "1.29.0"),
}
HELM_LABELS = ("app.kubernetes.io/managed-by", "helm.sh/chart")
# What is set of the four values -> which NICs containers with GPUs get without asking.
GPUS = {
    (): "closest",
    ("gpuRdmaAutoInject=true",): "closest",
    ("gpuRdmaAutoInject=false",): "none",
    ("rdma.resourceName=example.com/hca",): "none",
    ("rdma.resourceCount=7",): "none",
    ("rdma.enableDevicePlugin=true",): "none",
    ("rdma.enableDevicePlugin=false",): "none",
    ("rdma.resourceCount=7", "gpuRdmaAutoInject=true"): "closest",
}
WRONG = {
    "rdma.resourceNme=x/y": "'/rdma': additional properties 'resourceNme' not allowed",
    "rdma.resourceName=hca": "'/rdma/resourceName'",
    **{f"rdma.resourceName={name}": "'/rdma/resourceName'"
       for name in ("a/b_", "-./x", "a../x", "/x", "example.com/" + "a" * 64)},
    "rdma.resourceCount=0": "'/rdma/resourceCount'",
    "rdma.resourceCount=many": "'/rdma/resourceCount'",
    "gpuRdmaAutoInject=yes": "'/gpuRdmaAutoInject'",
    "gpuRdmaAutoinject=true": "additional properties 'gpuRdmaAutoinject' not allowed",
    "image.digest=sha256:12": "'/image/digest'",
    "metrics.port=0": "'/metrics/port'",
    "metrics.podMonitor.intervall=3s": "'/metrics/podMonitor': additional properties 'intervall' not allowed",
    "kubelet.rootDir=var/lib/kubelet": "'/kubelet/rootDir'",
    "startupTaint.enabled=yes": "'/startupTaint/enabled'",
    "events.enabled=1": "'/events/enabled'",
    "doctor.interval=often": "'/doctor/interval'",
    "nodeConditions.enabled=yes": "'/nodeConditions/enabled'",
    "nodeProblemDetector.program=railhead": "'/nodeProblemDetector/program'",
    "nodeProblemDetector.hostRoot=host": "'/nodeProblemDetector/hostRoot'",
    "nodeProblemDetector.namespace=Monitoring": "'/nodeProblemDetector/namespace'",
    "nodeProblemDetector.enabled=true,nodeConditions.enabled=true": "nodeConditions.enabled and nodeProblemDetector.enabled",
    "nfd.directory=features.d": "'/nfd/directory'",
    "nfd.directory=/": "'/nfd/directory'",
    "nfd.enable=true": "'/nfd': additional properties 'enable' not allowed",
    "metrics.alerts.enable=true": "additional properties 'enable' not allowed",
    "setup.allow=R5": "'/setup/allow'",
    "setup.atOnce=0": "'/setup/atOnce'",
    "setup.atOnce=many": "'/setup/atOnce'",
    "setup.besideGpuPods=often": "'/setup/besideGpuPods'",
    "resourceQuota.pods=0": "'/resourceQuota/pods'",
    "resourceQuota.enabled=true,priorityClassName=": "'/priorityClassName'",
    "serviceAccount.create=false,events.enabled=true": "serviceAccount.create is false and serviceAccount.name names no account",
    "serviceAccount.create=false,serviceAccount.name=default,openshift.enabled=true": "openshift.enabled would give",
    "cdi.handout=true": "'/cdi/enabled'",
    "existingConfigs[0].configMap=a": "'/existingConfigs/0': missing property 'key'",
    "config.injection.gpus=none": "'/config': got object, want string",
    "resources.limit.memory=1Gi": "'/resources': additional properties 'limit' not allowed",
    "affinity.nodeAfinity.a=b": "'/affinity': additional properties 'nodeAfinity' not allowed",
    "updateStrategy.maxSurge=1": "'/updateStrategy': additional properties 'maxSurge' not allowed",
    "updateStrategy.type=Recreate": "'/updateStrategy/type'",
    "extraEnv[0].name=A,extraEnv[0].valeu=b": "'/extraEnv/0': additional properties 'valeu' not allowed",
}

# Values that the page names in place of their default.
MOUNT_VALUES = {
    "/var/run/nri": "nri.directory",
    "/var/lib/kubelet/device-plugins": "kubelet.devicePluginDir",
    "/var/lib/kubelet/pod-resources": "kubelet.rootDir` + `/pod-resources",
    "/etc/kubernetes/node-feature-discovery/features.d": "nfd.directory",
}
# Objects of Kubernetes, which values.yaml has as one value.
WHOLE = ("resources", "affinity", "updateStrategy")


def tool(name: str) -> pathlib.Path:
    return paths.fetch("go-tool", name) / name


def render(*values: str, release: str = "rdma-device-plugin") -> str:
    return output(tool("helm"), "template", release, CHART, "--namespace", "kube-system", *values)


def objects(text: str) -> list[dict]:
    return sorted((one for one in yaml.safe_load_all(text) if one), key=lambda one: one["kind"])


def daemon_name(values: str, release: str) -> str:
    return next(one for one in objects(render("--set", values, release=release)) if one["kind"] == "DaemonSet")["metadata"]["name"]


def agent_spec(values: str) -> dict:
    """Of the agent's pod."""
    found = objects(render("--set", values, release="railhead"))
    return next(one for one in found if one["kind"] == "DaemonSet")["spec"]["template"]["spec"]


# What a string may hold that is more than a string to YAML, to CEL, or to helm.
HOSTILE = ("x\n      hostIPC: true", "x\n            - --annotations=allow", 'x" || true || "', "x' || true || '", "true", "7", "{{ .Release.Name }}",
           "x: y #z", "*x", "/a\nb", "x\n---\nkind: Pod")


def merged(base: dict, more: dict) -> dict:
    """As helm does it."""
    both = dict(base)
    for key, value in more.items():
        both[key] = merged(base[key], value) if isinstance(value, dict) and isinstance(base.get(key), dict) else value
    return both


def strings_of(schema: dict, root: dict, path: tuple = ()) -> list[tuple]:
    """The places of its strings; 0 is an item of a list, x a key of any name. What is Kubernetes' own is written as YAML."""
    if "$ref" in schema:
        schema = {**root["definitions"][schema["$ref"].rpartition("/")[2]], **schema}
    for one in schema.get("allOf", []):
        if "$ref" in one:
            schema = {**root["definitions"][one["$ref"].rpartition("/")[2]], **schema}
    found = [path] if "string" in (schema.get("type") or ()) or "enum" in schema else []
    for key, one in schema.get("properties", {}).items():
        found += strings_of(one, root, (*path, key))
    if isinstance(schema.get("additionalProperties"), dict):
        found += strings_of(schema["additionalProperties"], root, (*path, "x"))
    if isinstance(schema.get("items"), dict):
        found += strings_of(schema["items"], root, (*path, 0))
    return found


def put(values: dict, path: tuple, text: str) -> None:
    """In place of what is there: an item, a key, or a value."""
    at: dict | list = values
    for key, after in zip(path, (*path[1:], None)):
        if key == "x":
            key = next(iter(at), "x")  # that of everything.yaml
        if after is None:
            at[key] = text
        elif isinstance(at, dict) and at.get(key) is None:
            at[key] = [{}] if after == 0 else {}
        at = at[key]


def shape_of(one: object) -> object:
    """What is there, but for what the strings say."""
    if isinstance(one, dict):
        return {key: shape_of(value) for key, value in one.items()}
    if isinstance(one, list):
        return [shape_of(value) for value in one]
    return type(one).__name__


def rights(page: str, values: str) -> tuple[list[dict], list[dict]]:
    """What a page of deploy/rbac makes in kube-system, and what the chart makes of these kinds with the option."""
    found = objects(render("--set", values, "--kube-version", "1.36.0", release="railhead"))
    text = (TREE / f"deploy/rbac/{page}.yaml").read_text()
    for old, new in (("railhead:railhead", "kube-system:railhead"), ("namespace: railhead", "namespace: kube-system"),
                     (f"railhead-{page}", f"kube-system-railhead-{page}")):
        text = text.replace(old, new)
    made = objects(text)
    kinds = {one["kind"] for one in made}
    for one in found:
        one["metadata"].pop("labels")
    return made, [one for one in found if one["kind"] in kinds]


def without_helm(text: str) -> str:
    """For who does not use it."""
    lines = text.splitlines(keepends=True)
    return "".join(l for l in lines if not l.startswith("# Source:") and not l.strip().startswith(HELM_LABELS))


def readme() -> str:
    return output(tool("helm-docs"), "--chart-search-root", CHART, "--dry-run", "--log-level", "error")


def blessed() -> dict[pathlib.Path, str]:
    """Every generated file, as it is to be."""
    files = {HERE / "golden" / f"{name}.yaml": render(*values) for name, values in CASES.items()}
    files[CHART / "README.md"] = readme()
    files[KUSTOMIZE / "base/railhead.yaml"] = without_helm(render(release="railhead"))
    return files


class Chart(unittest.TestCase):
    maxDiff = None
    railhead: str

    def test_helm_finds_nothing_to_say(self) -> None:
        for name, values in {**CASES, **EXAMPLES}.items():
            with self.subTest(name):
                output(tool("helm"), "lint", "--strict", CHART, *values)

    def test_generated_files_are_as_they_would_be_generated(self) -> None:
        for path, text in blessed().items():
            with self.subTest(path.relative_to(TREE), hint="./dev bless"):
                self.assertEqual(text, path.read_text())

    def test_every_kubernetes_knows_every_key(self) -> None:
        for version in KUBERNETES:
            schemas = output(TREE / "scripts/fetch-kubernetes-schemas", version).strip()
            location = schemas + "/{{.ResourceKind}}{{.KindSuffix}}.json"
            for name, values in {**CASES, **EXAMPLES}.items():
                with self.subTest(name, version=version):
                    output(tool("kubeconform"), "-strict", "-schema-location", location,
                           input=render(*values, "--kube-version", version, "--set", "rightsWithoutPolicy=true"))

    def test_a_wrong_value_is_refused_by_its_name(self) -> None:
        for setting, message in WRONG.items():
            with self.subTest(setting), self.assertRaises(AssertionError) as refused:
                render("--set", setting)
            self.assertIn(message, str(refused.exception))

    def test_a_value_of_another_type_is_refused_by_its_name(self) -> None:
        schema = json.loads((CHART / "values.schema.json").read_text())

        def paths_of(properties: dict, before: str = "") -> dict[str, str]:
            """Path of each value -> a JSON value that it cannot have."""
            found: dict[str, str] = {}
            for key, one in properties.items():
                path = f"{before}{key}"
                if "properties" in one and one["additionalProperties"] is False and path not in WHOLE:
                    found.update(paths_of(one["properties"], f"{path}."))
                is_number = "type" in one and one["type"] not in ("object", "array", "string", "boolean")
                found[path] = '{"a": []}' if is_number else "7"
            return found

        for path, wrong in paths_of(schema["properties"]).items():
            with self.subTest(path), self.assertRaises(AssertionError) as refused:
                render("--set-json", f"{path}={wrong}")
            self.assertIn(f"'/{path.replace('.', '/')}'", str(refused.exception))

    def test_no_string_makes_more_of_a_manifest_than_a_string(self) -> None:
        """Each string of the schema, one after the other, in place of the value that everything.yaml has there."""
        schema = json.loads((CHART / "values.schema.json").read_text())
        everything = yaml.safe_load((HERE / "values/everything.yaml").read_text())
        base = yaml.safe_load((CHART / "values.yaml").read_text())
        base["rdma"] = {}
        values = merged(base, everything)
        values["existingConfigs"] = values["existingConfigs"][:1]
        # The two exclude each other.
        detector = merged(values, {"nodeConditions": {"enabled": False}, "nodeProblemDetector": {"enabled": True}})

        def rendered(path: tuple, text: str) -> tuple[list | None, str]:
            """The shape of all objects; none where the schema refuses the value."""
            changed = copy.deepcopy(detector if path[0] == "nodeProblemDetector" else values)
            put(changed, path, text)
            done = subprocess.run([tool("helm"), "template", "a", CHART, "--namespace", "kube-system", "-f", "-"],
                                  input=yaml.safe_dump(changed), capture_output=True, text=True, check=False)
            return ([shape_of(one) for one in objects(done.stdout)] if done.returncode == 0 else None), done.stderr

        def judge(path: tuple) -> None:
            clean = next(filter(None, (rendered(path, text)[0] for text in ("a", "/a", "1m", "1", "Exists", "Always"))), None)
            for text in HOSTILE:
                found, said = rendered(path, text)
                if found is None:
                    self.assertIn("don't meet the specifications of the schema", said, f"{path}: {text!r}")
                else:
                    self.assertEqual(clean, found, f"{path}: {text!r}")

        paths = strings_of(schema, schema)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(judge, paths))
        for path in (("priorityClassName",), ("serviceAccount", "name"), ("existingConfigs", 0, "key"), ("nri", "directory"),
                     ("tolerations", 0, "key"), ("nodeSelector", "x"), ("setup", "file")):
            self.assertIn(path, paths)

    def test_a_key_of_a_value_is_one_or_is_refused(self) -> None:
        for place in ("nodeSelector", "podLabels", "podAnnotations", "serviceAccount.annotations", "metrics.podMonitor.labels",
                      "metrics.alerts.labels", "metrics.alerts.ruleLabels", "metrics.dashboards.annotations", "resources.limits"):
            for key in ("a\n      hostPID: true", "a: b", '"', "a b", "-a", "é"):
                more = json.dumps({key: "1"})
                with self.subTest(place, key=key), self.assertRaises(AssertionError) as refused:
                    render("-f", str(HERE / "values/everything.yaml"), "--set-json", f"{place}={more}")
                self.assertIn("invalid propertyName", str(refused.exception))
        for key in ("name", "instance"):
            with self.assertRaises(AssertionError):
                render("--set-json", json.dumps({"podLabels": {f"app.kubernetes.io/{key}": "x"}}))

    def test_rights_without_a_policy_are_refused_until_they_are_accepted(self) -> None:
        for option in ("startupTaint", "events", "nodeConditions"):
            words = ("--set", f"{option}.enabled=true", "--kube-version")
            with self.assertRaises(AssertionError) as refused:
                render(*words, "1.29.0")
            self.assertIn(f"{option}.enabled", str(refused.exception))
            self.assertIn("rightsWithoutPolicy", str(refused.exception))
            kinds = [one["kind"] for one in objects(render(*words, "1.29.0", "--set", "rightsWithoutPolicy=true"))]
            self.assertEqual((1, 0), (kinds.count("ClusterRole"), kinds.count("ValidatingAdmissionPolicy")))
            kinds = [one["kind"] for one in objects(render(*words, "1.30.0"))]
            self.assertEqual((1, 1, 1), tuple(kinds.count(kind) for kind in (
                "ClusterRole", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")))
        render("--kube-version", "1.29.0")

    def test_setup_is_apart_from_the_agent(self) -> None:
        plain = render("--set", "openshift.enabled=true")
        both = objects(render("--set", "openshift.enabled=true,setup.enabled=true"))
        self.assertEqual(objects(plain), [one for one in both if not one["metadata"]["name"].endswith("-setup")])
        setup = {one["kind"]: one for one in both if one["metadata"]["name"].endswith("-setup")}
        self.assertEqual({"DaemonSet", "ServiceAccount", "SecurityContextConstraints"}, set(setup))
        spec = setup["DaemonSet"]["spec"]["template"]["spec"]
        self.assertEqual((True, False, setup["ServiceAccount"]["metadata"]["name"]),
                         (spec["hostPID"], spec["automountServiceAccountToken"], spec["serviceAccountName"]))
        self.assertTrue(spec["initContainers"][0]["securityContext"]["privileged"])
        rest = spec["containers"][0]
        self.assertNotIn("volumeMounts", rest)
        self.assertEqual((["ALL"], True, 65532), (rest["securityContext"]["capabilities"]["drop"],
                                                  rest["securityContext"]["runAsNonRoot"], rest["securityContext"]["runAsUser"]))
        self.assertEqual([f"system:serviceaccount:kube-system:{spec['serviceAccountName']}"], setup["SecurityContextConstraints"]["users"])
        # What chooses agents does not choose its pods.
        labels = setup["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
        agent = next(one for one in both if one["kind"] == "DaemonSet" and one is not setup["DaemonSet"])
        self.assertFalse(agent["spec"]["selector"]["matchLabels"].items() <= labels.items())

    def test_two_releases_share_no_object(self) -> None:
        def names(release: str, namespace: str) -> set[tuple]:
            text = output(tool("helm"), "template", release, CHART, "--namespace", namespace, *CASES["everything"])
            return {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in objects(text)}

        self.assertFalse(names("railhead", "kube-system") & names("other", "kube-system"))
        self.assertFalse(names("railhead", "kube-system") & names("railhead", "elsewhere"))

    def test_every_mount_and_capability_is_on_the_page(self) -> None:
        page = (TREE / "docs/security.md").read_text()
        for name in CASES:
            specs = [one["spec"]["template"]["spec"] for one in objects(render(*CASES[name])) if one["kind"] == "DaemonSet"]
            for container in [one for spec in specs for one in [*spec.get("initContainers", []), *spec["containers"]]]:
                for mount in container.get("volumeMounts", []):
                    path = re.sub("(/railhead-existing/).*", r"\1…", mount["mountPath"])
                    if mount["name"] != "nccl":  # which the values add
                        self.assertIn(f"`{MOUNT_VALUES.get(path, path)}`", page)
                for capability in container["securityContext"].get("capabilities", {}).get("add", []):
                    self.assertIn(f"`CAP_{capability}`", page)

    def test_every_value_is_documented_and_in_the_schema(self) -> None:
        schema = json.loads((CHART / "values.schema.json").read_text())

        def compare(values: dict, properties: dict, path: str) -> None:
            self.assertEqual(set(values), set(properties) - {"global"}, path)
            for key, value in values.items():
                inner = properties[key].get("properties")
                if isinstance(value, dict) and inner and key not in WHOLE:
                    self.assertIs(False, properties[key]["additionalProperties"], f"{path}{key}")
                    compare(value, inner, f"{path}{key}.")
                else:
                    self.assertIn(f"| {path}{key} |", page)

        page = readme()
        compare(yaml.safe_load((CHART / "values.yaml").read_text()), schema["properties"], "")

    def test_defaults_where_some_of_the_four_are_unset(self) -> None:
        for settings, expected in GPUS.items():
            with self.subTest(settings):
                words = [word for setting in settings for word in ("--set", setting)]
                daemon = next(one for one in objects(render(*words)) if one["kind"] == "DaemonSet")
                container = daemon["spec"]["template"]["spec"]["containers"][0]
                env = {one["name"]: one["value"] for one in container["env"] if one["name"].startswith("RDMA_")}
                done = subprocess.run([self.railhead, "config", "-o", "json"], env={**os.environ, **env},
                                      capture_output=True, text=True, check=True)
                found = {one["key"]: one["value"] for one in json.loads(done.stdout)["settings"]}
                self.assertEqual(expected, found["injection.gpus"])

    def test_each_profile_offers_what_its_manifests_ask_for(self) -> None:
        names = subprocess.run([self.railhead, "setup", "profile"], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual({*names} - {"hpc"}, {path.stem for path in (CHART / "profiles").iterdir()})
        self.assertEqual({*names} - {"hpc"}, set(PROFILES))
        for name, (resource, slots, allowed) in PROFILES.items():
            found = objects(render(*EXAMPLES[name]))
            setup = [one for one in found if one["kind"] == "DaemonSet" and one["metadata"]["name"].endswith("-setup")]
            agent = next(one for one in found if one["kind"] == "DaemonSet" and one not in setup)["spec"]["template"]["spec"]
            file = next((one["data"]["config.yaml"] for one in found if one["kind"] == "ConfigMap" and "config.yaml" in one["data"]), "")
            env = {one["name"]: one["value"] for one in agent["containers"][0]["env"] if one["name"].startswith("RDMA_")}
            with self.subTest(name), tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
                config.write(file)
                config.flush()
                flags = [flag for flag in agent["containers"][0]["args"] if flag.startswith("--ucx")]
                done = subprocess.run([self.railhead, "config", "-o", "json", "--config", config.name, *flags],
                                      env={**os.environ, **env}, capture_output=True, text=True, check=True)
                said = json.loads(done.stdout)
                self.assertEqual([(resource, slots)], [(one["name"], one["slots"]) for one in said["pools"]])
                self.assertEqual("closest", next(one["value"] for one in said["settings"] if one["key"] == "injection.gpus"))
                self.assertTrue(agent["nodeSelector"])
                self.assertEqual([f"--profile={name}", f"--allow={allowed}"] if allowed else [],
                                 sorted((word for one in setup for word in one["spec"]["template"]["spec"]["initContainers"][0]["args"]
                                         if word.startswith(("--profile", "--allow"))), reverse=True))

    def test_the_configuration_is_passed_on_unchanged(self) -> None:
        values = yaml.safe_load((HERE / "values/everything.yaml").read_text())
        found = next(one for one in objects(render(*CASES["everything"]))
                     if one["kind"] == "ConfigMap" and "config.yaml" in one["data"])
        self.assertEqual({"config.yaml": values["config"]}, found["data"])

    def test_an_overlay_is_what_its_values_render(self) -> None:
        kubectl = paths.fetch("kubernetes", "1.36") / "kubectl"
        self.assertEqual({path.name for path in (KUSTOMIZE / "overlays").iterdir()}, set(OVERLAYS))
        for name, values in OVERLAYS.items():
            with self.subTest(name):
                wanted = objects(without_helm(render(*values, release="railhead")))
                found = objects(output(kubectl, "kustomize", KUSTOMIZE / "overlays" / name))
                self.assertEqual(wanted, found)

    def test_the_kustomization_for_setup_leaves_the_agent_as_it_is(self) -> None:
        kubectl = paths.fetch("kubernetes", "1.36") / "kubectl"
        base = objects(output(kubectl, "kustomize", KUSTOMIZE / "base"))
        found = objects(output(kubectl, "kustomize", TREE / "deploy/setup"))
        self.assertEqual(base, [one for one in found if one in base])
        daemonset, account = (one for one in found if one not in base)
        agent = next(one for one in base if one["kind"] == "DaemonSet")
        self.assertEqual(("ServiceAccount", "DaemonSet"), (account["kind"], daemonset["kind"]))
        spec, of_agent = daemonset["spec"]["template"]["spec"], agent["spec"]["template"]["spec"]
        self.assertEqual((account["metadata"]["name"], of_agent["tolerations"]), (spec["serviceAccountName"], spec["tolerations"]))
        for container in (*spec["initContainers"], *spec["containers"]):
            self.assertEqual(of_agent["containers"][0]["image"], container["image"])
        self.assertNotIn("volumeMounts", spec["containers"][0])
        label = "app.kubernetes.io/name"
        self.assertNotEqual(agent["metadata"]["labels"][label], daemonset["metadata"]["labels"][label])
        for version in KUBERNETES:
            location = output(TREE / "scripts/fetch-kubernetes-schemas", version).strip() + "/{{.ResourceKind}}{{.KindSuffix}}.json"
            output(tool("kubeconform"), "-strict", "-schema-location", location, TREE / "deploy/setup/daemonset.yaml")

    def test_setup_that_restarts_has_a_lease_and_a_right_to_that_alone(self) -> None:
        def setup(*values: str) -> dict[str, list[dict]]:
            found = objects(render("--set", "setup.enabled=true", *values, release="railhead"))
            named = [one for one in found if "-setup" in one["metadata"]["name"]]
            return {kind: [one for one in named if one["kind"] == kind] for kind in {one["kind"] for one in named}}

        self.assertEqual({"DaemonSet", "ServiceAccount"}, set(setup()), "no right where nothing is restarted")
        for number, values in (1, ("--set", "setup.allow=R2")), (3, ("--set", "setup.allow=R4,setup.atOnce=3,openshift.enabled=true")):
            found = setup(*values)
            name = found["DaemonSet"][0]["metadata"]["name"]
            leases = [f"{name}-{i}" for i in range(number)]
            self.assertEqual(leases, [one["metadata"]["name"] for one in found["Lease"]])
            self.assertTrue(all("spec" not in one for one in found["Lease"]), "an upgrade takes no holder away")
            (role,), (binding,), spec = found["Role"], found["RoleBinding"], found["DaemonSet"][0]["spec"]["template"]["spec"]
            self.assertEqual([{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": leases,
                               "verbs": ["get", "patch"]}], role["rules"])
            self.assertEqual([spec["serviceAccountName"]], [one["name"] for one in binding["subjects"]])
            init, stays = spec["initContainers"][0], spec["containers"][0]
            self.assertEqual([f"--lease=kube-system/{lease}" for lease in leases], [word for word in init["args"] if word.startswith("--lease")])
            self.assertNotIn("--beside-gpu-pods", init["args"])
            self.assertFalse(spec["automountServiceAccountToken"])
            self.assertIn("token", [mount["name"] for mount in init["volumeMounts"]])
            self.assertNotIn("volumeMounts", stays, "the token is the init container's")
            if "SecurityContextConstraints" in found:
                self.assertIn("projected", found["SecurityContextConstraints"][0]["volumes"])
        told = setup("--set", "setup.allow=R2,setup.besideGpuPods=true")
        self.assertIn("--beside-gpu-pods", told["DaemonSet"][0]["spec"]["template"]["spec"]["initContainers"][0]["args"])

    def test_another_setup_file_starts_the_pods_anew(self) -> None:
        """It is read once; the agent's own configuration is read again while it runs."""
        def templates(values: str) -> list[dict]:
            return [one["spec"]["template"] for one in objects(render("--set", values)) if one["kind"] == "DaemonSet"]

        (agent, setup), (other_agent, other_setup) = (templates(f"setup.enabled=true,setup.file=modules: [{name}]") for name in ("a", "b"))
        self.assertNotEqual(setup, other_setup)
        self.assertEqual(agent, other_agent)
        self.assertEqual(templates("config=a: 1"), templates("config=a: 2"))

    def test_the_name_by_which_the_kubectl_plugin_looks_stays(self) -> None:
        plugin = (TREE / "deploy/kubectl/kubectl-railhead").read_text()
        key, value = re.search(r"^AGENTS='(\S+)=(\S+)'", plugin, re.M).groups()
        for values in ("nameOverride=rdma", "fullnameOverride=rdma", "podLabels.app=x"):
            daemon = next(one for one in objects(render("--set", values)) if one["kind"] == "DaemonSet")
            self.assertEqual(value, daemon["spec"]["template"]["metadata"]["labels"][key], values)
        self.assertEqual("rdma", daemon_name("nameOverride=rdma", "rdma"))
        self.assertEqual("a-rdma", daemon_name("nameOverride=rdma", "a"))

    def test_openshift_lets_the_pod_have_the_volumes_that_it_has(self) -> None:
        more = 'extraVolumes=[{"name": "token", "secret": {"secretName": "a"}}, {"name": "room", "emptyDir": {}}]'
        for values in ("events.enabled=false", "events.enabled=true"):
            found = objects(render("--set", f"openshift.enabled=true,{values}", "--set-json", more))
            allowed = next(one for one in found if one["kind"] == "SecurityContextConstraints")["volumes"]
            spec = next(one for one in found if one["kind"] == "DaemonSet")["spec"]["template"]["spec"]
            kinds = {key for volume in spec["volumes"] for key in volume if key != "name"} | {"configMap"}
            token = {"projected"} if spec["automountServiceAccountToken"] else set()
            self.assertEqual(kinds | token, set(allowed))

    def test_the_startup_taint_has_the_rights_of_the_page(self) -> None:
        page, found = rights("startup-taint", "startupTaint.enabled=true")
        self.assertEqual(page, found)
        spec = agent_spec("startupTaint.enabled=true")
        self.assertTrue(spec["automountServiceAccountToken"])
        self.assertIn({"name": "RAILHEAD_STARTUP_TAINT", "value": "true"}, spec["containers"][0]["env"])

    def test_node_conditions_have_the_rights_of_the_page(self) -> None:
        page, found = rights("node-conditions", "nodeConditions.enabled=true")
        self.assertEqual(page, found)
        # The conditions that the policy leaves the token are those that the agent writes.
        policy = next(one for one in page if one["kind"] == "ValidatingAdmissionPolicy")["spec"]
        ours = next(one["expression"] for one in policy["variables"] if one["name"] == "ours")
        types = [one["type"] for one in json.loads(NPD.read_text())["conditions"]]
        self.assertEqual(types, re.findall(r"'(\w+)'", ours))
        for values, interval in ("", "5m"), (",doctor.interval=1m", "1m"):
            spec = agent_spec("nodeConditions.enabled=true" + values)
            self.assertTrue(spec["automountServiceAccountToken"])
            env = {one["name"]: one.get("value") for one in spec["containers"][0]["env"]}
            self.assertEqual("true", env["RAILHEAD_NODE_CONDITIONS"])
            self.assertEqual(interval, env["RAILHEAD_DOCTOR_INTERVAL"])

    def test_node_problem_detector_mounts_the_file_as_the_page_says(self) -> None:
        def rendered(*values: str) -> tuple[dict, dict]:
            """The ConfigMap, and the configuration in it."""
            words = [word for value in ("nodeProblemDetector.enabled=true", *values) for word in ("--set", value)]
            made = next(one for one in objects(render(*words, release="railhead"))
                        if one["metadata"]["name"].endswith("node-problem-detector"))
            return made, json.loads(made["data"]["railhead-doctor.json"])

        original = json.loads(NPD.read_text())
        self.assertEqual(original, rendered("nodeProblemDetector.hostRoot=")[1])
        made, config = rendered("nodeProblemDetector.namespace=monitoring")
        self.assertEqual("monitoring", made["metadata"]["namespace"])
        for rule in original["rules"]:
            rule["args"] += ["--host-root", "/host"]
        self.assertEqual(original, config)
        elsewhere = rendered("nodeProblemDetector.program=/opt/railhead/usr/bin/railhead")[1]["rules"]
        self.assertEqual({"/opt/railhead/usr/bin/railhead"}, {rule["path"] for rule in elsewhere})

        page = (TREE / "docs/doctor.md").read_text().partition("\n## node-problem-detector\n")[2]
        theirs = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
        places = {one["name"]: one["mountPath"] for one in theirs["extraVolumeMounts"]}
        sources = {one["name"]: one for one in theirs["extraVolumes"]}
        self.assertEqual(set(sources), set(places))
        self.assertEqual(made["metadata"]["name"], sources["railhead-monitor"]["configMap"]["name"])
        self.assertEqual([f"{places['railhead-monitor']}/{next(iter(made['data']))}"],
                         theirs["settings"]["custom_plugin_monitors"])
        self.assertEqual({places["railhead-program"]}, {rule["path"] for rule in config["rules"]})
        self.assertEqual(places["host"], config["rules"][0]["args"][-1])

    def test_events_add_exactly_their_rights(self) -> None:
        def rendered(*values: str) -> list[dict]:
            found = objects(render(*values, release="railhead"))
            for one in found:
                one["metadata"].pop("labels")
            return found

        before, found = rendered(), rendered("--set", "events.enabled=true")
        page, _ = rights("events", "events.enabled=true")
        self.assertEqual(page, [one for one in found if one not in before and one["kind"] != "DaemonSet"])
        self.assertEqual([{"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]}],
                         next(one["rules"] for one in page if one["kind"] == "ClusterRole"))
        spec = next(one for one in found if one["kind"] == "DaemonSet")["spec"]["template"]["spec"]
        self.assertTrue(spec["automountServiceAccountToken"])
        self.assertIn({"name": "RAILHEAD_KUBERNETES_EVENTS", "value": "true"}, spec["containers"][0]["env"])

    def test_who_asks_for_users_of_devices_sees_processes(self) -> None:
        for value, sees in ("pods.enabled=false", False), ("pods.enabled=true", True), ("setup.enabled=true", False):
            found = objects(render("--set", "openshift.enabled=true", "--set", value))
            spec = next(one for one in found if one["kind"] == "DaemonSet")["spec"]["template"]["spec"]
            allowed = next(one for one in found if one["kind"] == "SecurityContextConstraints")["allowHostPID"]
            self.assertEqual((sees, sees), (spec.get("hostPID", False), allowed), value)

    def test_alerts_and_dashboards_are_the_files(self) -> None:
        found = objects(render(*CASES["everything"]))
        rules = next(one for one in found if one["kind"] == "PrometheusRule")
        wanted = yaml.safe_load((CHART / "files/alerts.yaml").read_text())
        for rule in wanted["groups"][0]["rules"]:
            rule["labels"] |= {"team": "network"}
        self.assertEqual(wanted, rules["spec"])
        boards = next(one for one in found if one["metadata"]["name"].endswith("-dashboards"))
        self.assertEqual({"grafana_folder": "RDMA"}, boards["metadata"]["annotations"])
        boards = boards["data"]
        self.assertEqual({path.name: path.read_text() for path in (CHART / "files/dashboards").iterdir()}, boards)

    def test_one_number_is_the_version_of_everything(self) -> None:
        program = re.search(r"project\(railhead VERSION (\S+)", (TREE / "CMakeLists.txt").read_text())[1]
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
        self.assertEqual([program] * 2, [chart["version"], chart["appVersion"]])


def main() -> None:
    if "--bless" in sys.argv:
        for path, text in blessed().items():
            path.write_text(text)
        return
    Chart.railhead = sys.argv.pop(1)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
