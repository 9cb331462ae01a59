"""SIGKILL before and after every cloud and API call of initialisation and deletion.

The list of kill points comes from the call logs of an undisturbed run. Each run
is killed at one of them, started again, and must end as the undisturbed one did.
"""
import pytest

from conftest import World, UNINITIALIZED
from otctest.procs import wait_for

FOREIGN = "openstack:///4f4b3dfa-eb70-47cf-a60a-998a53bd598a"


class Story:
    """One node to initialise or to delete, and nodes that nobody may touch."""

    def __init__(self, folder, deletion):
        self.world = World(folder).start()
        self.deletion = deletion
        sim, world = self.world.sim, self.world
        self.server = sim.add_server(name="subject", ip="192.168.0.50")
        bystander = sim.add_server(name="bystander")
        world.add_node("bystander", tainted=False, ready=True, provider_id=f"otc:///{bystander}")
        world.add_node("foreign", tainted=False, ready=False, provider_id=FOREIGN)
        if deletion:
            world.add_node("subject", tainted=False, ready=False,
                           provider_id=f"otc:///{self.server}")
            sim.delete_server(self.server)
        else:
            world.add_node("subject")
        sim.control.call("DELETE", "calls")
        world.kube.control.call("DELETE", "calls")

    def host(self, name="host"):
        host = self.world.host(name)
        # One controller at a time, so that the order of calls is the same each time.
        host.flags["controllers"] = "cloud-node-lifecycle" if self.deletion else "cloud-node"
        host.flags["node-status-update-frequency"] = "1h"
        return host

    def finished(self):
        node = self.world.node("subject")
        if self.deletion:
            return node is None
        return (node["spec"].get("providerID") == f"otc:///{self.server}"
                and not [t for t in node["spec"].get("taints", []) if t["key"] == UNINITIALIZED]
                and {"type": "InternalIP", "address": "192.168.0.50"}
                in node["status"].get("addresses", []))

    def check_end(self):
        nodes = self.world.nodes()
        expected = {"bystander", "foreign"} | (set() if self.deletion else {"subject"})
        assert set(nodes) == expected
        assert nodes["foreign"]["spec"]["providerID"] == FOREIGN
        touched = [c for c in self.world.kube_writes() if c["resource"] == "nodes"
                   and c["name"] in ("foreign",)]
        assert touched == []


def undisturbed_calls(folder, deletion):
    """(simulator, which of its calls) of a run that nobody disturbs."""
    story = Story(folder, deletion)
    try:
        host = story.host().start()
        wait_for("the end of the story", story.finished, processes=[host.process])
        cloud = [c for c in story.world.sim.calls() if c["service"] in ("iam", "ecs")]
        kube = [c for c in story.world.kube_calls()
                if c["userAgent"].startswith("otc-host/") and c["verb"] != "watch"
                and c["resource"] in ("nodes", "events")]
        return len(cloud), len(kube)
    finally:
        story.world.stop()


def kill_at(folder, deletion, where, number, after):
    """True if the call was reached (a shorter run may not have it)."""
    story = Story(folder, deletion)
    world = story.world
    try:
        if where == "cloud":
            rule = world.sim.fault(kind="lost_reply" if after else "timeout", nth=number, count=1,
                                   ms=60_000)

            def reached():
                return world.sim.fired(rule) > 0
        else:
            rule = world.kube.control.json("POST", "faults", {
                "match": {"target": "^/api/v1/(nodes/|namespaces/default/events)",
                          "userAgent": "otc-host/"},
                "skip": number - 1, "times": 1,
                "action": {"hang": True, "when": "after" if after else "before"}})["ids"][0]

            def reached():
                return any(f["id"] == rule and f["hits"] > 0
                           for f in world.kube.control.json("GET", "faults"))
        host = story.host().spawn()
        hit = False
        try:
            wait_for("the call or the end", lambda: reached() or story.finished(), 30,
                     processes=[host.process])
            hit = reached()
        finally:
            host.kill()
        world.sim.clear_faults()
        world.kube.control.call("DELETE", "faults")
        again = story.host("again").start()
        wait_for("the end of the story", story.finished, 30, processes=[again.process])
        story.check_end()
        return hit
    finally:
        world.stop()


@pytest.mark.parametrize("deletion", [False, True], ids=["initialisation", "deletion"])
def test_P_D1_killed_at_every_call_the_next_run_converges(tmp_path, deletion):
    cloud, kube = undisturbed_calls(tmp_path / "plain", deletion)
    assert cloud >= 2 and kube >= 2
    hits = 0
    for where, count in (("cloud", cloud), ("kube", kube)):
        for number in range(1, count + 1):
            for after in (False, True):
                folder = tmp_path / f"{where}-{number}-{'after' if after else 'before'}"
                hits += kill_at(folder, deletion, where, number, after)
    # The points are really reached: all but those of a run that ends earlier.
    assert hits >= cloud + kube
