"""One real API server for the whole run; a simulated cloud and a host per test."""
import os
import uuid

import pytest

from otctest.cluster import RealCluster
from otctest.host import Host
from otctest.procs import wait_for
from otctest.sims import OtcSim

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ["OTC_BUILD"]
UNINITIALIZED = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true",
                 "effect": "NoSchedule"}


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    cluster = RealCluster(os.environ["OTC_KUBE"], str(tmp_path_factory.mktemp("cluster")))
    try:
        cluster.start()
        cluster.apply(os.path.join(ROOT, "docs/guides/manifests/rbac.yaml"))
        cluster.host_kubeconfig = cluster.service_account_kubeconfig("kube-system", "otc-host")
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def sim(tmp_path):
    sim = OtcSim(BUILD, str(tmp_path))
    try:
        yield sim.start()
    finally:
        sim.stop()


@pytest.fixture
def make_host(cluster, sim, tmp_path):
    """A function that makes hosts; they are stopped after the test."""
    hosts = []

    def make(name="host"):
        host = Host(BUILD, str(tmp_path), cluster.host_kubeconfig, sim, name)
        hosts.append(host)
        return host

    yield make
    for host in hosts:
        if host.process and host.process.running():
            host.stop()


@pytest.fixture
def host(make_host):
    return make_host()


class Nodes:
    """Makes Node objects as a kubelet would, and removes what is left of them."""

    def __init__(self, api):
        self.api = api
        self.names = []

    def name(self, stem="node"):
        return f"{stem}-{uuid.uuid4().hex[:8]}"

    def create(self, name=None, tainted=True, ready=None, addresses=None, **fields):
        """`fields`: provider_id, labels, annotations, taints."""
        name = name or self.name()
        taints = list(fields.get("taints", []))
        if tainted:
            taints.append(dict(UNINITIALIZED))
        spec = {"taints": taints} if taints else {}
        if fields.get("provider_id"):
            spec["providerID"] = fields["provider_id"]
        self.names.append(name)
        # The API server's admission may add a not-ready taint; it is taken away so
        # that tests see their own taints only.
        self.api.post("/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": fields.get("labels", {}),
                         "annotations": fields.get("annotations", {})},
            "spec": spec})
        if addresses is not None:
            self.api.merge(f"/api/v1/nodes/{name}/status", {"status": {"addresses": addresses}})
        if ready is not None:
            self.set_ready(name, ready)
        return name

    def set_ready(self, name, ready):
        status = {True: "True", False: "False", None: "Unknown"}[ready]
        self.api.strategic(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [
            {"type": "Ready", "status": status, "reason": "Test", "message": "set by the test"}]}})

    def get(self, name):
        return self.api.node(name)

    def taint_keys(self, name):
        return [t["key"] for t in self.get(name)["spec"].get("taints", [])]

    def initialised(self, name, timeout=20, processes=()):
        return wait_for(
            f"node {name} to be initialised",
            lambda: UNINITIALIZED["key"] not in self.taint_keys(name) and self.get(name), timeout,
            processes=processes)

    def gone(self, name, timeout=20):
        wait_for(f"node {name} to be deleted", lambda: self.get(name) is None, timeout)

    def remove_all(self):
        for name in self.names:
            if self.get(name):
                self.api.delete(f"/api/v1/nodes/{name}")


@pytest.fixture
def nodes(cluster):
    nodes = Nodes(cluster.admin)
    yield nodes
    nodes.remove_all()
