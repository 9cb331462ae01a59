#!/usr/bin/env python3
"""make bench: counts and sizes of a whole run, and ratios within it.

Everything is measured on otc-host as it is shipped, between otc-sim and kube-sim,
TLS on both sides. Counts are asserted; times are only written down. Results go to
bench-results/ (latest.json, latest.md) with machine and command.
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from otctest.api import Api
from otctest.host import Host
from otctest.mirror import mirror_nodes
from otctest.procs import wait_for
from otctest.sims import KubeSim, OtcSim

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TAINT = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true",
         "effect": "NoSchedule"}
SWEEPS = 12  # a steady hour at one sweep each 5 minutes


def memory(pid, field):
    """kB of VmHWM, VmRSS or RssAnon."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    raise RuntimeError(field)


class World:
    def __init__(self, build, nodes=0):
        self.build = build
        self.folder = tempfile.mkdtemp(prefix="otc-bench-")
        tls = os.path.join(self.folder, "tls")
        self.sim = OtcSim(build, self.folder, ["--tls-dir", tls]).start()
        self.kube = KubeSim(build, self.folder, [f"--nodes={nodes}"] if nodes else []).start()
        self.api = Api(self.kube.url, self.kube.ca_file)
        self.ca = os.path.join(tls, "ca.pem")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kube.stop()
        self.sim.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def host(self, **flags):
        host = Host(self.build, self.folder, self.kube.kubeconfig, self.sim)
        host.cloud_conf = self.sim.cloud_conf(extra=f"ca-file={self.ca}\n")
        host.flags = {"leader-elect": "false", "v": "0", "logging-format": "json",
                      "authorization-always-allow-paths": "/*",
                      **{k.replace("_", "-"): v for k, v in flags.items()}}
        return host

    def ecs_calls(self):
        return sum(n for name, n in self.sim.control.json("GET", "counters").items()
                   if name.startswith("ecs"))

    def writes(self):
        return [c for c in self.kube.control.lines("calls")
                if c["verb"] in ("create", "update", "patch", "delete")
                and c["userAgent"].startswith("otc-host/")]


def cold_start_and_hour(build, count):
    with World(build, count) as world:
        assert mirror_nodes(world.api, world.sim) == count
        world.kube.control.call("DELETE", "calls")
        before = world.ecs_calls()
        host = world.host(node_status_update_frequency="3s")
        started = time.monotonic()
        host.start(60)
        ready = time.monotonic() - started
        wait_for("the first sweep", lambda: world.ecs_calls() - before >= 5, 60)
        time.sleep(1.0)  # the sweep's end shows in no counter
        first = world.ecs_calls() - before
        peak = memory(host.process.pid, "VmHWM")
        rss, calls = [], []
        for _ in range(SWEEPS):
            seen = world.ecs_calls()
            wait_for("the next sweep", lambda s=seen: world.ecs_calls() > s, 30)
            time.sleep(1.5)
            calls.append(world.ecs_calls() - seen)
            rss.append(memory(host.process.pid, "VmRSS"))
        writes = [c for c in world.writes() if c["resource"] == "nodes"]
        result = {
            "nodes": count, "start_to_ready_ms": round(ready * 1000),
            "kube_writes": len(writes), "ecs_calls_cold_start": first,
            "ecs_calls_per_sweep_max": max(calls), "vm_hwm_kib": peak,
            "vm_hwm_after_the_hour_kib": memory(host.process.pid, "VmHWM"),
            "rss_kib_by_sweep": rss,
            "rss_growth_last_half_kib": rss[-1] - rss[SWEEPS // 2],
            "rss_anon_kib": memory(host.process.pid, "RssAnon"),
        }
        host.stop()
        return result, {
            "0 writes when nothing changed": not writes,
            "<= 30 ECS calls at a cold start": first <= 30,
            "<= 30 ECS calls a sweep": max(calls) <= 30,
            "VmHWM of the whole process <= 40 MiB": result["vm_hwm_after_the_hour_kib"] <= 40 * 1024,
            "RSS does not grow": abs(result["rss_growth_last_half_kib"]) <= 256,
        }


def many_new_nodes(build, count):
    with World(build) as world:
        names = [f"new-{i:04d}" for i in range(count)]
        world.sim.control.call("POST", "servers", {"name": "new-%04d", "count": count})
        world.sim.control.call("PATCH", "options", {"latency": {"all": {"ms": 300}}})
        world.sim.control.call("PUT", "rate_limits", {"rate_limits": [
            {"service": "ecs", "rate": 20, "burst": 20}]})
        host = world.host(kube_api_qps="200", kube_api_burst="400", concurrent_node_syncs="8")
        host.start(60)
        before = world.ecs_calls()
        started = time.monotonic()
        for name in names:
            world.api.post("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node",
                                             "metadata": {"name": name}, "spec": {"taints": [TAINT]}})

        def left():
            return sum(1 for n in world.api.get("/api/v1/nodes")["items"]
                       if any(t["key"] == TAINT["key"] for t in n["spec"].get("taints", [])))

        wait_for("all nodes to be initialised", lambda: left() == 0, 180, 0.5, [host.process])
        result = {"nodes": count, "latency_ms": 300, "rate_limit_per_s": 20,
                  "seconds_until_all_untainted": round(time.monotonic() - started, 1),
                  "ecs_calls": world.ecs_calls() - before}
        host.stop()
        return result, {"all untainted with < 50 ECS calls": result["ecs_calls"] < 50}


