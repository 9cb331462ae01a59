#!/bin/bash
# kubectl against kube-sim: what users of the demo type, with golden output.
#
#   kubectl_test.sh <kube-sim program>
#
# KUBECTL names the kubectl to use (default: the one in PATH). Without any, the
# test says SKIPPED and why, and exits 77, which ctest counts as skipped.
# UPDATE_GOLDEN=1 writes testdata/kubectl.golden anew; read the difference then.
set -u

sim=${1:?usage: kubectl_test.sh <kube-sim program>}
here=$(cd "$(dirname "$0")" && pwd)
golden=$here/testdata/kubectl.golden
kubectl_program=${KUBECTL:-$(command -v kubectl)}
if [ -z "$kubectl_program" ] || ! "$kubectl_program" version --client >/dev/null 2>&1; then
  echo "SKIPPED: no kubectl (set KUBECTL or install one)"
  exit 77
fi

work=$(mktemp -d)
"$sim" --kubeconfig-out="$work/kubeconfig" --ports-file="$work/ports" --die-with-parent \
  --objects-file="$here/testdata/kubectl_objects.json" >"$work/out" 2>&1 &
sim_pid=$!
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  kill "$sim_pid" 2>/dev/null
  wait "$sim_pid" 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT

for _ in $(seq 100); do
  [ -s "$work/ports" ] && break
  sleep 0.1
done
if [ ! -s "$work/ports" ]; then
  echo "FAILED: kube-sim did not start:"
  cat "$work/out"
  exit 1
fi

# Own cache and configuration, so that nothing outside matters.
run_kubectl() {
  HOME=$work "$kubectl_program" --kubeconfig="$work/kubeconfig" --cache-dir="$work/cache" "$@" 2>&1
}

# Ages, times, uids and versions differ from run to run.
normalise() {
  sed -E \
    -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/TIME/g' \
    -e 's/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/UID/g' \
    -e 's/resourceVersion: "[0-9]+"/resourceVersion: "N"/' \
    -e 's/(^|[[:space:]])[0-9]+[ydhms]([0-9]+[dhms])?([[:space:]]|$)/\1AGE\3/g' \
    -e 's/ +/ /g' -e 's/ $//'
}

record() {
  echo "\$ kubectl $*"
  run_kubectl "$@" | normalise
  echo
}

cat >"$work/node.yaml" <<'YAML'
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels:
    from: file
spec:
  providerID: otc:///33333333-3333-4333-8333-333333333333
YAML
cat >"$work/objects.yaml" <<'YAML'
apiVersion: v1
kind: Namespace
metadata: {name: extra}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: b}
YAML
# The path of the files is no part of the golden output.
cd "$work" || exit 1

{
  record get nodes
  record get nodes -o wide
  record get nodes -l topology.kubernetes.io/zone=eu-de-01 -o name
  record get nodes --field-selector metadata.name=n2 --no-headers
  record get node n1 -o 'jsonpath={.spec.providerID}'
  record get events
  record get events -o wide
  record get leases -A
  record get namespaces
  record apply --validate=false -f node.yaml
  record apply --validate=false -f node.yaml
  record patch node n3 -p '{"spec":{"unschedulable":true}}'
  record patch node n3 --subresource=status --type=merge -p '{"status":{"phase":"Running"}}'
  record patch node n3 --type=json -p '[{"op":"test","path":"/metadata/labels/from","value":"no"}]'
  record patch node n3 -p '{"spec":{"providerID":"otc:///44444444-4444-4444-8444-444444444444"}}'
  record taint node n3 example.com/a=b:NoSchedule
  record taint node n3 example.com/a-
  record label node n3 colour=blue
  record label node n3 colour-
  record annotate node n3 note=hello
  record cordon n1
  record uncordon n1
  record get node n3 -o yaml
  record delete node n3
  record get node n3
  record get nodes -o name
  record create --validate=false -f objects.yaml
  record get configmap c -o 'jsonpath={.data.a}'
  record create namespace other
} >"$work/recorded"

failed=0
if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
  cp "$work/recorded" "$golden"
fi
if ! diff -u "$golden" "$work/recorded"; then
  echo "FAILED: the output above differs from testdata/kubectl.golden"
  failed=1
fi

# The layout of describe belongs to kubectl and changes between its versions:
# look for what the server contributes.
run_kubectl describe node n1 >"$work/describe"
for wanted in 'Name: +n1' 'Roles: +worker' 'topology.kubernetes.io/zone=eu-de-01' \
  'ProviderID: +otc:///11111111-1111-4111-8111-111111111111' 'InternalIP: +10.0.0.1' \
  'Ready +True' 'Synced +.* cloud-node-controller +Node synced successfully'; do
  if ! grep -Eq "$wanted" "$work/describe"; then
    echo "FAILED: describe node n1 lacks /$wanted/:"
    cat "$work/describe"
    failed=1
  fi
done

# A watch prints what changes while it runs.
run_kubectl get nodes --watch-only >"$work/watch" &
watch_pid=$!
for _ in $(seq 50); do
  run_kubectl label node n2 "tick=$RANDOM" --overwrite >/dev/null
  grep -q '^n2 ' "$work/watch" && break
  sleep 0.1
done
kill "$watch_pid"
wait "$watch_pid" 2>/dev/null
if ! grep -q '^n2 ' "$work/watch"; then
  echo "FAILED: get nodes --watch-only showed nothing of n2"
  failed=1
fi

kill "$sim_pid"
wait "$sim_pid"
code=$?
if [ "$code" != 0 ]; then
  echo "FAILED: kube-sim ended with $code after SIGTERM"
  failed=1
fi
[ "$failed" = 0 ] && echo "PASSED: $(grep -c '^\$ kubectl' "$golden") golden outputs, describe, watch"
exit "$failed"
