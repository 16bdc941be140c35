#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/schemas has a JSON Schema for each kind of document, made of documents.py, and what the program prints on every
machine of the box is as they say. A key that is in no schema fails, too. With --bless the schemas are written."""
import concurrent.futures
import copy
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

from commands import ROOT, arguments
from documents import COMMITTED, DOCUMENTS, runs

FOLDER = ROOT / "docs/schemas"
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(shape):
    if isinstance(shape, dict) and list(shape) == [str]:
        return {"type": "object", "additionalProperties": schema_of(shape[str])}
    if isinstance(shape, dict):
        return {"type": "object", "required": [key for key in shape if not key.endswith("?")],
                "properties": {key.removesuffix("?"): schema_of(kind) for key, kind in shape.items()}}
    if isinstance(shape, list):
        return {"type": "array", "items": schema_of(shape[0])}
    if isinstance(shape, set):
        return {"enum": sorted(shape, key=lambda word: (word is None, word))}
    if isinstance(shape, tuple) and isinstance(shape[0], (dict, list)):
        return {"anyOf": [schema_of(shape[0]), {"type": "null"}]}
    if isinstance(shape, tuple):
        return {"type": [TYPES[kind] for kind in shape]}
    return {"type": TYPES[shape]}


def schemas():
    for kind, (command, shape) in DOCUMENTS.items():
        yield kind, {"$schema": "http://json-schema.org/draft-07/schema#", "title": kind,
                     "description": f"What {command} prints with -o json.", **schema_of(shape)}


def closed(schema):
    """The same for a program that has nothing of what is not written."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema and isinstance(schema["properties"], dict):
            schema.setdefault("additionalProperties", False)
    return [closed(item) for item in schema] if isinstance(schema, list) else schema


def ask(railhead, words):
    done = subprocess.run([railhead, *words, "-o", "json"], capture_output=True, text=True, check=False)
    try:
        return words, json.loads(done.stdout)
    except ValueError:
        return words, {"kind": f"no document: {done.stderr.strip() or done.stdout[:80]}"}


def wrong_documents(railhead, validators, seen):
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        printed = pool.map(lambda one: ask(railhead, one), list(runs(pathlib.Path(folder))))
        committed = [([path.name], json.loads(path.read_text())) for path in COMMITTED]
        for words, document in itertools.chain(printed, committed):
            kind = document["kind"]
            if kind not in validators:
                yield f"{' '.join(words)}: no schema of {kind}"
                continue
            seen.add(kind)
            for error in list(validators[kind].iter_errors(document))[:3]:
                yield f"{' '.join(words)}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"


def main():
    options = arguments("--bless")
    problems, validators, seen = [], {}, set()
    for kind, schema in schemas():
        validators[kind] = jsonschema.Draft7Validator(closed(copy.deepcopy(schema)))
        jsonschema.Draft7Validator.check_schema(schema)
        path = FOLDER / f"{kind}.json"
        text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        if options.bless:
            path.write_text(text)
        if not path.exists() or path.read_text() != text:
            problems.append(f"{path.relative_to(ROOT)} is not what documents.py says; ./dev bless writes it")
    kept = {path.stem for path in FOLDER.glob("*.json")}
    problems += [f"docs/schemas/{kind}.json is of no document" for kind in sorted(kept - set(validators))]
    problems += wrong_documents(options.railhead, validators, seen)
    problems += [f"no command printed a {kind}" for kind in sorted(set(validators) - seen)]
    print("\n".join(problems[:40]))
    print(f"schemas: {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
