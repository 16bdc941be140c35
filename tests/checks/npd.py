#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The configuration for node-problem-detector that we ship names checks and conditions that exist, and the
doctor keeps its side: a first line below 80 characters, and 0, 1 or 2.
Format: kubernetes/node-problem-detector pkg/custompluginmonitor/types."""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = ROOT / "deploy/charts/files/railhead-doctor.json"
MACHINES = {"dgx-h100": None, "azure-nd-h100-v5-nic-lost": "RDMADeviceMissing"}


def seconds(text):
    return int(text.removesuffix("s"))


def wrong_rules(config, ids):
    conditions = {one["type"] for one in config["conditions"]}
    if len(conditions) != len(config["conditions"]):
        yield "a condition stands twice"
    for rule in config["rules"]:
        wanted = [word for word in rule["args"] if word not in ("doctor", "--check")]
        yield from (f"{rule['condition']}: no check {name}" for name in wanted if name not in ids)
        if rule["condition"] not in conditions or rule["type"] != "permanent":
            yield f"{rule['condition']}: no such condition"
        if seconds(rule["timeout"]) > seconds(config["pluginConfig"]["timeout"]):
            yield f"{rule['condition']}: waits longer than the plugin may"


def wrong_answers(program, config):
    for machine, expected in MACHINES.items():
        for rule in config["rules"]:
            said = subprocess.run([program, *rule["args"], "--snapshot", ROOT / f"tests/nodes/{machine}.node"],
                                  capture_output=True, text=True)
            first = said.stdout.partition("\n")[0]
            if not 0 < len(first.encode()) <= config["pluginConfig"]["max_output_length"]:
                yield f"{machine} {rule['condition']}: {first!r}"
            problem = rule["condition"] == expected
            if said.returncode not in (0, 1, 2) or (said.returncode == 1) != problem:
                yield f"{machine} {rule['condition']}: exit code {said.returncode}: {first}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--railhead", required=True)
    options = parser.parse_args()
    config = json.loads(CONFIG.read_text())
    said = subprocess.run([options.railhead, "doctor", "--list", "-o", "json"], check=True, capture_output=True, text=True)
    ids = {one["id"] for one in json.loads(said.stdout)["checks"] if one["scope"] == "node"}
    wrong = [*wrong_rules(config, ids), *wrong_answers(options.railhead, config)]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
