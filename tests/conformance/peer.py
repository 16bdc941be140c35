#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A runtime that shares no code with any other NRI implementation: reads as strictly as a Go
runtime does, and misbehaves on purpose. One plugin process meets all checks one after another; it has
to be alive, connected and right after each of them.

  peer.py --gpus GPU-… -- railhead agent --nri-socket {socket} …
"""

import argparse
import shlex
import sys
import tempfile
import time

import framing_checks
import hostile_checks
from go_reader import Dropped
from runtime_side import Closed, Failed, Lab
from wire import Malformed

# What the upstream stub does not do even if it is started again after every connection.
NOT_UPSTREAM = {
    "large_frame": "its reader takes 4096 bytes, and it goes silent",
    "nobody_reads": "a goroutine for each request, without bound",
    "backs_off": "somebody else starts it again",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", required=True, help="NVIDIA_VISIBLE_DEVICES that the plugin acts on")
    parser.add_argument("--large-gpus", help="GPUs for which its answer is larger than 4096 bytes")
    parser.add_argument("--upstream", action="store_true", help="the plugin is one on the Go stub: it is "
                        "started again when it ends, and its exit status does not count")
    parser.add_argument("--only", default="", help="run the checks whose name contains this")
    parser.add_argument("command", nargs="+", help="the plugin; {socket} is replaced")
    return parser.parse_args()


def run(check, lab):
    """None, or what went wrong."""
    try:
        check(lab)
        lab.close_sessions()
        lab.healthy()
    except Dropped as why:
        return f"a Go runtime would drop the plugin: {why}"
    except Closed as why:
        return f"the plugin hung up: {why}"
    except (Failed, Malformed) as why:
        return str(why)
    finally:
        lab.close_sessions()
    return None


def main():
    args = arguments()
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}

    def report(verdict, text):
        counts[verdict] += 1
        print(f"{verdict}  {text}", flush=True)

    with tempfile.TemporaryDirectory(prefix="railhead-peer-") as folder:
        lab = Lab(shlex.join(args.command), args.gpus, folder, restart=args.upstream)
        lab.large_gpus = args.large_gpus
        lab.start()
        for check in framing_checks.CHECKS + hostile_checks.CHECKS:
            if args.only not in check.__name__:
                continue
            if args.upstream and check.__name__ in NOT_UPSTREAM:
                report("SKIP", f"{check.__doc__} (railhead only: {NOT_UPSTREAM[check.__name__]})")
                continue
            if check.__name__ == "large_answer" and not args.large_gpus:
                report("SKIP", f"{check.__doc__} (no --large-gpus)")
                continue
            begin = time.monotonic()
            problem = run(check, lab)
            took = f"({(time.monotonic() - begin) * 1000:.0f} ms)"
            if problem:
                report("FAIL", f"{check.__doc__}: {problem} {took}")
                print(f"      | {lab.log_tail()}")
            else:
                report("PASS", f"{check.__doc__} {took}")
        if not lab.alive() and not args.upstream:
            report("FAIL", f"the plugin ended: {lab.log_tail()}")
        try:
            status = lab.stop()
            if not args.upstream:
                report("PASS" if status == 0 else "FAIL", f"ends on SIGTERM with status 0: {status}")
        except Failed as why:
            report("FAIL", f"ends on SIGTERM: {why}")
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    sys.exit(1 if counts["FAIL"] else 0)


if __name__ == "__main__":
    main()
