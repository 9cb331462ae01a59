"""The sibling cloud's Python SDK (AK/SK, Access form) against otc-sim.

Test names carry the numbers of the interop test list; `defect` in a name means:
otc-sim is made wrong on purpose and the client must notice.
"""

import json
import os
import unittest
import urllib.parse

from huaweicloudsdkcore.auth.credentials import BasicCredentials
from huaweicloudsdkcore.auth.internal import MetadataAccessor
from huaweicloudsdkcore.auth.provider import MetadataCredentialProvider
from huaweicloudsdkcore.exceptions import exceptions
from huaweicloudsdkcore.http.http_config import HttpConfig
from huaweicloudsdkcore.region.region import Region
from huaweicloudsdkcore.sdk_request import SdkRequest
from huaweicloudsdkcore.signer.signer import Signer
from huaweicloudsdkecs.v2 import (
    EcsClient,
    ListFlavorsRequest,
    ListServerInterfacesRequest,
    ListServersDetailsRequest,
    ShowServerRequest,
)
from huaweicloudsdkevs.v2 import CinderListVolumeTypesRequest, EvsClient

import simulator


def load_vectors():
    with open(os.environ["SIGNING_VECTORS"], encoding="utf-8") as file:
        return json.load(file)


def load_dump():
    with open(os.environ["SIGNER_DUMP"], encoding="utf-8") as file:
        return {entry["number"]: entry for entry in map(json.loads, file)}


class Keys:
    def __init__(self, ak, sk):
        self.ak = ak
        self.sk = sk


def sign(vector):
    """(canonical request, Authorization) of the official signer."""
    path, _, query = vector["target"].partition("?")
    headers = {name: value for name, value in vector["signed_headers"]}
    headers["X-Sdk-Date"] = vector["date"]
    request = SdkRequest(
        method=vector["method"], schema="https", host=vector["host"], resource_path=path,
        query_params=urllib.parse.parse_qsl(query, keep_blank_values=True),
        header_params=headers, body=bytes.fromhex(vector["body_hex"]))
    signer = Signer(Keys(vector["ak"], vector["sk"]))
    authorization = signer.sign(request).header_params["Authorization"]
    del request.header_params["Authorization"]
    names = Signer._process_signed_headers(request)
    return signer._process_canonical_request(request, names), authorization


class SignerTest(unittest.TestCase):
    def test_interop_01_signer_vectors_byte_equal(self):
        dump = load_dump()
        compared = 0
        for vector in load_vectors():
            number = vector["number"]
            if number == 22:  # leaves Host unsigned, which this signer cannot
                continue
            canonical, authorization = sign(vector)
            self.assertEqual(canonical, dump[number]["canonical"], "vector %d" % number)
            self.assertEqual(authorization, dump[number]["access"], "vector %d" % number)
            compared += 1
        self.assertEqual(compared, 24)

    def test_interop_01_defect_one_byte_of_the_secret(self):
        dump = load_dump()
        vector = load_vectors()[0]
        vector["sk"] += "x"
        canonical, authorization = sign(vector)
        self.assertEqual(canonical, dump[1]["canonical"])
        self.assertNotEqual(authorization, dump[1]["access"])


