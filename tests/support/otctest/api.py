"""A small JSON client for an API server: what the tests say and see."""
import http.client
import json
import ssl
import urllib.parse


class ApiError(Exception):
    def __init__(self, status, body):
        super().__init__(f"HTTP {status}: {body[:500]}")
        self.status = status
        self.body = body

    @property
    def reason(self):
        try:
            return json.loads(self.body).get("reason", "")
        except ValueError:
            return ""


class Api:
    """One server; `token` or a client certificate."""

    def __init__(self, url, ca_file=None, token=None, cert=None):
        parts = urllib.parse.urlsplit(url)
        self.host, self.port, self.tls = parts.hostname, parts.port, parts.scheme == "https"
        self.token = token
        self.context = None
        if self.tls:
            self.context = ssl.create_default_context(cafile=ca_file)
            if cert:
                self.context.load_cert_chain(*cert)

    def raw(self, method, path, body=None, content_type="application/json", headers=None):
        """(status, headers, body) of one call on a connection of its own."""
        if self.tls:
            connection = http.client.HTTPSConnection(
                self.host, self.port, context=self.context, timeout=30)
        else:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            send = dict(headers or {})
            if body is not None:
                send.setdefault("Content-Type", content_type)
            if self.token:
                send["Authorization"] = "Bearer " + self.token
            data = json.dumps(body) if isinstance(body, (dict, list)) else body
            connection.request(method, path, data, send)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def call(self, method, path, body=None, content_type="application/json"):
        status, _, text = self.raw(method, path, body, content_type)
        if status >= 300:
            raise ApiError(status, text)
        return json.loads(text) if text else None

    def get(self, path):
        return self.call("GET", path)

    def try_get(self, path):
        """None if it does not exist."""
        try:
            return self.get(path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def post(self, path, body):
        return self.call("POST", path, body)

    def merge(self, path, patch):
        return self.call("PATCH", path, patch, "application/merge-patch+json")

    def strategic(self, path, patch):
        return self.call("PATCH", path, patch, "application/strategic-merge-patch+json")

    def delete(self, path):
        return self.call("DELETE", path)

    def node(self, name):
        return self.try_get(f"/api/v1/nodes/{name}")

    def events(self, name, namespace="default"):
        """Events about an object, oldest first."""
        query = urllib.parse.quote(f"involvedObject.name={name}")
        items = self.get(f"/api/v1/namespaces/{namespace}/events?fieldSelector={query}")["items"]
        return sorted(items, key=lambda e: e.get("lastTimestamp") or "")
