#!/usr/bin/env python3
"""Counts which scenarios of docs/reference/scenarios.tsv have a test that passed.

Reads the JUnit reports of the last runs. A test covers an id if its name holds
it (N01, P_D1 for P-D1). An id tagged R is covered only if a test with it passed
on the real API server too (reports in a folder named junit-e2e). Fails if an id
that is due is not covered.
"""
import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

from summary import cases

LIST = Path(__file__).resolve().parents[2] / "docs/reference/scenarios.tsv"
DUE = {"foundation"}
NOT_APPLICABLE = "routes belong to the network plugin of the cluster, not to this program"


def read_list():
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def passed_ids(folders, known):
    """id → set of "fake", "real"."""
    where = defaultdict(set)
    for folder in folders:
        kind = "real" if folder.name == "junit-e2e" else "fake"
        for report in sorted(folder.glob("*.xml")):
            for name, outcome, _ in cases(report):
                if outcome != "passed":
                    continue
                for part in re.findall(r"P_[A-L]\d+[bc]*|[NLSRECQP]\d\d(?!\d)", name):
                    identifier = part.replace("P_", "P-") if part.startswith("P_") else part
                    if identifier in known:
                        where[identifier].add(kind)
    return where


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--junit", action="append", type=Path, default=[])
    parser.add_argument("--verbose", action="store_true", help="list what is covered too")
    arguments = parser.parse_args()
    rows = list(read_list())
    where = passed_ids(arguments.junit, {row[0] for row in rows})
    counts = defaultdict(int)
    missing = []
    for identifier, tags, due, title in rows:
        need = {"fake"} if "F" in tags else set()
        if "R" in tags.split():
            need.add("real")
        have = where.get(identifier, set())
        # A test on the real server shows at least what one on fakes shows.
        covered = bool(have) and ("real" not in need or "real" in have)
        if due == "not-applicable":
            counts["not applicable"] += 1
            print(f"n/a      {identifier}: {NOT_APPLICABLE}")
        elif covered:
            counts["covered"] += 1
            if arguments.verbose:
                print(f"covered  {identifier}: {title}")
        elif due in DUE:
            counts["missing"] += 1
            what = "no test on the real API server" if have else "no test"
            missing.append(f"MISSING  {identifier} ({what} passed): {title}")
        else:
            counts["later"] += 1
            print(f"later    {identifier} ({due}): {title}")
    print("\n".join(missing))
    print(", ".join(f"{number} {what}" for what, number in sorted(counts.items())))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
