#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The doctor's other formats say what its JSON says, of every machine in the box that has a problem: JUnit's XML
as a parser of XML reads it, and the page of HTML."""
import argparse
import collections
import html.parser
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

MACHINES = ("dgx-h100-degraded", "azure-nd-h100-v5-nic-lost", "xe9680-roce")
NODES = pathlib.Path(__file__).resolve().parents[1] / "nodes"
OUTCOMES = {"failure": "FAIL", "error": "UNKNOWN", "skipped": "SKIP", "system-out": "WARN"}


def said(program, machine, form):
    command = [program, "doctor", "--snapshot", NODES / f"{machine}.node", "-o", form]
    return subprocess.run(command, capture_output=True, text=True).stdout


def junit_findings(text):
    for case in xml.etree.ElementTree.fromstring(text).iter("testcase"):
        yield case.get("classname"), case.get("name"), OUTCOMES[case[0].tag] if len(case) else "PASS"


class Page(html.parser.HTMLParser):
    """Counts states of summaries, and finds tags that are never closed."""

    def __init__(self):
        super().__init__()
        self.states, self.open, self.wrong = collections.Counter(), [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        if tag == "span" and dict(attrs).get("class", "").startswith("state "):
            self.states[dict(attrs)["class"].split()[1]] += 1

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--railhead", required=True)
    options = parser.parse_args()
    wrong = []
    for machine in MACHINES:
        findings = json.loads(said(options.railhead, machine, "json"))["findings"]
        wanted = [(one["id"], one["subject"], one["state"]) for one in findings]
        if list(junit_findings(said(options.railhead, machine, "junit"))) != wanted:
            wrong.append(f"{machine}: JUnit differs from JSON")
        page = Page()
        page.feed(said(options.railhead, machine, "html"))
        if page.states != collections.Counter(state for _, _, state in wanted) or page.open or page.wrong:
            wrong.append(f"{machine}: HTML differs from JSON, or is not well formed: {page.wrong} {page.open}")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
