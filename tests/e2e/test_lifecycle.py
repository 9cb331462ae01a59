"""The node lifecycle controller on a real API server: scenarios L.."""
import json

from otctest.procs import wait_for
from otctest.proxy import Proxy

SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown"


def passes(host, sim, count=3):
    """Waits until the sweeps of the cloud have gone on, so that a pass was made."""
    start = sim.count("ecs")
    wait_for("more calls to the cloud", lambda: sim.count("ecs") >= start + count)


def test_L01_a_ready_node_costs_no_call_and_is_never_deleted(cluster, sim, host, nodes):
    name = nodes.name()
    server = sim.add_server(name=name)
    nodes.create(name, tainted=False, ready=True, provider_id=f"otc:///{server}")
    sim.delete_server(server)
    host.flags["controllers"] = "cloud-node-lifecycle"
    # A second, NotReady node shows that passes are made.
    other = nodes.name()
    nodes.create(other, tainted=False, ready=False,
                 provider_id=f"otc:///{sim.add_server(name=other)}")
    host.start()
    passes(host, sim)
    assert sim.count("ecs", f"/cloudservers/{server}") == 0
    assert nodes.get(name)


def test_L02_a_server_that_is_provably_gone_loses_its_node(cluster, sim, host, nodes):
    name = nodes.name()
    server = sim.add_server(name=name)
    nodes.create(name, tainted=False, ready=False, provider_id=f"otc:///{server}")
    host.start()
    passes(host, sim)
    assert nodes.get(name)
    sim.delete_server(server)
    nodes.gone(name)
    event = wait_for("event DeletingNode", lambda: [
        e for e in cluster.admin.events(name) if e["reason"] == "DeletingNode"])[0]
    assert event["type"] == "Normal"
    assert event["source"]["component"] == "cloud-node-lifecycle-controller"
    # At least as many proofs as the guard asks for.
    assert sim.count("ecs", f"/cloudservers/{server}") >= 2


def test_L02_stock_behaviour_deletes_at_the_first_proof(sim, host, nodes):
    name = nodes.name()
    server = sim.add_server(name=name)
    sim.delete_server(server)
    nodes.create(name, tainted=False, ready=None, provider_id=f"otc:///{server}")
    host.flags.update({"controllers": "cloud-node-lifecycle", "node-deletion-proofs": "1", "node-deletion-proof-window": "0",
                       "node-deletion-stop-percent": "100"})
    host.start()
    nodes.gone(name)
    assert sim.count("ecs", f"/cloudservers/{server}") == 1


def test_L05_L06_a_shut_down_server_is_tainted_until_it_is_ready(cluster, sim, host, nodes):
    name = nodes.name()
    server = sim.add_server(name=name)
    nodes.create(name, tainted=False, ready=False, provider_id=f"otc:///{server}",
                 taints=[{"key": "example.com/own", "effect": "NoSchedule"}])
    sim.patch_server(server, status="SHUTOFF")
    host.start()
    wait_for("the taint", lambda: SHUTDOWN in nodes.taint_keys(name))
    taint = [t for t in nodes.get(name)["spec"]["taints"] if t["key"] == SHUTDOWN][0]
    assert taint["effect"] == "NoSchedule" and "value" not in taint
    version = nodes.get(name)["metadata"]["resourceVersion"]
    passes(host, sim)
    assert nodes.get(name)["metadata"]["resourceVersion"] == version
    sim.patch_server(server, status="ACTIVE")
    nodes.set_ready(name, True)
    wait_for("the taint to go", lambda: SHUTDOWN not in nodes.taint_keys(name))
    assert "example.com/own" in nodes.taint_keys(name)


def test_L16_nodes_of_others_are_never_deleted(sim, host, nodes):
    foreign = nodes.create(tainted=False, ready=False, provider_id="openstack:///4f4b3dfa")
    without = nodes.create(tainted=False, ready=False)
    gone = nodes.name()
    server = sim.add_server(name=gone)
    nodes.create(gone, tainted=False, ready=False, provider_id=f"otc:///{server}")
    host.start()
    sim.delete_server(server)
    nodes.gone(gone)
    assert nodes.get(foreign) and nodes.get(without)


def test_P_D2_mass_disappearance_stops_all_deletions(cluster, sim, host, nodes):
    names = [nodes.name() for _ in range(6)]
    servers = [sim.add_server(name=name) for name in names]
    for name, server in zip(names, servers):
        nodes.create(name, tainted=False, ready=False, provider_id=f"otc:///{server}")
    host.start()
    passes(host, sim)
    for server in servers[:4]:
        sim.delete_server(server)
    wait_for("the alarm", lambda: [
        e for name in names for e in cluster.admin.events(name)
        if e["reason"] == "DeletionGuardTripped"])
    passes(host, sim, 6)
    assert all(nodes.get(name) for name in names)


def test_L09_a_foreign_taint_between_read_and_write_is_kept(cluster, sim, host, nodes):
    name = nodes.name()
    server = sim.add_server(name=name)
    nodes.create(name, tainted=False, ready=False, provider_id=f"otc:///{server}")
    sim.patch_server(server, status="SHUTOFF")
    interfered = []

    def before(method, path):
        if method == "PATCH" and path == f"/api/v1/nodes/{name}" and not interfered:
            interfered.append(path)
            cluster.admin.merge(path, {"spec": {"taints": nodes.get(name)["spec"].get(
                "taints", []) + [{"key": "example.com/late", "effect": "NoSchedule"}]}})

    proxy = Proxy(cluster.client_for(None), cluster.make_cert("proxy", "/CN=proxy", "IP:127.0.0.1"), before)
    try:
        with open(cluster.host_kubeconfig, encoding="utf-8") as file:
            config = json.load(file)
        config["clusters"][0]["cluster"]["server"] = proxy.url
        host.flags["controllers"] = "cloud-node-lifecycle"
        host.kubeconfig = host.write("proxied.kubeconfig", json.dumps(config))
        host.start()
        wait_for("both taints", lambda: {SHUTDOWN, "example.com/late"} <= set(
            nodes.taint_keys(name)))
    finally:
        host.stop()
        proxy.stop()
    assert interfered
    patches = [e for e in cluster.audit("otc-host") if e["verb"] == "patch"
               and e["objectRef"].get("name") == name]
    assert [e["responseStatus"]["code"] for e in patches] == [409, 200]
    reads = [e["requestURI"] for e in cluster.audit("otc-host") if e["verb"] == "get"
             and e["objectRef"].get("name") == name]
    assert "resourceVersion=0" in reads[0] and "resourceVersion=0" not in reads[-1]
