#!/usr/bin/env python3
"""make demo: otc-host with the node plugin between two simulators.

Three nodes are initialised, one server is resized, one powered off, one deleted;
each step is printed when it has been seen. CHECK=1 ends then with exit code 0;
otherwise everything stays up for kubectl until Ctrl-C.
"""
import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

from otctest.api import Api
from otctest.host import Host
from otctest.procs import wait_for
from otctest.sims import KubeSim, OtcSim

UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown"
TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
SERVERS = {"worker-1": ("eu-de-01", "192.168.0.11"), "worker-2": ("eu-de-02", "192.168.0.12"),
           "worker-3": ("eu-de-03", "192.168.0.13")}


def say(text):
    print(text, flush=True)


class Demo:
    def __init__(self, build):
        self.folder = tempfile.mkdtemp(prefix="otc-demo-")
        self.sim = OtcSim(build, self.folder)
        self.kube = KubeSim(build, self.folder)
        self.host = None
        self.build = build

    def start(self):
        self.sim.start()
        self.kube.start()
        self.api = Api(self.kube.url, self.kube.ca_file)
        self.host = Host(self.build, self.folder, self.kube.kubeconfig, self.sim)
        self.host.flags.update({"leader-elect": "true", "node-deletion-proof-window": "2s",
                                "node-status-update-frequency": "500ms"})
        self.host.start()
        say(f"otc-sim (the cloud)      {self.sim.urls['ecs']}")
        say(f"kube-sim (the cluster)   {self.kube.url}")
        say(f"otc-host (leader, ready) https://127.0.0.1:{self.host.port}")

    def stop(self):
        for part in (self.host, self.kube, self.sim):
            if part:
                part.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- what a kubelet and a cloud would do ---------------------------------
    def register(self, name):
        self.api.post("/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "spec": {"taints": [{"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"}]}})
        self.ready(name, "True")

    def ready(self, name, status):
        self.api.strategic(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [
            {"type": "Ready", "status": status, "reason": "Demo"}]}})

    def taints(self, name):
        return [t["key"] for t in self.api.node(name)["spec"].get("taints", [])]

    def label(self, name, key):
        return self.api.node(name)["metadata"].get("labels", {}).get(key)

    def until(self, what, condition):
        wait_for(what, condition, 30, processes=[self.host.process])

    # --- the story ------------------------------------------------------------
    def run(self):
        servers = {}
        say("\n1. Three servers exist in the cloud; their nodes register, uninitialized:")
        for name, (zone, ip) in SERVERS.items():
            servers[name] = self.sim.add_server(name=name, flavor="s3.xlarge.4", zone=zone, ip=ip,
                                                floating_ip="auto" if name == "worker-1" else None)
            self.register(name)
        for name in SERVERS:
            self.until(f"{name} to be initialised", lambda n=name: UNINITIALIZED not in
                       self.taints(n) and self.api.node(n)["status"].get("addresses"))
            node = self.api.node(name)
            addresses = ", ".join(f"{a['type']} {a['address']}" for a in node["status"]["addresses"])
            say(f"   {name}: {node['spec']['providerID']}, {self.label(name, ZONE)}, "
                f"{self.label(name, TYPE)}, {addresses}; taint gone")

        say("\n2. worker-1 is resized in the cloud:")
        self.sim.patch_server(servers["worker-1"], flavor="s3.2xlarge.4")
        self.until("the new type", lambda: self.label("worker-1", TYPE) == "s3.2xlarge.4")
        say(f"   label {TYPE} is now {self.label('worker-1', TYPE)}")

        say("\n3. worker-2 is powered off; its kubelet falls silent:")
        self.sim.patch_server(servers["worker-2"], status="SHUTOFF")
        self.ready("worker-2", "Unknown")
        self.until("the shutdown taint", lambda: SHUTDOWN in self.taints("worker-2"))
        say(f"   taint {SHUTDOWN} is on it; the node stays")

        say("\n4. worker-3 is deleted in the cloud; its kubelet falls silent:")
        self.sim.delete_server(servers["worker-3"])
        self.ready("worker-3", "Unknown")
        self.until("the node to go", lambda: self.api.node("worker-3") is None)
        reasons = {e["reason"] for e in self.api.events("worker-3")}
        say("   node removed after repeated proofs of absence (the guard's window is 2 s here, "
            "60 s by default)")
        assert "DeletingNode" in reasons, reasons
        left = sorted(n["metadata"]["name"] for n in self.api.get("/api/v1/nodes")["items"])
        assert left == ["worker-1", "worker-2"], left
        say(f"   left: {', '.join(left)}")

    def show_how_to_look(self):
        say("\nLook around while it runs (Ctrl-C ends it and cleans up):")
        say(f"   export KUBECONFIG={self.kube.kubeconfig}")
        say("   kubectl get nodes -o wide")
        say("   kubectl describe node worker-2")
        say("   kubectl get events")
        say("   kubectl get leases -A")
        say(f"   curl -k https://127.0.0.1:{self.host.port}/healthz?verbose")
        say(f"   curl {self.sim.urls['control']}/_sim/counters")
        say(f"   less {self.host.process.log_path}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--check", action="store_true", help="verify and end")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    demo = Demo(arguments.build)
    started = time.monotonic()
    try:
        demo.start()
        demo.run()
        say(f"\nAll of it happened, in {time.monotonic() - started:.1f} s.")
        if not arguments.check:
            demo.show_how_to_look()
            while demo.host.process.running():
                time.sleep(0.5)
            say("otc-host ended:\n" + demo.host.process.log()[-2000:])
            return 1
        return 0
    except KeyboardInterrupt:
        say("\nended")
        return 0
    except AssertionError as error:
        say(f"\nFAILED: {error}")
        if demo.host and demo.host.process:
            say(demo.host.process.log()[-4000:])
        return 1
    finally:
        demo.stop()


if __name__ == "__main__":
    sys.exit(main())
