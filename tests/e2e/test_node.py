"""The node controller on a real API server: scenarios N.."""
import json
import os

from conftest import BUILD
from otctest.host import plugin_folder
from otctest.procs import wait_for

ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
REGION_LABELS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


def labels_of(node):
    return node["metadata"]["labels"]


def addresses_of(node):
    return [(a["type"], a["address"]) for a in node["status"].get("addresses", [])]


def test_N01_SEED_01_SEED_02_a_tainted_node_is_initialised(cluster, sim, host, nodes):
    name = nodes.name()
    server = sim.add_server(name=name, flavor="s3.xlarge.4", zone="eu-de-02", ip="192.168.0.11",
                            floating_ip="80.158.1.11")
    host.start()
    nodes.create(name)
    node = nodes.initialised(name, processes=[host.process])
    assert node["spec"]["providerID"] == f"otc:///{server}"
    for label in ZONE_LABELS:
        assert labels_of(node)[label] == "eu-de-02"
    for label in REGION_LABELS:
        assert labels_of(node)[label] == "eu-de"
    for label in TYPE_LABELS:
        assert labels_of(node)[label] == "s3.xlarge.4"
    wanted = [("InternalIP", "192.168.0.11"), ("ExternalIP", "80.158.1.11"), ("Hostname", name)]
    wait_for("the addresses", lambda: addresses_of(nodes.get(name)) == wanted)
    event = wait_for("event Synced", lambda: [
        e for e in cluster.admin.events(name) if e["reason"] == "Synced"])[0]
    assert event["type"] == "Normal"
    assert event["source"]["component"] == "cloud-node-controller"
    assert event["metadata"]["namespace"] == "default"
    # One write to the main resource, and none of them a PUT.
    writes = [e for e in cluster.audit("otc-host")
              if e["objectRef"].get("name") == name and e["verb"] not in ("get", "list", "watch")]
    main = [e for e in writes if e["objectRef"]["resource"] == "nodes"
            and "subresource" not in e["objectRef"]]
    assert [e["verb"] for e in main] == ["patch"]
    assert "resourceVersion" in json.dumps(main[0]["requestObject"])


def test_N02_every_uninitialized_taint_goes_and_the_others_stay(sim, host, nodes):
    name = nodes.name()
    sim.add_server(name=name)
    others = [{"key": "example.com/a", "value": "1", "effect": "NoSchedule"},
              {"key": "example.com/b", "effect": "NoExecute"}]
    nodes.create(name, taints=[others[0], {
        "key": "node.cloudprovider.kubernetes.io/uninitialized", "effect": "NoExecute"}, others[1]])
    host.start()
    node = nodes.initialised(name)
    kept = [t for t in node["spec"]["taints"] if t["key"].startswith("example.com/")]
    assert [t["key"] for t in kept] == ["example.com/a", "example.com/b"]
    assert kept[0]["value"] == "1"


def test_N03_a_provider_id_that_is_set_stays(sim, host, nodes):
    name = nodes.name()
    server = sim.add_server(name=name)
    nodes.create(name, provider_id=f"otc://{server}")
    host.start()
    assert nodes.initialised(name)["spec"]["providerID"] == f"otc://{server}"


def test_N09_wrong_zone_labels_are_overwritten(sim, host, nodes):
    name = nodes.name()
    sim.add_server(name=name, zone="eu-de-03")
    nodes.create(name, labels={label: "elsewhere" for label in ZONE_LABELS})
    host.start()
    node = nodes.initialised(name)
    assert [labels_of(node)[label] for label in ZONE_LABELS] == ["eu-de-03", "eu-de-03"]


def test_N13_fields_that_the_host_does_not_know_survive(cluster, sim, host, nodes):
    name = nodes.name()
    sim.add_server(name=name)
    nodes.create(name)
    cluster.admin.merge(f"/api/v1/nodes/{name}", {
        "metadata": {"annotations": {"example.com/note": "keep", "x": "y"}},
        "spec": {"podCIDR": "10.244.7.0/24", "podCIDRs": ["10.244.7.0/24"]}})
    cluster.admin.merge(f"/api/v1/nodes/{name}/status", {"status": {
        "capacity": {"cpu": "4", "example.com/dongle": "3"},
        "nodeInfo": {"machineID": "m", "systemUUID": "s", "bootID": "b", "kernelVersion": "k",
                     "osImage": "o", "containerRuntimeVersion": "c", "kubeletVersion": "v1.36.0",
                     "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"},
        "images": [{"names": ["example.com/image:1"], "sizeBytes": 12}]}})
    before = nodes.get(name)
    host.start()
    node = nodes.initialised(name)
    wait_for("the addresses", lambda: addresses_of(nodes.get(name)))
    node = nodes.get(name)
    assert node["metadata"]["annotations"]["example.com/note"] == "keep"
    assert node["spec"]["podCIDR"] == "10.244.7.0/24"
    for field in ("capacity", "images", "nodeInfo"):
        assert node["status"][field] == before["status"][field]


