"""Runs the tests of a module and writes them as JSON lines for junit.py."""

import json
import os
import sys
import time
import traceback
import unittest


class Recorder(unittest.TestResult):
    def __init__(self, suite, file):
        super().__init__()
        self.suite = suite
        self.file = file
        self.began = 0.0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def record(self, test, outcome, detail=""):
        name = getattr(test, "_testMethodName", str(test))
        name = name.removeprefix("test_")
        entry = {"suite": self.suite, "name": name, "outcome": outcome, "detail": detail,
                 "seconds": round(time.monotonic() - self.began, 3)}
        self.file.write(json.dumps(entry) + "\n")
        self.file.flush()
        print("%-6s %s %s (%.1f s)" % (outcome, self.suite, name, entry["seconds"]), flush=True)
        if detail:
            print(detail, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test, "pass")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.record(test, "fail", "".join(traceback.format_exception(*err)))

    def addError(self, test, err):
        super().addError(test, err)
        self.record(test, "fail", "".join(traceback.format_exception(*err)))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, "skip", reason)


def main(suite, module):
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[module])
    with open(os.environ["RESULTS"], "a", encoding="utf-8") as file:
        result = Recorder(suite, file)
        tests.run(result)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
