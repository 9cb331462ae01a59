"""Leader election on a real API server: scenarios E.."""
import re
import time

from otctest.procs import wait_for

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager"
MICRO_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")


def elect(host, **flags):
    """Election on, at a pace of 3 s / 2 s / 0.4 s unless told otherwise."""
    host.flags.update({"leader-elect": "true", "leader-elect-lease-duration": "6s",
                       "leader-elect-renew-deadline": "4s", "leader-elect-retry-period": "400ms"})
    host.flags.update({k.replace("_", "-"): v for k, v in flags.items()})
    return host


def drop_lease(cluster):
    if cluster.admin.try_get(LEASE):
        cluster.admin.delete(LEASE)


def holder(cluster):
    lease = cluster.admin.try_get(LEASE)
    return (lease or {}).get("spec", {}).get("holderIdentity") or ""


def test_E01_E02_E17_the_lease_is_made_and_named(cluster, sim, host, nodes):
    drop_lease(cluster)
    name = nodes.name()
    sim.add_server(name=name)
    nodes.create(name)
    elect(host, leader_elect_lease_duration="15s", leader_elect_renew_deadline="10s",
          leader_elect_retry_period="2s").start()
    nodes.initialised(name)
    create = [e for e in cluster.audit("otc-host") if e["verb"] == "create"
              and e["objectRef"]["resource"] == "leases"][-1]
    spec = create["requestObject"]["spec"]
    assert spec["leaseDurationSeconds"] == 15 and spec.get("leaseTransitions", 0) == 0
    assert spec["acquireTime"] == spec["renewTime"]
    assert MICRO_TIME.match(spec["renewTime"])
    # Controllers start afterwards: no write to the node before the lease.
    first_write = [e for e in cluster.audit("otc-host") if e["verb"] == "patch"
                   and e["objectRef"].get("name") == name][0]
    assert first_write["requestReceivedTimestamp"] > create["requestReceivedTimestamp"]
    events = wait_for("event LeaderElection", lambda: [
        e for e in cluster.admin.events("cloud-controller-manager", "kube-system")
        if e["reason"] == "LeaderElection"])
    assert "became leader" in events[-1]["message"]
    assert events[-1]["source"]["component"] == "cloud-controller-manager"


def test_E05_a_fresh_foreign_lease_is_waited_for(cluster, sim, host, nodes):
    drop_lease(cluster)
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() - 3600))
    cluster.admin.post(LEASE.rsplit("/", 1)[0], {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "cloud-controller-manager", "namespace": "kube-system"},
        "spec": {"holderIdentity": "somebody-else", "leaseDurationSeconds": 3, "acquireTime": now,
                 "renewTime": now, "leaseTransitions": 7}})
    started = time.monotonic()
    elect(host).spawn()
    wait_for("the take-over", lambda: holder(cluster) not in ("", "somebody-else"), 30,
             processes=[host.process])
    # Its own duration as seen by us, however old its times are (E06, E07, E09).
    assert time.monotonic() - started >= 3
    assert cluster.admin.get(LEASE)["spec"]["leaseTransitions"] == 8


def test_E08_a_lease_without_a_holder_is_taken_at_once(cluster, sim, host, nodes):
    drop_lease(cluster)
    cluster.admin.post(LEASE.rsplit("/", 1)[0], {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "cloud-controller-manager", "namespace": "kube-system"},
        "spec": {"holderIdentity": "", "leaseDurationSeconds": 600, "leaseTransitions": 1}})
    elect(host).spawn()
    wait_for("the take-over", lambda: holder(cluster), 10, processes=[host.process])


def test_E13_after_a_kill_the_other_one_leads_and_never_both(cluster, sim, make_host, nodes):
    drop_lease(cluster)
    first = elect(make_host("first")).start()
    wait_for("a leader", lambda: holder(cluster))
    leader = holder(cluster)
    second = elect(make_host("second")).start()
    first.kill()
    wait_for("the other leader", lambda: holder(cluster) not in ("", leader), 30,
             processes=[second.process])
    # Each change of holder in the Lease's history comes after the old one's lease ran out.
    updates = [e for e in cluster.audit("otc-host") if e["verb"] in ("create", "update")
               and e["objectRef"]["resource"] == "leases"
               and e["responseStatus"]["code"] in (200, 201)]
    holders = [e["requestObject"]["spec"]["holderIdentity"] for e in updates]
    first_of_new = len(holders) - 1 - holders[::-1].index(leader) + 1
    assert leader not in holders[first_of_new:]
    name = nodes.name()
    sim.add_server(name=name)
    nodes.create(name)
    nodes.initialised(name)


def test_E14_P10_a_clean_stop_hands_the_lease_over(cluster, sim, make_host, nodes):
    drop_lease(cluster)
    first = elect(make_host("first"), leader_elect_lease_duration="60s",
                  leader_elect_renew_deadline="40s").start()
    wait_for("a leader", lambda: holder(cluster))
    leader = holder(cluster)
    elect(make_host("second"), leader_elect_lease_duration="60s",
          leader_elect_renew_deadline="40s").start()
    assert first.stop() == 0
    # Far less than the 60 s that a lost lease would cost.
    wait_for("the other leader", lambda: holder(cluster) not in ("", leader), 10)


def test_E10_a_lost_lease_ends_the_process(cluster, sim, host, nodes):
    drop_lease(cluster)
    elect(host).start()
    wait_for("a leader", lambda: holder(cluster))
    # Somebody takes the Lease away: every renewal now conflicts and loses.
    cluster.admin.merge(LEASE, {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 600}})
    assert host.process.wait(30) == 1
    assert "LeaseTaken" in host.termination() and "thief" in host.termination()


def test_E20_a_frozen_leader_writes_nothing_when_it_wakes(cluster, sim, make_host, nodes):
    import signal
    drop_lease(cluster)
    first = elect(make_host("first")).start()
    wait_for("a leader", lambda: holder(cluster))
    leader = holder(cluster)
    first.process.signal(signal.SIGSTOP)
    second = elect(make_host("second")).start()
    wait_for("the other leader", lambda: holder(cluster) not in ("", leader), 30)
    name = nodes.name()
    sim.add_server(name=name)
    second.process.signal(signal.SIGSTOP)  # so that only the woken one could write
    nodes.create(name)
    first.process.signal(signal.SIGCONT)
    assert first.process.wait(20) == 1
    assert "node.cloudprovider.kubernetes.io/uninitialized" in nodes.taint_keys(name)
    second.process.signal(signal.SIGCONT)
    second.kill()
