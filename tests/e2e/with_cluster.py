#!/usr/bin/env python3
"""Runs a command with a fresh real API server: @KUBECONFIG@ in its words is replaced
by an administrator's kubeconfig. $1 is the folder of tools/build.sh."""
import os
import subprocess
import sys
import tempfile

from otctest.cluster import RealCluster


def main():
    cluster = RealCluster(sys.argv[1], tempfile.mkdtemp(prefix="otc-cluster-"))
    try:
        cluster.start()
        kubeconfig = os.path.join(cluster.folder, "admin.kubeconfig")
        command = [word.replace("@KUBECONFIG@", kubeconfig) for word in sys.argv[2:]]
        return subprocess.run(command, check=False).returncode
    finally:
        cluster.stop()
        cluster.remove()


if __name__ == "__main__":
    sys.exit(main())
