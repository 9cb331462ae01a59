"""A simulated cloud, a simulated cluster and otc-host, fresh for each test."""
import json
import os
import subprocess
import uuid

import pytest

from otctest.api import Api
from otctest.host import Host
from otctest.procs import wait_for
from otctest.sims import KubeSim, OtcSim

BUILD = os.environ["OTC_BUILD"]
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"


class World:
    """The two simulators, and hosts between them."""

    def __init__(self, folder):
        self.folder = str(folder)
        os.makedirs(self.folder, exist_ok=True)
        self.sim = OtcSim(BUILD, self.folder)
        self.kube = KubeSim(BUILD, self.folder)
        self.hosts = []

    def start(self):
        self.sim.start()
        self.kube.start()
        self.api = Api(self.kube.url, self.kube.ca_file)
        return self

    def stop(self):
        for host in self.hosts:
            if host.process and host.process.running():
                host.process.kill()
        self.kube.stop()
        self.sim.stop()

    def host(self, name="host"):
        host = Host(BUILD, self.folder, self.kube.kubeconfig, self.sim, name)
        self.hosts.append(host)
        return host

    # --- nodes ---------------------------------------------------------------
    def add_node(self, name=None, tainted=True, ready=None, provider_id=None, labels=None):
        name = name or f"node-{uuid.uuid4().hex[:8]}"
        spec = {"taints": [{"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"}]
                } if tainted else {}
        if provider_id:
            spec["providerID"] = provider_id
        self.api.post("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node",
                                        "metadata": {"name": name, "labels": labels or {}},
                                        "spec": spec})
        if ready is not None:
            self.set_ready(name, ready)
        return name

    def set_ready(self, name, ready):
        self.api.strategic(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [
            {"type": "Ready", "status": "True" if ready else "False", "reason": "Test"}]}})

    def node(self, name):
        return self.api.node(name)

    def nodes(self):
        return {n["metadata"]["name"]: n for n in self.api.get("/api/v1/nodes")["items"]}

    def initialised(self, name):
        node = self.node(name)
        taints = [t["key"] for t in node["spec"].get("taints", [])]
        return UNINITIALIZED not in taints and node["spec"].get("providerID")

    def wait_initialised(self, name, host, timeout=30):
        wait_for(f"{name} to be initialised", lambda: self.initialised(name), timeout,
                 processes=[host.process])

    # --- what the cluster saw --------------------------------------------------
    def kube_calls(self):
        return self.kube.control.lines("calls")

    def kube_writes(self):
        return [c for c in self.kube_calls() if c["verb"] in ("create", "update", "patch", "delete")
                and c["userAgent"].startswith("otc-host/")]


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    try:
        yield world.start()
    finally:
        world.stop()


def run_host(*args):
    return subprocess.run([os.path.join(BUILD, "otc-host"), *args], capture_output=True, text=True,
                          timeout=60, check=False)


def plugins_json(*args):
    sanitized = ["--allow-debug-plugins"] if os.environ.get("OTC_SANITIZED") else []
    result = run_host("plugins", "-o", "json", *sanitized, *args)
    assert result.returncode == 0, result.stderr
    return {p["id"]: p for p in json.loads(result.stdout)["plugins"]}
