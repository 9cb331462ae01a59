#!/usr/bin/env bash
# The end-to-end tests on a real kube-apiserver; $1 is the build folder.
# K8S=1.33 … chooses another Kubernetes; PYTEST_ARGS is handed on.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "$1" && pwd)
binaries=$(tests/e2e/tools/build.sh)
rm -rf "$build/junit-e2e"
mkdir -p "$build/junit-e2e"
status=0
# kubectl against kube-sim: what it prints is pinned.
KUBECTL=$binaries/kubectl tests/sim/kube/kubectl_test.sh "$build/kube-sim" || status=$?
# The client library's own tests, on the real server.
tests/e2e/with_cluster.py "$binaries" env OTC_E2E_KUBECONFIG=@KUBECONFIG@ \
  "$build/host/kube/kube_api_test" --gtest_brief=1 \
  --gtest_output="xml:$build/junit-e2e/kube_api_test.xml" || status=$?
# shellcheck disable=SC2086
OTC_BUILD=$build OTC_KUBE=$binaries /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/e2e \
  --junitxml="$build/junit-e2e/e2e.xml" ${PYTEST_ARGS:-} || status=$?
/usr/bin/python3 tests/tools/summary.py "$build/junit-e2e" || status=1
exit $status
