"""otc-sim and kube-sim as child processes, driven through their control ports."""
import http.client
import json
import os
import urllib.parse

from . import procs

ACCESS_KEY = "AKSIM000000000000001"
SECRET_KEY = "SkSim0123456789abcdefghijklmnopqrstuvwx1"


class Control:
    """The control port of a simulator."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.host, self.port = parts.hostname, parts.port

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            data = json.dumps(body) if body is not None else None
            connection.request(method, "/_sim/" + path, data)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 300:
            raise RuntimeError(f"{method} /_sim/{path}: HTTP {answer.status}: {text}")
        return text

    def json(self, method, path, body=None):
        return json.loads(self.call(method, path, body) or "{}")

    def lines(self, path):
        return [json.loads(line) for line in self.call("GET", path).splitlines() if line.strip()]


class OtcSim:
    """The cloud. start() brings it up, stop() ends it."""

    def __init__(self, build, folder, extra_args=()):
        self.program = os.path.join(build, "otc-sim")
        self.log_path = os.path.join(folder, "otc-sim.log")
        self.extra_args = list(extra_args)
        self.process = None

    def start(self):
        self.process, ports = procs.start_json("otc-sim", [self.program, *self.extra_args],
                                               self.log_path)
        self.urls = ports["urls"]
        self.control = Control(self.urls["control"])
        return self

    def stop(self):
        if self.process:
            self.process.stop()

    def cloud_conf(self, access_key=ACCESS_KEY, secret_key=SECRET_KEY, extra=""):
        endpoints = "".join(f"{name}={self.urls[name]}\n" for name in ("iam", "ecs", "evs", "vpc",
                                                                      "elb"))
        return (f"[Global]\naccess-key={access_key}\nsecret-key={secret_key}\nregion=eu-de\n"
                f"{extra}\n[Endpoints]\n{endpoints}")

    # --- servers ------------------------------------------------------------
    @staticmethod
    def _fields(flavor=None, zone=None, status=None, ip=None, ipv6=None, **more):
        fields = dict(more)
        if flavor:
            fields["flavor"] = flavor
        if zone:
            fields["availability_zone"] = zone
        if status:
            fields["status"] = status
        if ip or ipv6:
            fields["ips"] = [address for address in (ip, ipv6) if address]
        return fields

    def add_server(self, name, floating_ip=None, **fields):
        """Its id."""
        seed = self._fields(**fields)
        seed["name"] = name
        if floating_ip:
            seed["public_ip"] = floating_ip
        return self.control.json("POST", "servers", seed)["ids"][0]

    def patch_server(self, server, **fields):
        self.control.call("PATCH", f"servers/{server}", self._fields(**fields))

    def delete_server(self, server):
        self.control.call("DELETE", f"servers/{server}")

    # --- calls and faults ---------------------------------------------------
    def calls(self):
        return self.control.lines("calls")

    def count(self, service, substring=""):
        """How many calls a service has seen, optionally with this in their target."""
        return sum(1 for call in self.calls()
                   if call["service"] == service and substring in call["target"])

    def fault(self, **rule):
        return self.control.json("POST", "faults", rule)["ids"][0]

    def fired(self, rule):
        return sum(f["fired"] for f in self.control.json("GET", "faults")
                   if f["id"] == rule)

    def clear_faults(self):
        self.control.call("DELETE", "faults")


class KubeSim:
    """The API server fake. start() brings it up, stop() ends it."""

    def __init__(self, build, folder, extra_args=()):
        self.program = os.path.join(build, "kube-sim")
        self.log_path = os.path.join(folder, "kube-sim.log")
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        self.ca_file = os.path.join(folder, "kube-sim-ca.crt")
        self.extra_args = list(extra_args)
        self.process = None

    def start(self):
        self.process, self.ports = procs.start_json(
            "kube-sim", [self.program, f"--kubeconfig-out={self.kubeconfig}",
                         f"--ca-out={self.ca_file}", "--no-not-ready-taint", *self.extra_args],
            self.log_path)
        self.url = self.ports["url"]
        self.control = Control(self.ports["controlUrl"])
        return self

    def stop(self):
        if self.process:
            self.process.stop()
