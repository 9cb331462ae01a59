"""Process scenarios that need faults or counts of the simulators."""
import json
import os

from conftest import World
from otctest.mirror import mirror_nodes
from otctest.procs import wait_for

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager"


def lease_calls(world):
    return [c for c in world.kube_calls() if "/leases" in c["target"]]


def renewals(world):
    return [c for c in lease_calls(world) if c["verb"] == "update" and c["status"] == 200]


def test_P13_configz_shows_what_is_in_force(world):
    host = world.host()
    host.flags.update({"authorization-always-allow-paths": "/*", "cluster-name": "prod",
                       "node-monitor-period": "1m30s"})
    host.start()
    values = json.loads(host.get("/configz")[1])["otc-host"]
    assert values["cluster-name"] == "prod"
    assert values["node-monitor-period"] == "90s"
    assert values["leader-elect"] == "false"
    assert values["node-status-update-frequency"] == "1s"  # as the tests set it
    assert values["concurrent-node-syncs"] == "1"  # a default


def test_E18_without_election_there_is_no_lease_and_work_starts_at_once(world):
    world.sim.add_server(name="a")
    world.add_node("a")
    host = world.host()
    host.flags["leader-elect"] = "false"
    host.start()
    world.wait_initialised("a", host)
    assert lease_calls(world) == []


def test_E12_renewals_have_a_connection_and_a_bucket_of_their_own(world):
    host = world.host()
    host.flags.update({"leader-elect": "true", "leader-elect-lease-duration": "6s",
                       "leader-elect-renew-deadline": "4s", "leader-elect-retry-period": "300ms",
                       "kube-api-qps": "1", "kube-api-burst": "1"})
    host.start()
    wait_for("the first renewals", lambda: len(renewals(world)) >= 2)
    # Everything else hangs or is throttled from now on.
    world.kube.control.json("POST", "faults", [
        {"match": {"verb": "patch", "userAgent": "otc-host/"}, "times": 0,
         "action": {"hang": True}},
        {"match": {"target": "^/api/v1/", "userAgent": "otc-host/"}, "times": 0,
         "action": {"status": 429, "retryAfter": 30}}])
    for name in ("a", "b", "c"):
        world.sim.add_server(name=name)
        world.add_node(name)
    wait_for("a call that hangs", lambda: any(
        c["fault"] and "/leases" not in c["target"] for c in world.kube_calls()))
    before = len(renewals(world))
    wait_for("20 more renewals", lambda: len(renewals(world)) >= before + 20)
    assert host.process.running()
    assert [c for c in lease_calls(world) if c["status"] not in (200, 201, 404)] == []


def test_P_L1_P_L3_five_thousand_nodes_fit_into_64_MiB(tmp_path):
    world = World(tmp_path)
    world.kube.extra_args.append("--nodes=5000")
    try:
        world.start()
        assert mirror_nodes(world.api, world.sim) == 5000
        host = world.host()
        host.start(60)
        wait_for("two sweeps", lambda: world.sim.count("ecs", "/cloudservers/detail") >= 50, 120,
                 0.5, [host.process])
        assert [c for c in world.kube_writes() if c["resource"] == "nodes"] == []
        with open(f"/proc/{host.process.pid}/status", encoding="utf-8") as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        limit = 64 * 1024 if not os.environ.get("OTC_SANITIZED") else 1024 * 1024
        assert peak <= limit, f"{peak} KiB"
    finally:
        world.stop()
