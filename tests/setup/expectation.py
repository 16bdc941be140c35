# SPDX-License-Identifier: Apache-2.0
"""What the programs that try setup expect of it."""


class Wrong(SystemExit):
    """Ends the program with what was found in place of what was wanted, unless it is caught."""


def expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise Wrong(f"{what}: {found!r}, not {wanted!r}")