def test_N15_N16_the_beta_labels_are_the_source_of_truth(cluster, sim, host, nodes):
    # Foreign nodes, so that the periodic sync does not write labels of its own.
    only_beta = nodes.create(tainted=False, provider_id="example://1",
                             labels={ZONE_LABELS[1]: "a", REGION_LABELS[1]: "r", TYPE_LABELS[1]: "t"})
    differing = nodes.create(tainted=False, provider_id="example://2",
                             labels={ZONE_LABELS[1]: "a", ZONE_LABELS[0]: "b"})
    only_ga = nodes.create(tainted=False, provider_id="example://3", labels={ZONE_LABELS[0]: "z"})
    host.start()
    wait_for("the labels", lambda: labels_of(nodes.get(only_beta)).get(ZONE_LABELS[0]) == "a"
             and labels_of(nodes.get(differing))[ZONE_LABELS[0]] == "a")
    node = nodes.get(only_beta)
    assert labels_of(node)[REGION_LABELS[0]] == "r" and labels_of(node)[TYPE_LABELS[0]] == "t"
    writes = [e for e in cluster.audit("otc-host") if e["objectRef"].get("name") == only_ga
              and e["verb"] in ("patch", "update", "delete")]
    assert writes == []


def test_N18_N20_N22_addresses_follow_the_cloud_in_order(cluster, sim, host, nodes):
    name = nodes.name()
    server = sim.add_server(name=name, ip="192.168.0.21", ipv6="fd00::21")
    host.start()
    nodes.create(name)
    nodes.initialised(name)
    dual = [("InternalIP", "192.168.0.21"), ("InternalIP", "fd00::21"), ("Hostname", name)]
    wait_for("both addresses", lambda: addresses_of(nodes.get(name)) == dual)
    version = nodes.get(name)["metadata"]["resourceVersion"]
    sweeps = sim.count("ecs")
    wait_for("three more sweeps", lambda: sim.count("ecs") >= sweeps + 3)
    assert nodes.get(name)["metadata"]["resourceVersion"] == version  # N20
    sim.patch_server(server, ip="192.168.0.99", ipv6="fd00::99")
    changed = [("InternalIP", "192.168.0.99"), ("InternalIP", "fd00::99"), ("Hostname", name)]
    wait_for("the new addresses", lambda: addresses_of(nodes.get(name)) == changed)


def test_N32_a_node_that_registers_again_is_initialised_again(cluster, sim, host, nodes):
    name = nodes.name()
    sim.add_server(name=name)
    host.start()
    nodes.create(name)
    nodes.initialised(name)
    cluster.admin.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": [
        {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true",
         "effect": "NoSchedule"}]}})
    nodes.initialised(name)
    # Q07: the second Synced is a count of 2 on the first event, not a new one.
    events = wait_for("the second Synced", lambda: [
        e for e in cluster.admin.events(name) if e["reason"] == "Synced" and e.get("count") == 2])
    assert len(events) == 1


def test_Q07_a_repeated_event_is_counted_and_a_lost_one_is_made_anew(cluster, sim, host, nodes):
    name = nodes.name()
    sim.add_server(name=name)
    host.start()
    nodes.create(name)
    nodes.initialised(name)

    def synced():
        return [e for e in cluster.admin.events(name) if e["reason"] == "Synced"]

    def again():
        cluster.admin.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": [
            {"key": "node.cloudprovider.kubernetes.io/uninitialized", "effect": "NoSchedule"}]}})
        nodes.initialised(name)

    wait_for("Synced", synced)
    again()
    wait_for("count 2", lambda: [e["count"] for e in synced()] == [2])
    cluster.admin.delete(f"/api/v1/namespaces/default/events/{synced()[0]['metadata']['name']}")
    again()
    wait_for("a new event", lambda: len(synced()) == 1)


def test_P_D10_a_resized_server_gets_new_labels(sim, host, nodes):
    name = nodes.name()
    server = sim.add_server(name=name, flavor="s3.xlarge.4")
    host.start()
    nodes.create(name)
    nodes.initialised(name)
    sim.patch_server(server, flavor="s3.2xlarge.4")
    wait_for("the new type", lambda: all(
        labels_of(nodes.get(name))[label] == "s3.2xlarge.4" for label in TYPE_LABELS))


def scripted(host, script):
    """Answers of a plugin that says what the test tells it to."""
    host.plugin_dir = plugin_folder(os.path.join(BUILD, "test-plugins"))
    host.host_yaml = ("role: controllers\nplugins:\n- id: scripted\n  required: true\n"
                      "  settings: " + json.dumps({"nodes": script}) + "\n")


def test_N11_N10_an_additional_label_never_overwrites(host, nodes):
    name = nodes.create(labels={"example.com/rack": "mine"})
    scripted(host, {name: {"providerID": "otc:///x", "labels": {
        "example.com/rack": "theirs", "example.com/row": "7", "x.k8s.io/c": "no"}}})
    host.start()
    labels = labels_of(nodes.initialised(name))
    assert labels["example.com/rack"] == "mine" and labels["example.com/row"] == "7"
    assert "x.k8s.io/c" not in labels


def test_N03_the_clouds_other_provider_id_does_not_win(host, nodes):
    name = nodes.create(provider_id="otc:///4f4b3dfa-eb70-47cf-a60a-998a53bd598a")
    scripted(host, {name: {"providerID": "otc:///a26887c6-c47b-4654-abb5-dfadf7d3f803"}})
    host.start()
    assert nodes.initialised(name)["spec"]["providerID"].endswith("998a53bd598a")