class HwpyTest(simulator.SimulatorTest):
    def credentials(self, ak=simulator.ACCESS_KEY, sk=simulator.SECRET_KEY,
                    project=simulator.PROJECT_ID):
        return BasicCredentials(ak, sk, project)

    def client(self, kind, service, credentials=None, config=None):
        return (kind.new_builder()
                .with_http_config(config or HttpConfig.get_default_config())
                .with_credentials(credentials or self.credentials())
                .with_endpoint(self.sim.urls[service]).build())

    def ecs(self, credentials=None, config=None):
        return self.client(EcsClient, "ecs", credentials, config)

    def list_types(self, credentials=None):
        client = self.client(EvsClient, "evs", credentials)
        return client.cinder_list_volume_types(CinderListVolumeTypesRequest())

    def assert_401(self, credentials):
        with self.assertRaises(exceptions.ClientRequestException) as caught:
            self.list_types(credentials)
        self.assertEqual(caught.exception.status_code, 401)
        self.assertEqual(caught.exception.error_code, "APIGW.0301")
        self.assertTrue(caught.exception.request_id)
        return caught.exception

    # 4: wrong secret, unknown key

    def test_interop_04_wrong_secret_and_unknown_key(self):
        self.start()
        self.assertTrue(self.list_types().volume_types)
        self.assert_401(self.credentials(sk="not the secret"))
        error = self.assert_401(self.credentials(ak="AKUNKNOWN"))
        self.assertIn("ak not exist", error.error_msg)

    def test_interop_04_defect_any_signature(self):
        self.start("--defect", "any-signature")
        with self.assertRaises(AssertionError):
            self.assert_401(self.credentials(sk="not the secret"))

    # 5: project by name

    def discover(self):
        """A call without a project id: the client looks the project up by name.

        The client caches it by key, so each test brings a key of its own.
        """
        key = "AK" + self._testMethodName.upper()[:30]
        self.sim.control("POST", "load", {"access_keys": [{"access": key, "secret": "s3cret"}]})
        credentials = self.credentials(ak=key, sk="s3cret", project=None)
        credentials.with_iam_endpoint(self.sim.urls["iam"])
        client = (EcsClient.new_builder().with_credentials(credentials)
                  .with_region(Region("eu-de", self.sim.urls["ecs"])).build())
        return client.list_servers_details(ListServersDetailsRequest())

    def test_interop_05_exactly_one_project_by_name(self):
        self.start()
        self.sim.add_project("11111111111111111111111111111111", "eu-de_prod")
        self.assertEqual(self.discover().count, 0)
        self.assertEqual(len(self.sim.calls("iam.projects.list")), 1)

    def test_interop_05_defect_projects_by_prefix(self):
        self.start("--defect", "projects-by-prefix")
        self.sim.add_project("11111111111111111111111111111111", "eu-de_prod")
        with self.assertRaises(exceptions.SdkException):
            self.discover()

    def test_interop_05_no_such_project_is_refused(self):
        self.start("--region", "eu-nl")
        with self.assertRaises(exceptions.SdkException):
            self.discover()

    # 6: temporary keys

    def temporary(self, token):
        self.sim.control("POST", "load", {"access_keys": [
            {"access": "ASIATEMP", "secret": "temp", "security_token": "right+token=="}]})
        credentials = self.credentials("ASIATEMP", "temp")
        if token is not None:
            credentials.with_security_token(token)
        return credentials

    def test_interop_06_temporary_key(self):
        self.start()
        self.assertTrue(self.list_types(self.temporary("right+token==")).volume_types)
        self.assert_401(self.temporary("wrong"))
        self.assert_401(self.temporary(None))

    def test_interop_06_defect_security_token_unchecked(self):
        self.start("--defect", "security-token-unchecked")
        with self.assertRaises(AssertionError):
            self.assert_401(self.temporary("wrong"))

    # 7: key from the metadata service

    def metadata_list(self, status):
        self.sim.control("PATCH", "options", {"metadata_token_status": status})
        MetadataAccessor._METADATA_ENDPOINT = self.sim.urls["metadata"]
        credentials = MetadataCredentialProvider \
            .get_basic_credential_metadata_provider().get_credentials()
        credentials.with_project_id(simulator.PROJECT_ID)
        return self.ecs(credentials).list_servers_details(ListServersDetailsRequest())

    def test_interop_07_metadata_key(self):
        self.start()
        self.sim.add_servers("node-1", metadata={"agency_name": "ccm"})
        for status in (404, 405, 200):
            self.sim.control("DELETE", "calls")
            self.assertEqual(self.metadata_list(status).count, 1)
            fetched = self.sim.calls("metadata.security_key")
            self.assertTrue(fetched)
            names = {name.lower() for name in fetched[-1]["headers"]}
            self.assertEqual("x-metadata-token" in names, status == 200)
            listed = self.sim.calls("ecs.servers.list")[-1]
            self.assertTrue(listed["access_key"].startswith("ASIA"))

    def test_interop_07_other_token_errors_are_fatal(self):
        self.start()
        self.sim.add_servers("node-1", metadata={"agency_name": "ccm"})
        with self.assertRaises(exceptions.ClientRequestException):
            self.metadata_list(500)

    # 18: ECS reads

    def pages(self):
        client = self.ecs()
        return [[server.name for server in client.list_servers_details(
            ListServersDetailsRequest(limit=2, offset=page)).servers] for page in (1, 2, 3)]

    def test_interop_18_servers(self):
        self.start()
        ids = self.sim.add_servers("node-1", "node-10", "node-2", public_ip="auto")
        self.sim.add_servers("metal", tags=["__type_baremetal"])
        self.assertEqual(self.pages(), [["node-1", "node-10"], ["node-2", "metal"], []])
        client = self.ecs()
        page = client.list_servers_details(ListServersDetailsRequest(
            limit=2, offset=1, name="^node-1$", not_tags="__type_baremetal"))
        self.assertEqual([server.name for server in page.servers], ["node-1"])
        self.assertEqual(page.count, 1)
        server = client.show_server(ShowServerRequest(server_id=ids[0])).server
        self.assertEqual(server.flavor.vcpus, "2")
        addresses = list(server.addresses.values())[0]
        self.assertEqual([a.os_ext_ip_stype for a in addresses], ["fixed", "floating"])
        interfaces = client.list_server_interfaces(ListServerInterfacesRequest(server_id=ids[0]))
        self.assertEqual(interfaces.interface_attachments[0].fixed_ips[0].ip_address,
                         addresses[0].addr)
        flavors = client.list_flavors(ListFlavorsRequest(availability_zone="eu-de-01")).flavors
        self.assertIn("s3.large.2", [flavor.id for flavor in flavors])

    def test_interop_18_defect_offset_is_record(self):
        self.start("--defect", "offset-is-record")
        self.sim.add_servers("node-1", "node-10", "node-2", "metal")
        self.assertNotEqual(self.pages(), [["node-1", "node-10"], ["node-2", "metal"], []])

    # 37: TLS

    def test_interop_37_hwpy_tls(self):
        directory = os.path.join(self._home.name, "tls")
        self.start("--tls-dir", directory)
        config = HttpConfig.get_default_config()
        config.ssl_ca_cert = os.path.join(directory, "ca.pem")
        listed = self.ecs(config=config).list_servers_details(ListServersDetailsRequest())
        self.assertEqual(listed.count, 0)
        with self.assertRaises(exceptions.SslHandShakeException):
            self.ecs().list_servers_details(ListServersDetailsRequest())


if __name__ == "__main__":
    import results
    results.main("hwpy", __name__)
