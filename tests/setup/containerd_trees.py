#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What railhead says of containerd's files is what containerd's own loader makes of them, release by release.

usage: containerd_trees.py RUNTIME_ANSWERS RELEASE=VERSION…, as 1.7=v1.7.29

The trees are made here: main files times drop-ins times what stands in them, and single ones for each rule. The loaders
are built by scripts/fetch-containerd-loader from containerd's Go modules. An answer "unknown" is right only for the
reasons in MAY_BE_UNKNOWN; each says why nobody can know.
"""

import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NRI = "io.containerd.nri.v1.nri"
CRI = "io.containerd.grpc.v1.cri"
IMPORTS = "imports = ['/ROOT/conf.d/*.toml']\n"

MAY_BE_UNKNOWN = {
    "required-unknown": "which plugins a build has besides CRI and NRI is not in its files",
    "disabled-unknown": "what CRI needs of a plugin with another name is not in its files",
    "cri-type": "another file may say the key again, and containerd 2 passes over some keys of CRI",
    "import-unread": "a folder that we may not list, or a key `imports` whose case releases read otherwise",
    "unread": "a file that we may not read, or with more than we parse",
}


def section(name=NRI, **values):
    lines = "".join(f"{key} = {value}\n" for key, value in values.items())
    return f'[plugins."{name}"]\n{lines}'


ON = section(disable="false")
OFF = section(disable="true")
SHORT_ON = section("nri", disable="false")
OTHER = section("io.containerd.internal.v1.opt", path="'/opt'")


def version(number):
    return "" if number is None else f"version = {number}\n"


def crossed():
    """Main files and drop-ins of each version, with and without a section of NRI."""
    says = {"on": ON, "off": OFF, "short": SHORT_ON, "": ""}
    for main, drop in itertools.product((None, 0, 1, 2, 3, 4, 5), (None, 1, 2, 3, 4, 5)):
        for a, b in (("", ""), ("on", ""), ("off", "on"), ("on", "off"), ("short", "")):
            yield f"main {main} {a}, drop-in {drop} {b}", {
                "config.toml": version(main) + IMPORTS + says[a], "conf.d/10-a.toml": version(drop) + says[b] + OTHER}
    for one, two, three in itertools.product((None, 2, 3), (None, 2, 3, 4), (None, 2, 3)):
        yield f"versions {one}, {two}, {three}", {
            "config.toml": version(one) + IMPORTS + ON, "conf.d/10-a.toml": version(two) + OTHER,
            "conf.d/20-b.toml": version(three) + section(CRI, enable_cdi="true")}
    for number in (None, 1, 2, 3, 4):
        for what, text in (("nothing", ""), ("on", ON), ("off", OFF), ("short on", SHORT_ON),
                           ("short and long", SHORT_ON + ON), ("empty section", section()),
                           ("closed", section(disable="false", disable_connections="true")),
                           ("elsewhere", section(disable="false", socket_path="'/run/x.sock'"))):
            yield f"version {number} with {what}", {"config.toml": version(number) + text}


def single():
    """One tree for each rule."""
    for number in (None, 2, 3):
        v = version(number)
        for key in ("Disable", "DISABLE", "dISABLE"):
            yield f"{number} {key}", {"config.toml": v + section(disable="true", **{key: "false"})}
            yield f"{number} {key} alone", {"config.toml": v + section(**{key: "false"})}
            yield f"{number} {key} true alone", {"config.toml": v + section(**{key: "true"})}
        for key, value in (("disable", "'true'"), ("disable", "1"), ("disable", "[]"), ("socket_path", "1"),
                           ("plugin_request_timeout", "'2s'"), ("plugin_request_timeout", "'2'"),
                           ("plugin_request_timeout", "2"), ("plugin_request_timeout", "2.5"),
                           ("plugin_registration_timeout", "'1h2m3.5s'"), ("plugin_request_timeout", "true"),
                           ("plugin_path", "false"), ("disable_connections", "'no'"), ("default_validator", "1"),
                           ("default_validator", "{enable = true}"), ("default_validator", "{enable = 'x'}"),
                           ("default_validator", "{required_plugins = 'x'}"), ("unknown", "1"),
                           ("socket_path", "''"), ("Socket_Path", "'/run/y.sock'"), ("disable", "2020-01-01")):
            yield f"{number} {key} = {value}", {"config.toml": v + section(**{"disable": "false", key: value})}
        for name in ("disabled_plugins", "required_plugins"):
            for value in (f"['{NRI}']", f"['{CRI}']", "['nri']", "['cri']", "'cri'", "[1]", "[]", "['aufs']",
                          "['io.containerd.snapshotter.v1.btrfs']", "['io.containerd.other.v1.thing']",
                          "['io.containerd']", "['io.containerd.cri.v1.images']", "{}"):
                yield f"{number} {name} = {value}", {"config.toml": f"{v}{name} = {value}\n{ON}"}
        yield f"{number} required and disabled", {
            "config.toml": f"{v}required_plugins = ['{CRI}']\ndisabled_plugins = ['{CRI}']\n{ON}"}
        yield f"{number} disabled in a drop-in", {
            "config.toml": v + IMPORTS + ON, "conf.d/a.toml": f"{v}disabled_plugins = ['{NRI}']\n"}
        yield f"{number} the later file has another key", {
            "config.toml": v + IMPORTS + ON, "conf.d/a.toml": v + section(plugin_path="'/opt/nri'")}
        yield f"{number} a key in another case in the later file", {
            "config.toml": v + IMPORTS + OFF, "conf.d/a.toml": v + section(Disable="false")}
        yield f"{number} a section that is no table", {"config.toml": f'{v}[plugins]\n"{NRI}" = 3\n'}
        yield f"{number} a section that is a list", {"config.toml": f'{v}[[plugins."{NRI}"]]\ndisable = false\n'}
        yield f"{number} a table after no table", {
            "config.toml": f'{v}{IMPORTS}[plugins]\n"{NRI}" = 3\n', "conf.d/a.toml": v + ON}
        yield f"{number} no table after a table", {
            "config.toml": v + IMPORTS + ON, "conf.d/a.toml": f'{v}[plugins]\n"{NRI}" = 3\n'}
        yield f"{number} plugins = 3", {"config.toml": v + "plugins = 3\n"}
        yield f"{number} another plugin is no table", {"config.toml": f'{v}[plugins]\n"{CRI}" = 3\n'}
        yield f"{number} [plugins.cri]", {"config.toml": v + section("cri", enable_cdi="true") + ON}
        yield f"{number} inline", {"config.toml": f'{v}plugins = {{"{NRI}" = {{disable = false}}}}\n'}
        yield f"{number} dotted", {"config.toml": f'{v}plugins."{NRI}".disable = false\n'}
        yield f"{number} literal quotes", {"config.toml": f"{v}[plugins.'{NRI}']\ndisable = false\n"}
        yield f"{number} CRLF", {"config.toml": (v + ON).replace("\n", "\r\n")}
        yield f"{number} [Plugins]", {"config.toml": v + ON.replace("plugins", "Plugins")}
        yield f"{number} [PLUGINS]", {"config.toml": v + ON.replace("plugins", "PLUGINS")}
        for text in ("[plugins\n", "x = \n", "[a]\n[a]\n", "a = 1\na = 2\n", ON + ON, "]\n", "a = 'x\n", "\x01\n",
                     "[a.b]\n[a]\nb = 1\n", "a = [1, 'x']\n", "a = 1_000\n", "a = 0x1F\n", "a.b = 1\n[a.c]\nd = 1\n",
                     "a = nan\n", "a = 1979-05-27T07:32:00Z\n", "a = {b = 1,}\n", "a = [\n1,\n# x\n2,\n]\n",
                     "a = '''x'''\n", "[[a]]\n[[a]]\n", "\ufeffa = 1\n", "a = 1 b = 2\n", "a = +1\n", "a = 01\n",
                     "a = .5\n", "a = \"\\u00e9\"\n", "a = \"\\xe9\"\n", "[a]\nb.c = 1\n[a.b]\nd = 1\n"):
            yield f"{number} text {text!r}", {"config.toml": v + text}
            yield f"{number} imported text {text!r}", {"config.toml": v + IMPORTS + ON, "conf.d/a.toml": v + text}
        yield f"{number} malformed, and not imported", {"config.toml": v + ON, "conf.d/a.toml": "[x\n"}
        for key, value in (("oom_score", "'x'"), ("oom_score", "1.5"), ("root", "1"), ("grpc", "{address = 1}"),
                           ("grpc", "{uid = 'x'}"), ("grpc", "{tcp_tls_common_name = 1}"), ("debug", "{level = 'loud'}"),
                           ("debug", "{level = 'INFO'}"), ("debug", "{format = 'xml'}"), ("debug", "{level = ''}"),
                           ("debug", "{log_trace_id = 1}"), ("metrics", "{grpc_histogram = 1}"), ("cgroup", "'x'"),
                           ("timeouts", "{a = '1x'}"), ("timeouts", "{a = '2m'}"), ("timeouts", "{a = 1}"),
                           ("proxy_plugins", "{a = {type = 'snapshot', capabilities = ['x']}}"),
                           ("proxy_plugins", "{a = {type = 1}}"), ("proxy_plugins", "{a = 1}"),
                           ("stream_processors", "{a = {args = 'x'}}"), ("plugin_dir", "1"), ("temp", "1"),
                           ("ttrpc", "{gid = 0.5}"), ("unknown", "'x'"), ("Version", "'x'"), ("VERSION", "2")):
            yield f"{number} {key} = {value}", {"config.toml": f"{v}{key} = {value}\n{ON}"}
        yield f"{number} an escape in the name of a table", {
            "config.toml": v + OFF.replace("nri\"]", "nr\\u0069\"]")}
        yield f"{number} an escape elsewhere", {"config.toml": v + 'root = "/\\u0061"\n' + ON}
        yield f"{number} only a table in the section", {"config.toml": f'{v}[plugins."{NRI}".default_validator]\nenable = true\n'}
        yield f"{number} only a table in the later section", {
            "config.toml": v + IMPORTS + OFF, "conf.d/60.toml": f'{v}[plugins."{NRI}".default_validator]\nenable = true\n'}
        yield f"{number} imports of imports", {
            "config.toml": f"{v}imports = ['a/1.toml']\n", "a/1.toml": f"{v}imports = ['../b/*.toml']\n", "b/x.toml": v + OFF}
        yield f"{number} a folder of drop-ins in an import", {
            "config.toml": f"{v}imports = ['a/1.toml']\n{OFF}", "a/1.toml": f"{v}imports = ['conf.d/*.toml']\n"}
        yield f"{number} drop-ins of ours that say no", {"config.toml": v + IMPORTS, "conf.d/50-railhead-nri.toml": v + OFF}
        for name in (CRI, "io.containerd.cri.v1.runtime"):
            yield f"{number} {name} of other types", {"config.toml": v + ON + section(name, enable_cdi="'true'")}
            yield f"{number} {name} of right types", {"config.toml": v + ON + section(
                name, enable_cdi="true", cdi_spec_dirs="['/etc/cdi']", no_such_key="1") +
                f'[plugins."{name}".containerd.runtimes.x]\nruntime_type = "io.containerd.runc.v2"\n'
                f'[plugins."{name}".containerd.runtimes.x.options]\nSystemdCgroup = true\n'}
        yield f"{number} inside of a text", {"config.toml": f'{v}root = """/x\n[plugins."{NRI}"]\ndisable = false\n"""\n'}
        yield f"{number} as on Google's nodes", {
            "config.toml": f'{v}required_plugins = ["{CRI}"]\ndisabled_plugins = ["io.containerd.internal.v1.restart"]\noom_score = -999\n'}
    for value in ("'2'", "2.0", "-1", "0", "5", "99", "[2]", "true", "2020-01-01", "0x2", "1_0"):
        yield f"version = {value}", {"config.toml": f"version = {value}\n{ON}"}
        yield f"drop-in of version {value}", {
            "config.toml": version(2) + IMPORTS + ON, "conf.d/a.toml": f"version = {value}\n{OTHER}"}
        yield f"drop-in of version {value}, and one behind it", {
            "config.toml": version(2) + IMPORTS + ON, "conf.d/a.toml": f"version = {value}\n{OTHER}",
            "conf.d/b.toml": version(2) + OTHER}
        yield f"drop-in of version {value}, and one without behind it", {
            "config.toml": IMPORTS + ON, "conf.d/a.toml": f"version = {value}\n{OTHER}", "conf.d/b.toml": OTHER}
    drop = {"conf.d/a.toml": version(2) + ON, "conf.d/[1].toml": version(2) + OFF, "conf.d/sub/b.toml": version(2) + ON,
            "conf.d/c.conf": version(2) + OFF, "more.toml": version(2) + "imports = ['third.toml']\n",
            "third.toml": version(2) + OFF, "conf.d/1x.toml": version(2) + OFF}
    for value in ("['conf.d/*.toml']", "['./conf.d/*.toml']", "['conf.d/a*.toml']", "['conf.d/*.conf']", "['conf.d/*']",
                  "['*/*.toml']", "['conf.d/*/*.toml']", "['conf.d/[a-z]*.toml']", "['conf.d/[^a]*.toml']",
                  "['conf.d/?.toml']", "['conf.d/1?*.toml']", "['conf.d/[*']", "['conf.d/[]*']", "['conf.d/\\\\*.toml']",
                  "['conf.d/a.toml']", "['conf.d/gone.toml']", "['gone/*.toml']", "['conf.d']", "['more.toml']",
                  "['conf.d/../more.toml']", "['config.toml']", "['conf.d/1?.toml']", "'conf.d/*.toml'", "[]", "['']",
                  "['/ROOT/conf.d/a.toml', '/ROOT/conf.d/c.conf']", "['conf.d/c.conf', 'conf.d/a.toml']",
                  "['conf.d/[[]1]*.toml']", "['conf.d/\\\\[1]*']", "['conf.d/a.tom*l', 'more.toml']", "['c*.d/a.toml']",
                  "['conf.d/[z-a]*']", "['conf.d/[a-]*']", "[1]", "['conf.d/**.toml']"):
        yield f"imports = {value}", {"config.toml": f"version = 2\nimports = {value}\n" + section(plugin_path="'/x'"), **drop}
    for key in ("Imports", "IMPORTS"):
        yield f"{key}", {"config.toml": f"version = 2\n{key} = ['more.toml']\n" + ON, **drop}
    yield "no file", {}
    yield "no file at the default path", {"default": ""}
    yield "an empty file", {"config.toml": ""}
    yield "a comment", {"config.toml": "# none\n"}
    yield "a link to nowhere in the folder", {"config.toml": version(2) + IMPORTS + ON, "conf.d/a.toml": None}
    yield "circular", {"config.toml": version(2) + "imports = ['more.toml']\n", "more.toml": version(2) + "imports = ['config.toml']\n" + ON}


def write(folder, files):
    """The path by which the tree is named."""
    folder.mkdir()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.symlink_to("gone")
        else:
            path.write_bytes(text.replace("/ROOT", str(folder)).encode())
    return ("default:" if "default" in files else "") + str(folder / "config.toml")


def answers(program, paths):
    done = subprocess.run([program], input="\n".join(paths) + "\n", capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def fetched(versions):
    """The loaders of these versions."""
    fetch = [ROOT / "scripts/fetch-containerd-loader", *versions]
    return subprocess.run(fetch, check=True, capture_output=True, text=True).stdout.split()


def faults(ours, theirs):
    """What of an answer is not as containerd has it, and whether it is unknown."""
    unknown = [code for code in ours["codes"] if code in MAY_BE_UNKNOWN]
    if "unknown" in (ours["starts"], ours["nri"]) and not unknown:
        return ["unknown without a reason"], True
    wrong = []
    if ours["starts"] != "unknown" and (ours["starts"] == "yes") != theirs["starts"]:
        wrong.append(f"starts {ours['starts']}, not {theirs['starts']}: {theirs['why']}")
    if ours["nri"] != "unknown" and (ours["nri"] == "yes") != theirs["nri"]:
        wrong.append(f"nri {ours['nri']}, not {theirs['nri']}")
    if ours["starts"] == "yes" and theirs["starts"] and ours["socket"] != (theirs["socket"] or "/var/run/nri/nri.sock"):
        wrong.append(f"socket {ours['socket']}, not {theirs['socket']}")
    if ours["starts"] == "yes" and theirs["starts"] and ours["version"] != theirs["version"]:
        wrong.append(f"version {ours['version']}, not {theirs['version']}")
    return wrong, "unknown" in (ours["starts"], ours["nri"])


def main():
    program, releases = sys.argv[1], dict(word.split("=") for word in sys.argv[2:])
    loaders = fetched(releases.values())
    trees = list(itertools.chain(crossed(), single()))
    bad = unknown = 0
    with tempfile.TemporaryDirectory(prefix="railhead-trees-") as folder:
        paths = [write(pathlib.Path(folder) / str(number), files) for number, (_, files) in enumerate(trees)]
        ours = answers(program, paths)
        for release, loader in zip(releases, loaders, strict=True):
            theirs = answers(loader, paths)
            for (name, _), one, other in zip(trees, ours, theirs, strict=True):
                wrong, is_unknown = faults(one[release], other)
                unknown += is_unknown
                if wrong:
                    bad += 1
                    print(f"FAIL {release}: {name}: {'; '.join(wrong)} {one[release]['codes']}")
    print(f"{len(trees)} trees in {len(releases)} releases: {bad} answers wrong, {unknown} unknown")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
