"""A real etcd and kube-apiserver on loopback, RBAC on, everything in one folder."""
import base64
import json
import os
import shutil
import socket
import subprocess

from . import procs
from .api import Api


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE)


class RealCluster:
    """Started by start(), ended by stop(); `binaries` is the folder of tools/build.sh."""

    def __init__(self, binaries, folder):
        self.binaries = binaries
        self.folder = folder
        self.processes = []
        self.url = None
        self.admin = None
        self.extra_apiserver_args = []

    # --- certificates -------------------------------------------------------
    def _path(self, name):
        return os.path.join(self.folder, name)

    def _make_ca(self):
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-keyout", self._path("ca.key"), "-out", self._path("ca.crt"), "-subj", "/CN=test-ca",
                 "-days", "2")
        _openssl("genrsa", "-out", self._path("sa.key"), "2048")
        _openssl("rsa", "-in", self._path("sa.key"), "-pubout", "-out", self._path("sa.pub"))

    def make_cert(self, name, subject, san=None):
        key, csr, crt = (self._path(f"{name}.{e}") for e in ("key", "csr", "crt"))
        _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                 key, "-out", csr, "-subj", subject)
        extension = self._path(f"{name}.ext")
        with open(extension, "w", encoding="utf-8") as file:
            file.write("basicConstraints=CA:FALSE\n")
            if san:
                file.write(f"subjectAltName={san}\n")
        _openssl("x509", "-req", "-in", csr, "-CA", self._path("ca.crt"), "-CAkey",
                 self._path("ca.key"), "-CAcreateserial", "-out", crt, "-days", "2", "-extfile",
                 extension)
        return crt, key

    # --- life ---------------------------------------------------------------
    def start(self):
        os.makedirs(self.folder, exist_ok=True)
        self._make_ca()
        server = self.make_cert("apiserver", "/CN=kube-apiserver",
                                "IP:127.0.0.1,IP:10.96.0.1,DNS:kubernetes,DNS:localhost")
        admin = self.make_cert("admin", "/O=system:masters/CN=admin")
        client, peer, self.port = free_port(), free_port(), free_port()
        self._start_etcd(client, peer)
        self._apiserver_argv = [
            os.path.join(self.binaries, "kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{client}", "--bind-address=127.0.0.1",
            f"--secure-port={self.port}", "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
            f"--tls-cert-file={server[0]}", f"--tls-private-key-file={server[1]}",
            f"--client-ca-file={self._path('ca.crt')}", "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._path('sa.pub')}",
            f"--service-account-signing-key-file={self._path('sa.key')}",
            f"--requestheader-client-ca-file={self._path('ca.crt')}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--audit-policy-file={self._audit_policy()}",
            f"--audit-log-path={self._path('audit.log')}", "--audit-log-mode=blocking",
            "--allow-privileged=true", *self.extra_apiserver_args]
        self.url = f"https://127.0.0.1:{self.port}"
        self.admin = Api(self.url, self._path("ca.crt"), cert=admin)
        self.start_apiserver()
        self._write_kubeconfig("admin.kubeconfig", cert=admin)
        return self

    def _start_etcd(self, client, peer):
        self.processes.append(procs.Process("etcd", [
            os.path.join(self.binaries, "etcd"), "--data-dir", self._path("etcd"),
            "--unsafe-no-fsync", "--listen-client-urls", f"http://127.0.0.1:{client}",
            "--advertise-client-urls", f"http://127.0.0.1:{client}",
            "--listen-peer-urls", f"http://127.0.0.1:{peer}",
            "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
            "--initial-cluster", f"default=http://127.0.0.1:{peer}"], self._path("etcd.log")))

    def start_apiserver(self):
        self.apiserver = procs.Process("kube-apiserver", self._apiserver_argv,
                                       self._path("apiserver.log"))
        procs.wait_for("the API server", self._ready, 60, 0.1, [self.apiserver])

    def _ready(self):
        return self.admin.raw("GET", "/readyz")[2] == "ok" and self.admin.try_get(
            "/api/v1/namespaces/kube-system")

    def _audit_policy(self):
        path = self._path("audit.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n"
                       "rules:\n- level: Request\n")
        return path

    def stop(self):
        if getattr(self, "apiserver", None):
            self.apiserver.kill()
        for process in reversed(self.processes):
            process.kill()

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- clients ------------------------------------------------------------
    def kubectl(self, *args):
        return subprocess.run(
            [os.path.join(self.binaries, "kubectl"), "--kubeconfig", self._path("admin.kubeconfig"),
             *args], check=True, capture_output=True, text=True).stdout

    def apply(self, manifest_path):
        return self.kubectl("apply", "-f", manifest_path)

    def service_account_kubeconfig(self, namespace, name, seconds=7200):
        """A kubeconfig with a token of this ServiceAccount, which must exist."""
        answer = self.admin.post(
            f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
             "spec": {"expirationSeconds": seconds}})
        return self._write_kubeconfig(f"{name}.kubeconfig", token=answer["status"]["token"])

    def client_for(self, token):
        return Api(self.url, self._path("ca.crt"), token=token)

    def _write_kubeconfig(self, name, token=None, cert=None):
        def data(path):
            with open(path, "rb") as file:
                return base64.b64encode(file.read()).decode()

        user = {"token": token} if token else {
            "client-certificate-data": data(cert[0]), "client-key-data": data(cert[1])}
        path = self._path(name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({
                "apiVersion": "v1", "kind": "Config", "current-context": "test",
                "clusters": [{"name": "test", "cluster": {
                    "server": self.url,
                    "certificate-authority-data": data(self._path("ca.crt"))}}],
                "users": [{"name": "test", "user": user}],
                "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            }, file)
        return path

    def audit(self, user_substring):
        """Audit entries of requests by a user, oldest first."""
        with open(self._path("audit.log"), encoding="utf-8") as file:
            # The last line may still be in the writing.
            entries = [json.loads(line) for line in file if line.endswith("}\n")]
        for entry in entries:
            entry.setdefault("objectRef", {"resource": ""})  # /healthz and the like have none
        return [e for e in entries if user_substring in e.get("user", {}).get("username", "")]
