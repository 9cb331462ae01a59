#!/usr/bin/env python3
"""Looks for the tests' secret keys in everything that a test run has printed or
left: ctest's log, reports, logs and termination messages of every host that ran.

$1 is the build folder. Files that hold a secret on purpose (cloud.conf and what is
made of it) are left out by name. Fails on a find, and if there was nothing to read.
"""
import sys
from pathlib import Path

SECRETS = [b"SkSim0123456789abcdefghijklmnopqrstuvwx1", b"SkExample0123456789abcdefghijklmnopqrSTU",
           b"SkRotated0123456789abcdefghijklmnopqrstuv", b"MFyfvK41ba2giqM7Uio6PznpdUKGpownRZlmVmHc"]
ON_PURPOSE = {"cloud.conf", "cloud.conf.new"}


def main():
    build = Path(sys.argv[1])
    files = [build / "Testing/Temporary/LastTest.log", build / "ctest.xml"]
    files += (build / "junit").glob("*.xml")
    hosts = [p for p in (build / "pytest").rglob("*") if p.is_file() and p.name not in ON_PURPOSE]
    found = [p for p in files + hosts if p.exists() and any(s in p.read_bytes() for s in SECRETS)]
    for path in found:
        print(f"  SECRET  in {path.relative_to(build)}")
    logs = sum(p.name == "log" for p in hosts)
    print(f"secrets: {len(files) + len(hosts)} files read, {logs} logs of hosts, {len(found)} with "
          "a secret")
    return 1 if found or not logs else 0


if __name__ == "__main__":
    sys.exit(main())
