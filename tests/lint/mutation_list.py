# SPDX-License-Identifier: Apache-2.0
"""Each fault of tests/mutations/mutations.py still has its place in src/, so that ./dev mutations can start."""
import sys

from source_tree import ROOT, finish

sys.path.insert(0, str(ROOT / "tests" / "mutations"))
from run import list_problems  # noqa: E402

finish("mutation_list", list_problems())
