# SPDX-License-Identifier: Apache-2.0
"""Reads the YAML that Railhead writes: objects and lists in blocks, values as in JSON, ~ for null."""
import collections
import json
import re

KEY = re.compile(r'("(?:[^"\\]|\\.)*"|[^"\[{][^:]*):(?: (.*))?$')


def read_yaml(text):
    lines = collections.deque((len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines())
    value = _block(lines, 0)
    if lines:
        raise ValueError(f"no part of the document: {lines[0][1]}")
    return value


def _block(lines, indent):
    """What begins at the first line, which has that indent."""
    if lines[0][1].startswith("-"):
        return list(_items(lines, indent))
    if KEY.match(lines[0][1]):
        return dict(_members(lines, indent))
    return _value(lines.popleft()[1])


def _items(lines, indent):
    while lines and lines[0][0] == indent:
        rest = lines.popleft()[1].removeprefix("-").lstrip()
        if rest:
            lines.appendleft((indent + 2, rest))
        yield _block(lines, lines[0][0])


def _members(lines, indent):
    while lines and lines[0][0] == indent:
        key, value = KEY.match(lines.popleft()[1]).groups()
        yield json.loads(key) if key.startswith('"') else key, _value(value) if value else _block(lines, lines[0][0])


def _value(text):
    return None if text == "~" else json.loads(text)
