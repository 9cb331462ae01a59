"""Starts otc-sim for one test and drives it through its control API.

Only the standard library: both virtual environments use it.
"""

import json
import os
import subprocess
import tempfile
import unittest
import urllib.request

ACCESS_KEY = "AKSIM000000000000001"
SECRET_KEY = "SkSim0123456789abcdefghijklmnopqrstuvwx1"
PROJECT_ID = "0123456789abcdef0123456789abcdef"
DOMAIN_NAME = "OTC00000000001000000001"
USER_NAME = "sim-user"
USER_PASSWORD = "sim-password"


class Simulator:
    """A child process; stop() ends it by its own pid."""

    def __init__(self, name, *arguments):
        logs = os.environ["INTEROP_LOGS"]
        self.log = os.path.join(logs, name + ".calls.jsonl")
        if os.path.exists(self.log):
            os.remove(self.log)
        self.process = subprocess.Popen(
            [os.environ["OTC_SIM"], "--die-with-parent", "--call-log", self.log, *arguments],
            stdout=subprocess.PIPE,
        )
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("otc-sim did not start: exit code %s" % self.process.wait(10))
        self.urls = json.loads(line)["urls"]

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()

    def control(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.urls["control"] + "/_sim/" + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read().decode()

    def calls(self, operation=None):
        suffix = "" if operation is None else "?operation=" + operation
        return [json.loads(line) for line in self.control("GET", "calls" + suffix).splitlines()]

    def add_servers(self, *names, **members):
        ids = []
        for name in names:
            answer = self.control("POST", "servers", dict(members, name=name))
            ids += json.loads(answer)["ids"]
        return ids

    def add_project(self, project_id, name):
        self.control("POST", "load", {"projects": [{"id": project_id, "name": name}]})


class SimulatorTest(unittest.TestCase):
    """Each test starts its own simulator, with a throw-away HOME."""

    def setUp(self):
        # Clients write below HOME and read configuration there.
        self._home = tempfile.TemporaryDirectory()
        os.environ["HOME"] = self._home.name
        for name in [n for n in os.environ if n.startswith(("OS_", "HUAWEICLOUD_"))]:
            del os.environ[name]
        self.sim = None

    def start(self, *arguments):
        self.sim = Simulator(self._testMethodName, *arguments)
        return self.sim

    def tearDown(self):
        if self.sim is not None:
            self.sim.stop()
        self._home.cleanup()
