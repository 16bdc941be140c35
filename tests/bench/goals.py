# SPDX-License-Identifier: Apache-2.0
"""What is wanted of Railhead, in one table: for docs/benchmarks.md and for `scripts/bench --counts`."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Goal:
    key: str  # as the part's goal_values() call it
    part: str  # that measures it
    text: str
    limit: float
    unit: str = ""
    digits: int = 2
    below: bool = False  # the limit itself is too much
    kept: float | None = None  # what CI allows of a count: what was reached, and less than a call more

    @property
    def wanted(self):
        return f"{'<' if self.below else '≤'} {self.limit:g}{self.unit}"

    def shown(self, value):
        return f"{value:.{self.digits}f}{self.unit}"

    def met(self, value):
        return value < self.limit if self.below else value <= self.limit


GOALS = [
    Goal("calls", "counts", "system calls an answer, without a kubelet", 5.5, kept=4),
    Goal("calls_podresources", "counts", "system calls an answer, with a live PodResources", 40, digits=1, kept=25),
    Goal("calls_ahead", "counts", "the same, and RunPodSandbox and its answer before", 40, digits=1, kept=28),
    Goal("threads", "counts", "threads started an answer, without a kubelet", 0),
    Goal("threads_podresources", "counts", "threads started an answer, with a live PodResources", 0),
    Goal("p50_floor", "requests", "CreateContainer p50, against the floor", 1.2, " ×"),
    Goal("cpu_go", "requests", "CPU for each request, against Go", 0.25, " ×"),
    Goal("p99_go", "requests", "CreateContainer p99, against Go", 0.6, " ×"),
    Goal("p50_podresources", "podresources", "p50 with a live PodResources, against the answer without, RunPodSandbox "
         "10 ms before", 3, " ×", below=True),
    Goal("slow_attribute", "disturbances", "p99 while an attribute of sysfs takes 5 s, against the quiet p99", 2, " ×"),
    Goal("opened_device", "disturbances", "p99 while a user opens and touches uverbs0, against that while he does it elsewhere", 2, " ×"),
    Goal("annotations", "disturbances", "p99 with 1 MiB of annotations, against the floor with them", 2, " ×"),
    Goal("unread_log", "disturbances", "p99 while nobody reads the log, against the quiet p99", 2, " ×"),
    Goal("failed", "disturbances", "containers without their NICs in all that", 0, digits=0),
    Goal("list_p50", "kubelet", "from a change to the kubelet's list, 1,024 VFs in 8 pools: p50", 50, " ms", 1, True),
    Goal("list_p99", "kubelet", "the same: p99", 200, " ms", 1, True),
    Goal("read_directory", "reading", "cold read of the directory tree with 512 VFs", 12, " ms", 1, True),
    Goal("rss_rest", "requests", "RSS, injection alone: idle, after the requests, a second after Synchronize", 8, " MiB"),
    Goal("rss_peak", "requests", "RSS at its highest until the large Synchronize is done", 12, " MiB"),
    Goal("image", "sizes", "image `railhead`, as it is pulled", 15, " MB", 1),
    Goal("image_bench", "sizes", "image `railhead-bench`, likewise", 15, " MB", 1),
    Goal("request", "sizes", "RSS at rest with everything on, of the chart's request", 0.5, " ×"),
    Goal("limit", "sizes", "the highest RSS on the largest machine, of the chart's limit", 0.5, " ×"),
    Goal("rss_all", "kubelet", "the highest RSS with everything on: NRI, kubelet, metrics", 12, " MiB"),
]


def goals_of(part):
    return [goal for goal in GOALS if goal.part == part]
