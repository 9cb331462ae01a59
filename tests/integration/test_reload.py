"""P-I1: new credentials are used without a restart, bad ones are not."""
import signal

from otctest.procs import wait_for

OTHER_KEY, OTHER_SECRET = "AKROTATED00000000001", "SkRotated0123456789abcdefghijklmnopqrstuv"


def rotate(world):
    world.sim.control.call("POST", "load", {"access_keys": [
        {"access": OTHER_KEY, "secret": OTHER_SECRET}]})


def keys_used(world, since):
    return {c.get("access_key") for c in world.sim.calls()[since:]} - {None, ""}


def test_P_I1_a_rotated_secret_is_taken_up_and_a_bad_one_is_not(world):
    rotate(world)
    host = world.host()
    host.flags["authorization-always-allow-paths"] = "/*"
    host.start()
    world.sim.add_server(name="before")
    world.add_node("before")
    world.wait_initialised("before", host)

    host.write("cloud.conf", world.sim.cloud_conf("AKNONSENSE0000000001", OTHER_SECRET))
    wait_for("the refusal", lambda: host.metric(
        "otc_host_config_reload_total", result="refused") == 1)
    since = len(world.sim.calls())
    world.sim.add_server(name="between")
    world.add_node("between")
    world.wait_initialised("between", host)
    assert OTHER_KEY not in keys_used(world, since)  # the old key stays in force

    host.write("cloud.conf", world.sim.cloud_conf(OTHER_KEY, OTHER_SECRET))
    wait_for("the reload", lambda: host.metric(
        "otc_host_config_reload_total", result="applied") == 1, 15)
    since = len(world.sim.calls())
    world.sim.add_server(name="after")
    world.add_node("after")
    world.wait_initialised("after", host)
    assert keys_used(world, since) == {OTHER_KEY}


def test_SIGHUP_reloads_at_once_and_settings_reach_the_plugin(world):
    host = world.host()
    host.flags["authorization-always-allow-paths"] = "/*"
    host.start()
    host.write("host.yaml", "role: controllers\nplugins:\n- id: node\n  required: true\n"
                            "  settings: {nonsense: true}\n")
    host.process.signal(signal.SIGHUP)
    wait_for("the plugin's refusal", lambda: "nonsense" in host.process.log())
    assert host.process.running()
