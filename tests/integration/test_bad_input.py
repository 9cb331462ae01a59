"""Bad input of every kind gets an error that names it, and hurts nothing else."""
import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from conftest import BUILD, plugins_json, run_host
from otctest.host import safe_folder
from otctest.procs import wait_for
from otctest.sims import SECRET_KEY

BAD = os.path.join(BUILD, "bad-plugins")


def ready_body(host):
    return host.get("/readyz")[1]


# --- cloud.conf ---------------------------------------------------------------
def test_missing_cloud_conf(tmp_path):
    result = run_host(f"--cloud-config={tmp_path}/none.conf")
    assert result.returncode == 2
    assert f"{tmp_path}/none.conf" in result.stderr


def test_SEED_21_garbled_cloud_conf_names_every_line_and_no_secret(tmp_path):
    conf = tmp_path / "cloud.conf"
    conf.write_text("[Global]\naccess-key AKX\nsecret-kye=TopSecretValue99\nregoin=eu-de\n"
                    "[LoadBalancr]\nsubnet-id=x\n")
    result = run_host(f"--cloud-config={conf}")
    assert result.returncode == 2
    for part in (":2:", ":3:", ":4:", ":5:", "secret-key", "region", "LoadBalancer"):
        assert part in result.stderr, result.stderr
    assert "TopSecretValue99" not in result.stderr


def test_wrong_secret(world):
    host = world.host()
    host.cloud_conf = world.sim.cloud_conf(secret_key="WrongSecret0123456789abcdefghijklmnopqrst")
    host.spawn()
    body = wait_for("the refusal", lambda: "CredentialsRefused" in ready_body(host)
                    and ready_body(host))
    assert "401" in body and "APIGW.0301" in body
    # A wrong key is not tried again and again: five failures lock it for everybody.
    calls = len(world.sim.calls())
    assert calls <= 2
    assert host.get("/healthz")[0] == 200  # liveness does not depend on the cloud


def test_wrong_project(world):
    host = world.host()
    host.cloud_conf = world.sim.cloud_conf(extra="project-name=eu-de_nowhere\n")
    host.spawn()
    body = wait_for("the refusal", lambda: "Project" in ready_body(host) and ready_body(host))
    assert "eu-de_nowhere" in body


def test_P_J5_unreachable_endpoint(world):
    host = world.host()
    host.cloud_conf = world.sim.cloud_conf().replace(world.sim.urls["iam"], "http://127.0.0.1:1")
    host.spawn()
    body = wait_for("the refusal", lambda: "CloudUnreachable" in ready_body(host)
                    and ready_body(host))
    assert "127.0.0.1:1" in body


def test_bad_ca(world, tmp_path):
    ca = tmp_path / "ca.crt"
    ca.write_text("this is no certificate\n")
    host = world.host()
    host.cloud_conf = world.sim.cloud_conf(extra=f"ca-file={ca}\n")
    host.spawn()
    assert host.process.wait(20) == 1
    assert str(ca) in host.termination()


def test_clock_an_hour_off_is_corrected_once(world):
    world.sim.control.call("PATCH", "clock", {"skew_ms": 3_600_000})
    server = world.sim.add_server(name="late")
    world.add_node("late")
    host = world.host()
    host.flags["authorization-always-allow-paths"] = "/*"
    host.start()
    world.wait_initialised("late", host)
    refused = [c for c in world.sim.calls() if c["status"] == 401]
    assert len(refused) == 1
    assert world.node("late")["spec"]["providerID"] == f"otc:///{server}"
    assert host.metric("otc_cloud_clock_corrections_total") == 1


# --- host.yaml and plugins ------------------------------------------------------
def test_unknown_host_yaml_key(world):
    host = world.host()
    host.host_yaml = "role: controllers\nplugins:\n- id: node\n  requierd: true\n"
    host.spawn()
    assert host.process.wait(20) == 2
    assert "host.yaml:4" in host.process.log() and "required" in host.process.log()


