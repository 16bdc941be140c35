# SPDX-License-Identifier: Apache-2.0
"""Virtual machines and container views: what must come out. Entries as in check_expected.py."""

EXPECTED = {}
