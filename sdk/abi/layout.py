#!/usr/bin/env python3
"""The golden layout of the plugin ABI.

  layout.py            writes otc/plugin_layout.h from the newest golden file
  layout.py --check    exits 1 unless every golden file is a prefix of the header,
                       struct by struct, and plugin_layout.h is up to date
  layout.py --extract  prints the header's layout (how a golden file is made,
                       once, when a version of the ABI is released)
  layout.py --program GOLDEN  prints a C program that compares a golden file with
                       what the compiler says: "<n> facts", or the differences
  layout.py --anchor   prints a C file with one function that names every struct,
                       so that tools which follow symbols see the whole ABI

A golden file lists for each struct its members with offset, size, thread tag and
declaration, and each constant with its value. Offsets are computed here and
proved by the compiler through the generated assertions.
"""
import pathlib
import re
import sys

SDK = pathlib.Path(__file__).resolve().parent.parent
HEADER = SDK / "include/otc/plugin.h"
GENERATED = SDK / "include/otc/plugin_layout.h"
GOLDEN = sorted((SDK / "abi").glob("layout-*.txt"),
                key=lambda p: [int(n) for n in re.findall(r"\d+", p.stem)])

SIZES = {"uint16_t": 2, "uint32_t": 4, "int32_t": 4, "uint64_t": 8, "int64_t": 8, "double": 8,
         "otc_method": 8}
TAG = re.compile(r"\[(entry|control|worker|in-call|any)\]")


def squeeze(text):
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\s*([*(),])\s*", r"\1", text)


def comment_tag(comment):
    found = TAG.search(comment)
    return found.group(1) if found else "-"


def parse_members(name, body, sizes):
    """[(member, offset, size, tag, declaration)] of a struct's body."""
    members, offset, comment = [], 0, ""
    for part in re.finditer(r"/\*(.*?)\*/|([^;/]+);", body, re.S):
        if part.group(1) is not None:
            comment = part.group(1)
            continue
        declaration = squeeze(part.group(2))
        function = re.match(r".*?\(\*(\w+)\)\(", declaration)
        if function:
            member, size = function.group(1), 8
        else:
            kind, member = re.match(r"(.*?)(\w+)$", declaration).groups()
            kind = kind.strip()
            size = 8 if kind.endswith("*") else sizes.get(kind)
            if size is None:
                sys.exit(f"{name}.{member}: type {kind!r} is not allowed in the ABI")
        align = min(size, 8)
        if offset % align:
            sys.exit(f"{name}.{member}: padding before offset {offset}")
        members.append((member, offset, size, comment_tag(comment), declaration))
        offset += size
        comment = ""
    if offset % 8:
        sys.exit(f"{name}: padding at the end")
    return members, offset


def extract(text):
    """The layout of a header's text as lines, one struct or constant after another."""
    lines, sizes = [], dict(SIZES)
    for found in re.finditer(r"^#define (OTC_\w+) (-?(?:0x)?[0-9A-Fa-f]+u?)\b", text, re.M):
        lines.append(f"constant {found.group(1)} {found.group(2)}")
    methods = re.findall(r"typedef (\w+ \(\*otc_method\)\([^;]*\));", text)
    lines.append(f"type {squeeze(methods[0])}")
    for found in re.finditer(r"^(?:typedef )?struct (otc_\w+) \{\n(.*?)^\}", text, re.M | re.S):
        name, body = found.groups()
        members, size = parse_members(name, body, sizes)
        sizes[name] = size
        lines.append(f"struct {name} {size}")
        for member, offset, width, tag, declaration in members:
            lines.append(f"  {member} @{offset} {width} [{tag}] {declaration}")
    entry = re.search(r"__attribute__\(\(visibility\(\"default\"\)\)\) (.*?otc_plugin_entry_v1.*?);",
                      text, re.S)
    lines.append(f"entry {squeeze(entry.group(1))}")
    return lines


def blocks(lines):
    """{head: [member lines]}; the size of a struct is no part of its head."""
    out, head = {}, None
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if line.startswith("  "):
            out[head].append(line)
        else:
            head = line.rsplit(" ", 1)[0] if line.startswith("struct ") else line
            out[head] = []
    return out


def prefix_errors(golden, header, frozen):
    errors, now = [], blocks(header)
    for head, members in blocks(golden).items():
        if head.startswith("constant OTC_ABI_MINOR "):
            continue  # the one thing that each version changes
        if head not in now:
            errors.append(f"gone or changed: {head}")
            continue
        for index, member in enumerate(members):
            found = now[head][index] if index < len(now[head]) else "nothing"
            if found != member:
                errors.append(f"{head}: released {member.strip()!r}, now {found.strip()!r}")
        if head.split(" ")[-1] in frozen and len(now[head]) > len(members):
            errors.append(f"{head} is frozen and has grown")
    return errors


FROZEN = {"otc_str", "otc_bytes", "otc_kv", "otc_sink", "otc_interface", "otc_grpc_method"}