@pytest.fixture
def plugin_folder():
    """A function that fills a plugin directory. Not below /tmp: whoever may write
    to a directory on the path may replace the plugin, so that is refused."""
    folder = Path(tempfile.mkdtemp(prefix="plugins-", dir=safe_folder(BUILD)))
    folder.chmod(0o755)

    def fill(**files):
        return fill_folder(folder, files)

    yield fill
    shutil.rmtree(folder)


def fill_folder(folder, files):
    for name, source in files.items():
        target = folder / f"{name}.so"
        if isinstance(source, bytes):
            target.write_bytes(source)
        else:
            shutil.copy(source, target)
        target.chmod(0o644)
    return folder


def node_so():
    return os.path.join(BUILD, "plugins", "node.so")


def only(folder, name, tmp_path):
    config = tmp_path / "host.yaml"
    config.write_text(f"role: controllers\nplugins:\n- id: {name}\n")
    return plugins_json(f"--config={config}", f"--plugin-dir={folder}")[name]


def test_world_writable_plugin(plugin_folder, tmp_path):
    folder = plugin_folder(node=node_so())
    (folder / "node.so").chmod(0o666)
    plugin = only(folder, "node", tmp_path)
    assert plugin["state"] == "failed"
    assert "LOAD-2" in plugin["message"] and "node.so" in plugin["message"]


@pytest.mark.parametrize("content, word", [
    (b"#!/bin/sh\necho hello\n", "ELF"),
    (None, "ELF"),
])
def test_text_file_and_truncated_plugin(plugin_folder, tmp_path, content, word):
    if content is None:
        with open(node_so(), "rb") as file:
            content = file.read(3000)
    plugin = only(plugin_folder(node=content), "node", tmp_path)
    assert plugin["state"] == "failed" and "node.so" in plugin["message"]
    assert "LOAD-" in plugin["message"] and word in plugin["message"]


def test_a_plugin_that_crashes_or_hangs_while_probed_hurts_nothing(world, plugin_folder):
    """The bad ones fail with their reason; the node plugin works beside them."""
    crashing = [n for n in sorted(os.listdir(BAD))
                if n.startswith(("crash-", "exit-", "hang-constructor"))]
    assert len(crashing) >= 4, sorted(os.listdir(BAD))
    folder = plugin_folder(node=node_so())
    entries = ""
    for file in crashing:
        shutil.copy(os.path.join(BAD, file), folder / file)
        (folder / file).chmod(0o644)
        entries += f"- id: {file[:-3]}\n"
    world.sim.add_server(name="fine")
    world.add_node("fine")
    host = world.host()
    host.plugin_dir = str(folder)
    host.host_yaml = f"role: controllers\nplugins:\n{entries}- id: node\n  required: true\n"
    host.flags["authorization-always-allow-paths"] = "/healthz,/readyz,/livez,/plugins"
    host.start(timeout=60 + 12 * len(crashing))
    world.wait_initialised("fine", host)
    states = {p["id"]: p for p in json.loads(host.get("/plugins")[1])["plugins"]}
    assert states["node"]["state"] == "started"
    for file in crashing:
        assert states[file[:-3]]["state"] == "failed", states[file[:-3]]
        assert states[file[:-3]]["message"]


def test_unnamed_files_are_listed_as_not_configured(plugin_folder, tmp_path):
    folder = plugin_folder(node=node_so(), stranger=b"x")
    config = tmp_path / "host.yaml"
    config.write_text("role: controllers\nplugins:\n- id: node\n")
    plugins = plugins_json(f"--config={config}", f"--plugin-dir={folder}")
    assert plugins["stranger"]["state"] == "not configured"
    assert plugins["node"]["state"] == "verified"