OUTAGES = {
    "time-outs": {"kind": "timeout", "ms": 3000},
    "404 of the gateway": {"kind": "status", "status": 404, "body": json.dumps(
        {"error_msg": "The API does not exist", "error_code": "APIGW.0101", "request_id": "x"})},
    "empty lists": {"kind": "empty_list"},
    "401": {"kind": "status", "status": 401, "body": json.dumps(
        {"error_msg": "Incorrect IAM authentication information", "error_code": "APIGW.0301",
         "request_id": "x"})},
}


def outages(build, count, seconds):
    """Each kind of outage with every node NotReady and the guard off."""
    results, checks = {}, {}
    for name, rule in OUTAGES.items():
        with World(build, count) as world:
            mirror_nodes(world.api, world.sim)
            world.sim.fault(service="ecs", count=0, **rule)
            for node in world.api.get("/api/v1/nodes")["items"]:
                world.api.strategic(f"/api/v1/nodes/{node['metadata']['name']}/status", {
                    "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}})
            host = world.host(node_deletion_proofs="1", node_deletion_proof_window="0",
                              node_deletion_min_age="0", node_deletion_stop_percent="100",
                              node_monitor_period="50ms", node_status_update_frequency="1s",
                              node_recheck_max="0")
            host.spawn()
            time.sleep(seconds)
            assert host.process.running(), host.process.log()[-2000:]
            deleted = count - len(world.api.get("/api/v1/nodes")["items"])
            results[name] = {"seconds": seconds, "passes_wanted": seconds * 20, "deleted": deleted,
                             "ecs_calls": world.ecs_calls()}
            checks[f"0 nodes deleted: {name}"] = deleted == 0
            host.kill()
    return results, checks


def idle(build):
    """RSS with and without the plugin, sizes of what is shipped, times to ready."""
    result = {}
    for name, yaml in (("with_plugin", None), ("without_plugin", "role: controllers\nplugins: []\n")):
        with World(build) as world:
            times = []
            for _ in range(5):
                host = world.host()
                if yaml:
                    host.host_yaml = yaml
                started = time.monotonic()
                host.start(30)
                times.append(round((time.monotonic() - started) * 1000))
                time.sleep(0.5)
                rss, anonymous = (memory(host.process.pid, f) for f in ("VmRSS", "RssAnon"))
                host.stop()
            result[name] = {"start_to_ready_ms": times,
                            "start_to_ready_ms_median": statistics.median(times),
                            "rss_kib": rss, "rss_anon_kib": anonymous}
    for program in ("otc-host", "plugins/node.so"):
        stripped = tempfile.NamedTemporaryFile()
        subprocess.run(["strip", "-o", stripped.name, os.path.join(build, program)], check=True)
        result[f"stripped_bytes {program}"] = os.path.getsize(stripped.name)
    return result, {}


def report(results, checks, arguments):
    machine = {"cpu": next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                            if line.startswith("model name")), "unknown"),
               "cores": os.cpu_count(), "kernel": platform.release(), "system": "Debian 12"}
    sizes = {k: v for k, v in vars(arguments).items() if k not in ("build", "only")}
    data = {"command": "make bench", "arguments": sizes, "machine": machine,
            "results": results, "checks": checks}
    folder = os.path.join(ROOT, "bench-results")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "latest.json"), "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, sort_keys=True)
        file.write("\n")
    with open(os.path.join(folder, "latest.md"), "w", encoding="utf-8") as file:
        file.write("# Last benchmark\n\nMade by `make bench`; raw data in latest.json. Counts and "
                   "sizes are asserted, times are only written down.\n\n")
        file.write(f"Machine: {machine['cpu']}, {machine['cores']} cores, kernel "
                   f"{machine['kernel']}.\n\n| Check | Result |\n|---|---|\n")
        for name, good in checks.items():
            file.write(f"| {name} | {'ok' if good else 'FAILED'} |\n")
        for name, value in results.items():
            file.write(f"\n## {name}\n\n```json\n{json.dumps(value, indent=1)}\n```\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--new-nodes", type=int, default=500)
    parser.add_argument("--outage-seconds", type=int, default=20)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    parts = {
        "idle": lambda: idle(arguments.build),
        "cold start and a steady hour": lambda: cold_start_and_hour(arguments.build,
                                                                    arguments.nodes),
        "many new nodes": lambda: many_new_nodes(arguments.build, arguments.new_nodes),
        "outages": lambda: outages(arguments.build, 50, arguments.outage_seconds),
    }
    results, checks = {}, {}
    for name, part in parts.items():
        if arguments.only and arguments.only not in name:
            continue
        print(f"{name} …", flush=True)
        results[name], part_checks = part()
        checks.update(part_checks)
        print(json.dumps(results[name]), flush=True)
        for check, good in part_checks.items():
            print(f"  {'ok    ' if good else 'FAILED'} {check}", flush=True)
    if not arguments.only:
        report(results, checks, arguments)
    failed = sum(not good for good in checks.values())
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
