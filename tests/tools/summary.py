#!/usr/bin/env python3
"""Adds up JUnit reports: a line a runner, then "N passed, N failed, N skipped".

Usage: summary.py FOLDER [CTEST.xml]. Of ctest's own report only what it skipped
is counted: the rest is in the runners' reports. Fails if a report has failures, if
there is no report, or if no test ran; a skip is shown with its reason.
"""
import sys
import xml.etree.ElementTree as ET
from pathlib import Path


def cases(path):
    """(name, outcome, text) of each test case of a report."""
    for case in ET.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name', '')}"
        failure = case.find("failure") if case.find("failure") is not None else case.find("error")
        skipped = case.find("skipped")
        if failure is not None:
            yield name, "failed", failure.get("message", "")
        elif skipped is not None or case.get("result") == "skipped":
            text = skipped.get("message", "") if skipped is not None else ""
            yield name, "skipped", text
        elif case.get("status") != "notrun":
            yield name, "passed", ""


def main():
    folder = Path(sys.argv[1])
    reports = sorted(folder.glob("*.xml"))
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for report in reports:
        counts = {"passed": 0, "failed": 0, "skipped": 0}
        for name, outcome, text in cases(report):
            counts[outcome] += 1
            total[outcome] += 1
            if outcome == "skipped":
                print(f"  skipped {name}: {text.strip() or 'no reason given'}")
            if outcome == "failed":
                print(f"  FAILED  {name}: {text.strip().splitlines()[0] if text.strip() else ''}")
        print(f"{report.stem}: {counts['passed']} passed, {counts['failed']} failed, "
              f"{counts['skipped']} skipped")
    for name, outcome, text in cases(Path(sys.argv[2])) if len(sys.argv) > 2 else ():
        if outcome == "skipped":
            total["skipped"] += 1
            print(f"  skipped {name}: {text.strip() or 'no reason given'}")
    if not reports:
        print(f"no report in {folder}: no test ran")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