def test_a_required_plugin_that_cannot_run_ends_the_process_with_3(world, plugin_folder):
    host = world.host()
    host.plugin_dir = str(plugin_folder(node=b"not a plugin"))
    host.spawn()
    assert host.process.wait(60) == 3
    assert "node" in host.termination() and "LOAD-" in host.termination()


# --- nodes and servers ------------------------------------------------------------
def test_L16_P_D3_a_foreign_node_is_left_alone(world):
    world.add_node("foreign", tainted=False, ready=False, provider_id="aws:///eu/i-0123")
    world.sim.add_server(name="ours")
    world.add_node("ours")
    host = world.host().start()
    world.wait_initialised("ours", host)
    passes = len(world.sim.calls())
    world.add_node("more")
    wait_for("more calls", lambda: len(world.sim.calls()) > passes)
    assert world.node("foreign")
    assert [c for c in world.kube_writes() if c["name"] == "foreign"] == []


def test_P_B6_two_servers_with_one_name_are_not_guessed(world):
    first = world.sim.add_server(name="twin")
    second = world.sim.add_server(name="twin")
    world.add_node("twin")
    host = world.host().start()
    event = wait_for("an event that says why", lambda: [
        e for e in world.api.events("twin") if first in e["message"] and second in e["message"]])[0]
    assert event["type"] == "Warning"
    assert not world.initialised("twin")
    world.sim.delete_server(second)
    world.wait_initialised("twin", host)
    assert world.node("twin")["spec"]["providerID"] == f"otc:///{first}"


def test_an_AZ_with_a_blank_makes_no_label(world):
    world.sim.add_server(name="odd", zone="eu de 01")
    world.add_node("odd")
    host = world.host().start()
    world.wait_initialised("odd", host)
    labels = world.node("odd")["metadata"]["labels"]
    assert "topology.kubernetes.io/zone" not in labels
    assert labels["topology.kubernetes.io/region"] == "eu-de"


@pytest.mark.parametrize("edit", [
    {"remove": ["servers.*.flavor", "server.flavor", "servers.*.metadata", "server.metadata"]},
    {"remove": ["servers.*.OS-EXT-AZ:availability_zone", "server.OS-EXT-AZ:availability_zone"]},
    {"set": {"servers.*.brand_new": "x", "server.brand_new": "x", "news": "y"}},
])
def test_P15_answers_with_missing_or_unknown_fields(world, edit):
    world.sim.add_server(name="lean", ip="192.168.0.77")
    world.add_node("lean")
    world.sim.fault(kind="edit_reply", service="ecs", count=0, **edit)
    host = world.host().start()
    world.wait_initialised("lean", host)
    wait_for("the address", lambda: {"type": "InternalIP", "address": "192.168.0.77"}
             in world.node("lean")["status"].get("addresses", []))


# --- secrets -----------------------------------------------------------------------
def test_SEED_50_no_secret_in_log_event_metric_or_error(world):
    world.sim.add_server(name="quiet")
    world.add_node("quiet")
    world.sim.fault(kind="status", status=500, service="ecs", nth=2, count=2)
    world.sim.fault(kind="status", status=403, service="ecs", nth=6, count=1)
    host = world.host()
    host.flags["authorization-always-allow-paths"] = "/*"
    host.start()
    world.wait_initialised("quiet", host, 60)
    texts = [host.process.log()]
    texts += [host.get(path)[1] for path in ("/metrics", "/plugins", "/configz", "/readyz?verbose")]
    host.write("cloud.conf", world.sim.cloud_conf(secret_key="Other" + SECRET_KEY[5:]) + "bad\n")
    host.process.signal(1)  # SIGHUP: refused, with an error
    wait_for("the refusal", lambda: "refused" in host.process.log())
    host.stop()
    texts += [host.process.log(), host.termination(), json.dumps(world.api.get("/api/v1/events")),
              json.dumps(world.kube_calls())]
    for text in texts:
        assert SECRET_KEY not in text and "Other" + SECRET_KEY[5:] not in text