HEAD = """\
/* Generated by sdk/abi/layout.py from sdk/abi/{golden}; do not edit.
 * Fails to compile where the layout of the plugin ABI is not the released one. */
#ifndef OTC_PLUGIN_LAYOUT_H_
#define OTC_PLUGIN_LAYOUT_H_
/* clang-format off */

#ifdef __cplusplus
#define OTC_LAYOUT_(condition, text) static_assert(condition, text)
#else
#define OTC_LAYOUT_(condition, text) _Static_assert(condition, text)
#endif
#define OTC_AT_(type, member, at) \\
  OTC_LAYOUT_(offsetof(type, member) == (at), #type "." #member " is not at " #at)
#define OTC_SIZE_(type, size) OTC_LAYOUT_(sizeof(type) == (size), #type " is not of size " #size)

OTC_LAYOUT_(sizeof(void *) == 8, "the plugin ABI is defined for 64-bit platforms");
"""


def generate(golden_path):
    out = [HEAD.format(golden=golden_path.name)]
    struct = None
    for line in golden_path.read_text().splitlines():
        if line.startswith("constant "):
            _, name, value = line.split(" ")
            out.append(f'OTC_LAYOUT_({name} == {value}, "{name} is not {value}");\n')
        elif line.startswith("struct "):
            _, struct, size = line.split(" ")
            out.append(f"\nOTC_SIZE_({struct}, {size});\n")
        elif line.startswith("  "):
            member, at = line.split()[:2]
            out.append(f"OTC_AT_({struct}, {member}, {at[1:]});\n")
    out.append("\n#undef OTC_SIZE_\n#undef OTC_AT_\n#undef OTC_LAYOUT_\n\n"
               "#endif /* OTC_PLUGIN_LAYOUT_H_ */\n")
    return "".join(out)


def facts(golden_path):
    """(C expression, value, text) of everything that a golden file pins."""
    struct = None
    for line in golden_path.read_text().splitlines():
        if line.startswith("constant ") and not line.startswith("constant OTC_ABI_MINOR "):
            _, name, value = line.split(" ")
            yield name, value, name
        elif line.startswith("struct "):
            _, struct, size = line.split(" ")
            # A growing struct may be larger now.
            if struct in FROZEN:
                yield f"sizeof({struct})", size, f"size of {struct}"
            else:
                yield f"(sizeof({struct}) >= {size})", "1", f"{struct} of at least {size} bytes"
        elif line.startswith("  "):
            member, at, width = line.split()[:3]
            yield f"offsetof({struct}, {member})", at[1:], f"offset of {struct}.{member}"
            yield f"sizeof((({struct} *)0)->{member})", width, f"size of {struct}.{member}"


def program(golden_path):
    out = ['#include <stdio.h>\n#include "otc/plugin.h"\n\nint main(void) {\n  int bad = 0;\n']
    count = 0
    for expression, value, text in facts(golden_path):
        count += 1
        out.append(f"  if ((unsigned long)({expression}) != (unsigned long)({value})) {{\n"
                   f'    printf("{text}: released {value}, now %lu\\n", '
                   f"(unsigned long)({expression}));\n    bad = 1;\n  }}\n")
    out.append(f'  if (!bad) printf("{count} facts\\n");\n  return bad;\n}}\n')
    return "".join(out)


def anchor():
    structs = [line.split(" ")[1] for line in extract(HEADER.read_text())
               if line.startswith("struct ")]
    parameters = ", ".join(f"const {name} *p{index}" for index, name in enumerate(structs))
    uses = "".join(f"  (void)p{index};\n" for index in range(len(structs)))
    return ('#include "otc/plugin.h"\n\n'
            f"void otc_abi_anchor({parameters});\nvoid otc_abi_anchor({parameters}) {{\n{uses}}}\n")


def check():
    errors, header = [], extract(HEADER.read_text())
    for path in GOLDEN:
        errors += [f"{path.name}: {e}"
                   for e in prefix_errors(path.read_text().splitlines(), header, FROZEN)]
    newest = [line for line in GOLDEN[-1].read_text().splitlines() if not line.startswith("#")]
    if newest != header:
        errors.append(f"{GOLDEN[-1].name} is not the header's whole layout: a new minor version "
                      "needs a golden file of its own (layout.py --extract)")
    if GENERATED.read_text() != generate(GOLDEN[-1]):
        errors.append("plugin_layout.h is out of date: run sdk/abi/layout.py")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


def main():
    if sys.argv[1:] == ["--extract"]:
        print("\n".join(extract(HEADER.read_text())))
        return 0
    if sys.argv[1:] == ["--check"]:
        return check()
    if sys.argv[1:] == ["--anchor"]:
        print(anchor(), end="")
        return 0
    if sys.argv[1:2] == ["--program"] and len(sys.argv) == 3:
        print(program(pathlib.Path(sys.argv[2])), end="")
        return 0
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    GENERATED.write_text(generate(GOLDEN[-1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
