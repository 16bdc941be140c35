# SPDX-License-Identifier: Apache-2.0
"""The committed table of differences between Railhead and the expected relations: one line each,
with who is right and why. A line that explains nothing is an error, too."""
import fnmatch
import pathlib

TABLE = pathlib.Path(__file__).resolve().parent / "differences.tsv"
FIELDS = 6  # machine, source, pair (shell pattern), ours, expected, reason


class Differences:
    def __init__(self, path=TABLE):
        self.lines = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            fields = line.split("\t")
            assert len(fields) == FIELDS and all(fields), f"{path.name}:{number}: {FIELDS} fields"
            self.lines.append({"number": number, "fields": fields, "used": 0})
        self.unexplained = []
        self.explained = 0

    def see(self, machine, source, pair, ours, expected):
        """One pair whose relations are not equal."""
        for line in self.lines:
            known_machine, known_source, pattern, known_ours, known_expected, _ = line["fields"]
            if ((known_machine, known_source, known_ours, known_expected) ==
                    (machine, source, ours, expected) and fnmatch.fnmatchcase(pair, pattern)):
                line["used"] += 1
                self.explained += 1
                return
        self.unexplained.append(f"{machine}\t{source}\t{pair}\t{ours}\t{expected}")

    def unused(self, sources):
        """Lines about these sources that no difference needed."""
        return [f"{TABLE.name}:{line['number']}: no such difference: "
                + " ".join(line["fields"][:5])
                for line in self.lines if not line["used"] and line["fields"][1] in sources]
