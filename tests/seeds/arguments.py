# SPDX-License-Identifier: Apache-2.0
"""What the scripts may say to az, and to helm of charts that are not ours: each word, each option and its value as a
pattern, and the public page or source that names it. Anything else ends the script."""

import dataclasses
import re

FLAG = None  # an option without a value
AZ = "https://learn.microsoft.com/cli/azure/"
HELM = "https://helm.sh/docs/helm/"
NETWORK_OPERATOR = "Mellanox/network-operator deployment/network-operator/values.yaml"
GPU_OPERATOR = "NVIDIA/gpu-operator deployments/gpu-operator/values.yaml"
NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
VERSION = r"v?\d+\.\d+\.\d+"
DURATION = r"\d+[ms]"
POOL = {"--resource-group": r"\S+", "--cluster-name": NAME, "--name": r"[a-z][a-z0-9]{0,11}"}


@dataclasses.dataclass(frozen=True)
class Command:
    words: tuple[str, ...]  # patterns of what is no option
    options: dict[str, str | None]
    source: str
    required: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Chart:
    """A chart of others. `values`: key -> pattern of its value."""

    repository: str
    values: dict[str, str]
    source: str


COMMANDS = {
    "az": [
        Command(("account", "show"), {"--output": "none"}, AZ + "account#az-account-show"),
        Command(("feature", "register"),
                {"--namespace": r"Microsoft\.ContainerService", "--name": "AKSInfinibandSupport", "--output": "none"},
                AZ + "feature#az-feature-register", ("--namespace", "--name")),
        Command(("feature", "show"),
                {"--namespace": r"Microsoft\.ContainerService", "--name": "AKSInfinibandSupport",
                 "--query": r"properties\.state", "--output": "tsv"},
                AZ + "feature#az-feature-show", ("--namespace", "--name", "--query", "--output")),
        Command(("provider", "register"), {"--namespace": r"Microsoft\.ContainerService"},
                AZ + "provider#az-provider-register", ("--namespace",)),
        Command(("aks", "nodepool", "show"), POOL | {"--query": "name|osSku", "--output": "tsv"},
                AZ + "aks/nodepool#az-aks-nodepool-show", tuple(POOL)),
        Command(("aks", "nodepool", "add"),
                POOL | {"--node-count": r"\d+", "--node-vm-size": r"Standard_\w+", "--os-sku": "Ubuntu", "--gpu-driver": "none",
                        "--kubelet-config": r"\S+"},
                AZ + "aks/nodepool#az-aks-nodepool-add", (*POOL, "--node-count", "--node-vm-size", "--os-sku")),
        Command(("aks", "nodepool", "delete"), POOL, AZ + "aks/nodepool#az-aks-nodepool-delete", tuple(POOL)),
    ],
    "helm": [
        Command(("repo", "add", NAME, r"https://\S+"), {"--force-update": FLAG}, HELM + "helm_repo_add/"),
        Command(("repo", "update", NAME), {}, HELM + "helm_repo_update/"),
        Command(("upgrade", NAME, rf"{NAME}/{NAME}"),
                {"--install": FLAG, "--namespace": NAME, "--create-namespace": FLAG, "--version": VERSION, "--wait": FLAG,
                 "--timeout": DURATION, "--set": r"\S+=\S+"},
                HELM + "helm_upgrade/", ("--install", "--namespace", "--version", "--wait")),
        Command(("uninstall", NAME), {"--namespace": NAME, "--wait": FLAG}, HELM + "helm_uninstall/", ("--namespace",)),
    ],
}
CHARTS = {
    "nvidia/network-operator": Chart(
        "https://helm.ngc.nvidia.com/nvidia",
        {"nfd.deployNodeFeatureRules": "true|false", "nfd.enabled": "true|false"}, NETWORK_OPERATOR),
    "nvidia/gpu-operator": Chart(
        "https://helm.ngc.nvidia.com/nvidia",
        {"nfd.enabled": "true|false", "driver.rdma.enabled": "true", "driver.rdma.useHostMofed": "true|false",
         "driver.kernelModuleType": "open|auto"},
        GPU_OPERATOR),
    "nvdp/nvidia-device-plugin": Chart(
        "https://nvidia.github.io/k8s-device-plugin", {},
        "NVIDIA/k8s-device-plugin README.md, Deployment via helm"),
}


class Refused(Exception):
    """An argument that the program does not have, or has otherwise."""


def parsed(program: str, arguments: list[str]) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """The words and the options of a call; Refused where the table does not have them."""
    words: list[str] = []
    options: dict[str, list[str]] = {}
    rest = iter(arguments)
    for one in rest:
        if not one.startswith("--"):
            words.append(one)
            continue
        name, is_joined, value = one.partition("=")
        known = [command.options[name] for command in COMMANDS[program] if name in command.options]
        if not known:
            raise Refused(f"{program} has no option {name}")
        takes_value = any(pattern is not FLAG for pattern in known)
        options.setdefault(name, []).append(value if is_joined else next(rest, "") if takes_value else "")
    for command in COMMANDS[program]:
        if len(command.words) == len(words) and all(map(re.fullmatch, command.words, words)):
            _check(program, command, options)
            return tuple(words), options
    raise Refused(f"{program} {' '.join(words)}: no such command")


def _check(program: str, command: Command, options: dict[str, list[str]]) -> None:
    for name, values in options.items():
        if name not in command.options:
            raise Refused(f"{program} {' '.join(command.words)} has no option {name}: {command.source}")
        pattern = command.options[name]
        for value in values:
            if pattern is not FLAG and not re.fullmatch(pattern, value):
                raise Refused(f"{program} {' '.join(command.words)}: {name} is {value}: {command.source}")
    for name in command.required:
        if name not in options:
            raise Refused(f"{program} {' '.join(command.words)} lacks {name}: {command.source}")


def check_values(chart: str, settings: list[str]) -> None:
    for setting in settings:
        key, _, value = setting.partition("=")
        if not re.fullmatch(CHARTS[chart].values.get(key, ""), value):
            raise Refused(f"{chart} has no value {setting}: {CHARTS[chart].source}")
