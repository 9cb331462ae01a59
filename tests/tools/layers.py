#!/usr/bin/env python3
"""The layer rule: plugins link the SDK only, the host links no plugin, the SDK
links neither. Reads the link graph that CMake writes, and the include lines."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# folder → folders of this repository that its sources may include.
MAY_INCLUDE = {
    "sdk": {"sdk", "proto"},
    "plugins": {"sdk", "proto", "plugins"},
    "host": {"host", "sdk", "proto"},
}
# What a test may use besides.
TESTS_MAY = {"tests", "sdk", "host"}


def link_graph(build):
    """target → targets it links, from `cmake --graphviz`."""
    with tempfile.TemporaryDirectory() as folder:
        dot = Path(folder) / "graph.dot"
        subprocess.run(["cmake", f"--graphviz={dot}", str(build)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
        text = dot.read_text(encoding="utf-8")
    names = dict(re.findall(r'"(node\d+)" \[ label = "([^"\\]+)', text))
    graph = {}
    for a, b in re.findall(r'"(node\d+)" -> "(node\d+)"', text):
        graph.setdefault(names.get(a, a), set()).add(names.get(b, b))
    return graph


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        for name in graph.get(todo.pop(), ()):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def folder_targets(folder):
    """Libraries and programs that the CMakeLists of a folder define, tests apart."""
    names = set()
    for file in (ROOT / folder).rglob("CMakeLists.txt"):
        text = re.sub(r"#.*", "", file.read_text(encoding="utf-8"))
        names |= set(re.findall(r"(?:otc_library|add_library|add_executable|otc_add_plugin)\(\s*(\w+)",
                                text))
    return names


def main():
    graph = link_graph(sys.argv[1])
    host, sdk, plugins = (folder_targets(f) for f in ("host", "sdk", "plugins"))
    errors = []
    for targets, banned, who in ((plugins, host, "plugin"), (sdk, host | plugins, "SDK"),
                                 (host, plugins, "host")):
        for target in sorted(targets):
            for bad in sorted(reachable(graph, target) & banned):
                errors.append(f"{who} target {target} links {bad}")
    if not host & set(graph):
        errors.append("no host target in the link graph: the check would pass on anything")
    for folder, allowed in MAY_INCLUDE.items():
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".h", ".cc", ".c"):
                continue
            test = file.stem.endswith("_test") or "testing" in file.parts or "testdata" in file.parts
            for name in re.findall(r'^#include "([^"]+)"', file.read_text(encoding="utf-8"), re.M):
                top = name.split("/")[0]
                if (ROOT / name).exists() and top not in allowed | (TESTS_MAY if test else set()):
                    errors.append(f"{file.relative_to(ROOT)} includes {name}")
    print("\n".join(errors) or f"layers hold: {len(graph)} targets checked")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
