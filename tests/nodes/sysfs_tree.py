# SPDX-License-Identifier: Apache-2.0
"""A tree of files, links and device nodes; written as a snapshot file or as a directory, read from a snapshot."""
import os
import pathlib
import posixpath
import urllib.parse

TEXT, LINK, DEVICE, DIRECTORY, ERROR = "t", "l", "c", "d", "e"


def escape(path):
    """Snapshot escaping of paths and link targets: bytes <= 0x20, 0x7f and % as %XX."""
    return "".join(f"%{ord(c):02X}" if ord(c) <= 0x20 or c in "\x7f%" else c for c in path)


def is_one_line(content):
    """Whether `t` can hold it: printable ASCII and one newline at the end, no space before that."""
    line = content[:-1]
    return (content.endswith(b"\n") and not line.endswith(b" ")
            and all(0x20 <= byte < 0x7f for byte in line))


class Tree:
    """Entries by absolute path."""

    def __init__(self):
        self.entries = {}

    def _add(self, path, kind, value):
        assert path.startswith("/") and posixpath.normpath(path) == path, path
        assert path not in self.entries, f"{path} twice"
        self.entries[path] = (kind, value)

    def text(self, path, text):
        """A sysfs attribute: the text and a newline."""
        self._add(path, TEXT, f"{text}\n".encode())

    def raw(self, path, content):
        self._add(path, TEXT, content)

    def attributes(self, folder, values):
        for name, value in values.items():
            self.text(f"{folder}/{name}", value)

    def link(self, path, to):
        """A relative link from path to the absolute path `to`, as the kernel makes them."""
        self._add(path, LINK, posixpath.relpath(to, posixpath.dirname(path)))

    def device(self, path, major, minor, mode, uid=0, gid=0):
        self._add(path, DEVICE, (major, minor, mode, uid, gid))

    def directory(self, path):
        self._add(path, DIRECTORY, None)

    def error(self, path, name):
        """Something that is there and cannot be read; name is an errno name."""
        self._add(path, ERROR, name)

    def replace(self, path):
        """Takes an entry away, for a machine that differs from another in it."""
        del self.entries[path]

    @classmethod
    def read(cls, snapshot):
        """The tree of a snapshot file, without its comments."""
        tree, at = cls(), 0
        while at < len(snapshot):
            end = snapshot.index(b"\n", at)
            kind, _, rest = snapshot[at:end].decode().partition(" ")
            path, _, value = rest.partition(" ")
            path, at = urllib.parse.unquote(path), end + 1
            if kind == TEXT:
                tree.raw(path, f"{value}\n".encode())
            elif kind == "f":
                tree.raw(path, snapshot[at:at + int(value)])
                at += int(value) + 1
            elif kind == LINK:
                tree.entries[path] = (LINK, urllib.parse.unquote(value.removeprefix("-> ")))
            elif kind == DEVICE:
                number, mode, owner = value.split()
                tree.device(path, *map(int, number.split(":")), int(mode, 8), *map(int, owner.split(":")))
            elif kind in (DIRECTORY, ERROR):
                tree.entries[path] = (kind, value or None)
        return tree

    def text_of(self, path):
        """The text of an attribute without its last newline; None where it is absent or cannot be read."""
        kind, value = self.entries.get(path, (None, None))
        return value.decode(errors="replace").removesuffix("\n") if kind == TEXT else None

    def real(self, link):
        """The absolute path that a link leads to."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(link), self.entries[link][1]))

    def links(self, folder):
        """The links in a folder: (name, path that it leads to)."""
        return [(posixpath.basename(path), self.real(path)) for path, (kind, _) in self.entries.items()
                if kind == LINK and posixpath.dirname(path) == folder]

    def snapshot(self, comments):
        out = [b"railhead-snapshot 1\n"]
        out += [f"# {line}".rstrip().encode() + b"\n" for line in comments]
        for path in sorted(self.entries):
            out.append(self._line(path, *self.entries[path]) + b"\n")
        return b"".join(out)

    @staticmethod
    def _line(path, kind, value):
        name = escape(path).encode()
        if kind == TEXT and is_one_line(value):
            return b"t " + name + (b" " if len(value) > 1 else b"") + value[:-1]
        if kind == TEXT:
            return b"f %s %d\n%s" % (name, len(value), value)
        if kind == LINK:
            return b"l " + name + b" -> " + escape(value).encode()
        if kind == DEVICE:
            return b"c %s %d:%d %04o %d:%d" % (name, *value)
        if kind == DIRECTORY:
            return b"d " + name
        return b"e " + name + b" " + value.encode()

    def write_directory(self, root):
        """The same below a folder. Device nodes need CAP_MKNOD and are left out without it;
        unreadable entries are left out."""
        root = pathlib.Path(root)
        for path, (kind, value) in sorted(self.entries.items()):
            place = root / path[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            if kind == TEXT:
                place.write_bytes(value)
            elif kind == LINK:
                place.symlink_to(value)
            elif kind == DIRECTORY:
                place.mkdir(exist_ok=True)
            elif kind == DEVICE:
                self._make_node(place, value)

    @staticmethod
    def _make_node(place, value):
        major, minor, mode, uid, gid = value
        try:
            os.mknod(place, mode | 0o020000, os.makedev(major, minor))
            os.chmod(place, mode)
            os.chown(place, uid, gid)
        except PermissionError:
            pass
