"""Formats that outlive a version: what is documented is what the program does."""
import os
import re
import subprocess

from conftest import BUILD, run_host
from otctest.procs import wait_for

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORMATS = os.path.join(ROOT, "docs/reference/formats.md")
FLAGS = os.path.join(ROOT, "docs/reference/flags.md")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def documented_metrics():
    """name → (kind, set of labels) from the table of formats.md."""
    rows = re.findall(r"^\| `([a-z_]+)` \| (counter|gauge|histogram) \| ([a-z_, ]*|–) \|",
                      read(FORMATS), re.M)
    return {name: (kind, set(labels.replace("–", "").replace(",", " ").split()))
            for name, kind, labels in rows}


def exposed_metrics(text):
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    found = {}
    for name, kind in kinds.items():
        labels = set()
        for series in re.findall(rf"^{name}(?:_bucket|_sum|_count)?{{([^}}]*)}}", text, re.M):
            labels |= set(re.findall(r"(\w+)=", series)) - {"le"}
        found[name] = (kind, labels)
    return found


def test_flags_md_is_what_help_prints():
    helped = run_host("--help").stdout
    block = read(FLAGS).split("```text\n")[1].split("```")[0]
    assert block == helped, ("docs/reference/flags.md is not what --help prints; "
                             "run tests/tools/flags_doc.py")


def test_P12_every_metric_is_documented_with_kind_and_labels(world):
    world.sim.add_server(name="a")
    world.add_node("a")
    gone = world.sim.add_server(name="b")
    world.add_node("b", tainted=False, ready=False, provider_id=f"otc:///{gone}")
    world.sim.delete_server(gone)
    host = world.host()
    host.flags.update({"authorization-always-allow-paths": "/*", "leader-elect": "true"})
    host.start()
    world.wait_initialised("a", host)
    wait_for("b to go", lambda: world.node("b") is None)
    documented = documented_metrics()
    for name, (kind, labels) in exposed_metrics(host.get("/metrics")[1]).items():
        assert name in documented, f"{name} is not in docs/reference/formats.md"
        assert documented[name][0] == kind, name
        assert labels <= documented[name][1], f"{name}: {labels} against {documented[name][1]}"


def test_every_metric_of_the_source_is_documented():
    sources = subprocess.run(["git", "ls-files", "host/*.cc", "host/*.h"], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout.split()
    names = set()
    for source in sources:
        if not source.endswith("_test.cc") and "/test" not in source:
            names |= set(re.findall(r'"((?:otc_(?:host|cloud|plugin)|workqueue|leader_election|'
                                    r'rest_client|node_controller)_[a-z_]+[a-z])"',
                                    read(os.path.join(ROOT, source))))
    assert names - set(documented_metrics()) == set()


def test_P12_the_names_of_the_framework_are_kept():
    """ccm-contract: names that dashboards of cloud controller managers use."""
    documented = documented_metrics()
    for name in ("node_controller_cloud_provider_taint_removal_delay_seconds",
                 "node_controller_initial_node_sync_delay_seconds", "leader_election_master_status",
                 "leader_election_slowpath_total", "running_managed_controllers",
                 "rest_client_requests_total", "rest_client_request_duration_seconds",
                 "workqueue_depth", "workqueue_adds_total", "workqueue_queue_duration_seconds",
                 "workqueue_work_duration_seconds", "workqueue_retries_total"):
        assert name in documented, name


def test_constants_are_those_of_formats_md(world):
    """providerID, labels, taints, Lease, event sources as formats.md lists them."""
    text = read(FORMATS)
    server = world.sim.add_server(name="n", zone="eu-de-01")
    world.add_node("n")
    host = world.host()
    host.flags["leader-elect"] = "true"
    host.start()
    world.wait_initialised("n", host)
    node = world.node("n")
    assert node["spec"]["providerID"] == f"otc:///{server}" and "`otc:///<server id>`" in text
    for label in node["metadata"]["labels"]:
        assert f"`{label}`" in text, label
    lease = world.api.get(
        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager")
    assert f"`kube-system/{lease['metadata']['name']}`" in text
    event = wait_for("Synced", lambda: [e for e in world.api.events("n")
                                        if e["reason"] == "Synced"])[0]
    assert f"`{event['source']['component']}`" in text and "`Synced`" in text
