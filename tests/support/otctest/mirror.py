"""Servers in the simulated cloud that are exactly what the cluster's nodes say."""

BUILT_IN_FLAVORS = {"s3.medium.2", "s3.large.2", "s3.large.4", "s3.xlarge.2", "s3.xlarge.4",
                    "s3.2xlarge.4", "c4.2xlarge.2", "m4.xlarge.8"}


def mirror_nodes(api, sim):
    """How many there are."""
    nodes = api.get("/api/v1/nodes")["items"]
    flavors, servers = set(), []
    for node in nodes:
        labels = node["metadata"]["labels"]
        flavors.add(labels["node.kubernetes.io/instance-type"])
        servers.append({
            "id": node["spec"]["providerID"].removeprefix("otc:///"),
            "name": node["metadata"]["name"],
            "flavor": labels["node.kubernetes.io/instance-type"],
            "availability_zone": labels["topology.kubernetes.io/zone"],
            "ips": [a["address"] for a in node["status"]["addresses"]
                    if a["type"] == "InternalIP"]})
    sim.control.call("POST", "load", {
        "flavors": [{"id": f, "vcpus": 4, "ram_mb": 8192}
                    for f in sorted(flavors - BUILT_IN_FLAVORS)],
        "servers": servers})
    return len(nodes)
