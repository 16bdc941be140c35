# SPDX-License-Identifier: Apache-2.0
"""What cmake/container_path.ld is made of."""

import unittest

import code_order

PROFILE = """
positions: line
events: Ir
ob=(1) /usr/bin/railhead
fl=(1) ???
fn=(1) _ZN8railhead4readEv
0 300
cfn=(2) _ZN8railhead6decideEv.part.0
calls=100 0
0 9000
0 12
fn=(2)
0 8000
+3 1000
fn=(3) memcpy
* 7
totals: 9319
"""


class CodeOrder(unittest.TestCase):
    def test_what_a_function_calls_is_not_its_own(self):
        own = code_order.instructions_in(PROFILE.splitlines())
        self.assertEqual({"_ZN8railhead4readEv": 312, "_ZN8railhead6decideEv.part.0": 9000, "memcpy": 7}, dict(own))

    def test_a_function_is_named_as_its_source_has_it(self):
        for name in ("_Zx.part.0", "_Zx.constprop.0.isra.0", "_Zx'2", "_Zx.localalias", "_Zx"):
            self.assertEqual("_Zx", code_order.of_source(name))

    def test_the_linker_is_given_names_of_functions_alone(self):
        lines = code_order.OUTPUT.read_text(encoding="utf-8").splitlines()
        names = [line for line in lines if line.startswith("    *(.text.")]
        self.assertGreater(len(names), code_order.FEWEST)
        self.assertTrue(all("_Z" in name for name in names))
        self.assertEqual("INSERT BEFORE .text;", lines[-1])


if __name__ == "__main__":
    unittest.main()
