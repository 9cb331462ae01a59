"""Turns test results into one JUnit file: junit.py OUT.xml RESULTS.jsonl [GO.json].

RESULTS.jsonl comes from results.py, GO.json from `go test -json`. Exit code 1 if a
test failed, none ran, or an expected test of the list is missing.
"""

import json
import os
import sys
import xml.etree.ElementTree as ElementTree

# Numbers of the interop test list that this tier must have run and passed.
EXPECTED = [1, 2, 3, 4, 5, 6, 7, 8, 10, 18, 29, 30, 31, 37]


def read_results(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_go(path):
    outcomes = {"pass": "pass", "fail": "fail", "skip": "skip"}
    output, results = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                event = json.loads(line)
            except ValueError:
                output.setdefault("(build)", []).append(line)
                continue
            name = event.get("Test") or "(package)"
            if event["Action"] == "output":
                output.setdefault(name, []).append(event["Output"])
            elif event["Action"] == "build-output":
                output.setdefault("(package)", []).append(event["Output"])
            elif event["Action"] in outcomes and "/" not in name:
                if name == "(package)" and event["Action"] != "fail":
                    continue
                failed = event["Action"] == "fail"
                results.append({
                    "suite": "go", "name": name.replace("TestInterop_", "interop_"),
                    "outcome": outcomes[event["Action"]], "seconds": event.get("Elapsed", 0),
                    "detail": "".join(output.get(name, [])) if failed else ""})
    if not results:
        detail = "".join(sum(output.values(), []))
        results.append({"suite": "go", "name": "(build)", "outcome": "fail", "seconds": 0,
                        "detail": detail or "go test printed nothing"})
    return results


def missing(results):
    passed = {result["name"] for result in results if result["outcome"] == "pass"}
    lacking = ["interop_%02d" % number for number in EXPECTED
               if not any(name.startswith("interop_%02d_" % number) for name in passed)]
    # 37 counts once a client.
    lacking += ["interop_37_%s_tls" % client for client in ("hwpy", "otcx", "hwgo", "gtc")
                if "interop_37_%s_tls" % client not in passed]
    return lacking


def main():
    results = read_results(sys.argv[2])
    for path in sys.argv[3:]:
        results += read_go(path)
    for name in missing(results):
        results.append({"suite": "list", "name": name, "outcome": "fail", "seconds": 0,
                        "detail": "of the interop test list, not run or not passed"})
    root = ElementTree.Element("testsuites")
    for suite in sorted({result["suite"] for result in results}):
        cases = [result for result in results if result["suite"] == suite]
        node = ElementTree.SubElement(
            root, "testsuite", name="interop_" + suite, tests=str(len(cases)),
            failures=str(sum(case["outcome"] == "fail" for case in cases)),
            skipped=str(sum(case["outcome"] == "skip" for case in cases)))
        for case in cases:
            entry = ElementTree.SubElement(
                node, "testcase", classname="interop." + suite, name=case["name"],
                time=str(case["seconds"]))
            if case["outcome"] != "pass":
                kind = "failure" if case["outcome"] == "fail" else "skipped"
                detail = "".join(c for c in case["detail"] if c >= " " or c in "\n\t")
                ElementTree.SubElement(entry, kind, message=detail[:200]).text = detail
    ElementTree.ElementTree(root).write(sys.argv[1], encoding="utf-8", xml_declaration=True)
    failed = [result for result in results if result["outcome"] == "fail"]
    skipped = sum(result["outcome"] == "skip" for result in results)
    for result in failed:
        print("FAILED %s %s\n%s" % (result["suite"], result["name"], result["detail"]))
    print("interop: %d passed, %d failed, %d skipped" % (
        len(results) - len(failed) - skipped, len(failed), skipped))
    sys.exit(1 if failed else 0)


main()
