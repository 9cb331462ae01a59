"""The official Python extensions of OTC (openstacksdk, password token) against otc-sim.

Test names carry the numbers of the interop test list; `defect` in a name means:
otc-sim is made wrong on purpose and the client must notice.
"""

import os

import openstack
from keystoneauth1 import exceptions as keystone
from openstack import exceptions
from otcextensions import sdk

import simulator


class OtcxTest(simulator.SimulatorTest):
    def connect(self, **more):
        connection = openstack.connect(
            auth={
                "auth_url": self.sim.urls["iam"] + "/v3",
                "username": simulator.USER_NAME,
                "password": simulator.USER_PASSWORD,
                "user_domain_name": simulator.DOMAIN_NAME,
                "project_name": "eu-de",
                "project_domain_name": simulator.DOMAIN_NAME,
            },
            region_name="eu-de", interface="public", identity_api_version="3",
            load_yaml_config=False, load_envvars=False, **more)
        sdk.load(connection)
        return connection

    # 8: discovery of the identity service

    def project_names(self):
        return [project.name for project in self.connect().identity.projects()]

    def test_interop_08_identity_projects(self):
        self.start()
        self.sim.add_project("11111111111111111111111111111111", "eu-de_prod")
        self.assertEqual(sorted(self.project_names()), ["eu-de", "eu-de_prod"])

    def test_interop_08_defect_catalog_star_only(self):
        self.start("--defect", "catalog-star-only")
        with self.assertRaises((exceptions.SDKException, keystone.ClientException)):
            self.project_names()

    # 9: forgotten token

    def test_interop_09_forgotten_token_is_renewed_once(self):
        self.start()
        connection = self.connect()
        self.assertEqual(len(list(connection.compute.availability_zones())), 3)
        self.sim.control("DELETE", "tokens")
        self.assertEqual(len(list(connection.compute.availability_zones())), 3)
        self.assertEqual(len(self.sim.calls("iam.token.create")), 2)
        statuses = [call["status"] for call in self.sim.calls("nova.zones.list")]
        self.assertEqual(statuses, [200, 401, 200])

    # 10: compute

    def microversions(self):
        """What the client sends on a server call: both headers, or None."""
        headers = {name.lower(): value
                   for name, value in self.sim.calls("nova.server.get")[-1]["headers"].items()}
        return (headers.get("x-openstack-nova-api-version"), headers.get("openstack-api-version"))

    def test_interop_10_servers_and_microversion(self):
        self.start()
        names = ["node-%d" % number for number in range(5)]
        ids = self.sim.add_servers(*names, public_ip="auto")
        compute = self.connect().compute
        self.assertEqual([server.name for server in compute.servers(limit=2)], names)
        server = compute.get_server(ids[0])
        self.assertEqual(server.status, "ACTIVE")
        self.assertEqual(server.flavor.original_name, "s3.large.2")
        addresses = list(server.addresses.values())[0]
        self.assertEqual([a["OS-EXT-IPS:type"] for a in addresses], ["fixed", "floating"])
        self.assertEqual([a["version"] for a in addresses], [4, 4])
        self.assertEqual(self.microversions(), ("2.60", "compute 2.60"))
        zones = [zone.name for zone in compute.availability_zones()]
        self.assertEqual(zones, ["eu-de-01", "eu-de-02", "eu-de-03"])
        with self.assertRaises(exceptions.NotFoundException):
            compute.get_server("4f4b3dfa-eb70-47cf-a60a-998a53bd598a")
        self.assertLess(len(self.sim.calls()), 100)

    def test_interop_10_defect_no_microversion_in_the_version_document(self):
        self.start("--defect", "nova-no-microversion")
        ids = self.sim.add_servers("node-1")
        self.connect().compute.get_server(ids[0])
        self.assertNotEqual(self.microversions(), ("2.60", "compute 2.60"))

    # 37: TLS

    def test_interop_37_otcx_tls(self):
        directory = os.path.join(self._home.name, "tls")
        self.start("--tls-dir", directory)
        connection = self.connect(cacert=os.path.join(directory, "ca.pem"))
        self.assertEqual(len(list(connection.compute.availability_zones())), 3)
        with self.assertRaises((exceptions.SDKException, keystone.ClientException)):
            list(self.connect().compute.availability_zones())


if __name__ == "__main__":
    import results
    results.main("otcx", __name__)
