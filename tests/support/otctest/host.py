"""otc-host as a child process, with its files in one folder."""
import atexit
import functools
import json
import os
import shutil
import ssl
import stat
import tempfile
import urllib.error
import urllib.request

from . import procs
from .cluster import free_port

# Deletion guard, election and loops at a pace that tests can wait for.
FAST = {
    "node-monitor-period": "200ms",
    "node-status-update-frequency": "1s",
    "node-deletion-proofs": "2",
    "node-deletion-proof-window": "400ms",
    "node-deletion-min-age": "0",
    "leader-elect": "false",
}


def safe_folder(wanted):
    """`wanted`, or a new folder, if somebody else may write on the way to it.

    The host refuses plugins from there, and /tmp is such a place: whoever may write
    to a directory on the path may replace the plugin.
    """
    def safe(path):
        while True:
            info = os.stat(path)
            if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or info.st_uid not in (
                    0, os.geteuid()):
                return False
            if path == "/":
                return True
            path = os.path.dirname(path)

    if safe(os.path.realpath(wanted)):
        return wanted
    for base in (os.path.join(os.path.expanduser("~"), ".cache"), "/run", "/var/lib"):
        os.makedirs(base, exist_ok=True)
        if os.access(base, os.W_OK) and safe(os.path.realpath(base)):
            folder = tempfile.mkdtemp(prefix="otc-plugins-", dir=base)
            os.chmod(folder, 0o755)
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            return folder
    raise RuntimeError(f"no folder for plugins that only this user can write to, and {wanted} "
                       "is not one either")


@functools.lru_cache(maxsize=None)
def plugin_folder(built):
    """The folder of built plugins, or a copy of it in a safe place."""
    folder = safe_folder(built)
    if folder != built:
        for name in os.listdir(built):
            if name.endswith(".so"):
                shutil.copy(os.path.join(built, name), folder)
    return folder


class Host:
    """start() brings it up and waits for its port; stop() ends it with SIGTERM."""

    def __init__(self, build, folder, kubeconfig, sim, name="host"):
        self.build = build
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        self.name = name
        self.kubeconfig = kubeconfig
        self.sim = sim
        self.flags = dict(FAST)
        self.plugin_dir = plugin_folder(os.path.join(build, "plugins"))
        self.host_yaml = "role: controllers\nplugins:\n- id: node\n  required: true\n"
        self.cloud_conf = sim.cloud_conf() if sim else ""
        self.process = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        # Replaced as a whole, as a kubelet replaces a mounted Secret.
        temporary = self.path(name + ".new")
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o600)
        os.replace(temporary, self.path(name))
        return self.path(name)

    def argv(self):
        self.port = free_port()
        flags = {
            "config": self.write("host.yaml", self.host_yaml),
            "cloud-config": self.write("cloud.conf", self.cloud_conf),
            "plugin-dir": self.plugin_dir,
            "bind-address": "127.0.0.1",
            "secure-port": str(self.port),
            "logging-format": "json",
            "v": "4",
            "termination-message-path": self.write("termination", ""),
        }
        if os.environ.get("OTC_SANITIZED"):
            flags["allow-debug-plugins"] = "true"  # their manifests say build=asan or tsan
        if self.kubeconfig:
            flags["kubeconfig"] = self.kubeconfig
        flags.update(self.flags)
        return [os.path.join(self.build, "otc-host")] + [
            f"--{key}={value}" for key, value in flags.items() if value is not None]

    def spawn(self):
        self.process = procs.Process(self.name, self.argv(), self.path("log"))
        return self

    def start(self, timeout=20):
        self.spawn()
        procs.wait_for("otc-host to be ready", lambda: self.get("/readyz")[0] == 200, timeout, 0.05,
                       [self.process])
        return self

    def stop(self, timeout=15):
        return self.process.stop(timeout) if self.process else None

    def kill(self):
        self.process.kill()

    def get(self, path, token=None):
        """(status, body) of its HTTPS port; the certificate is self-signed."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}")
        if token:
            request.add_header("Authorization", "Bearer " + token)
        try:
            with urllib.request.urlopen(request, timeout=5, context=context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name, token=None, **labels):
        """Sum of a metric's series that have these labels; 0 if there is none."""
        total = 0.0
        for line in self.get("/metrics", token)[1].splitlines():
            if line.startswith(name + "{") or line.startswith(name + " "):
                if all(f'{k}="{v}"' in line for k, v in labels.items()):
                    total += float(line.rsplit(" ", 1)[1])
        return total

    def log_entries(self):
        entries = []
        for line in self.process.log().splitlines():
            try:
                entries.append(json.loads(line))
            except ValueError:
                entries.append({"msg": line})
        return entries

    def termination(self):
        with open(self.path("termination"), encoding="utf-8") as file:
            return file.read()
