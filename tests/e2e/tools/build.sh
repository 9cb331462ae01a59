#!/usr/bin/env bash
# Builds etcd, kube-apiserver and kubectl for the end-to-end tests and prints the
# folder that holds them. The result is kept outside the tree, keyed by the
# module files, so that only the first run pays (about 4 minutes on two cores,
# 3 GB of module cache and 4 GB of build cache).
#
#   K8S=1.36 (default) uses the pinned modules of this folder;
#   K8S=1.33 … builds the newest patch of another minor in a module made for it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
K8S=${K8S:-1.36}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/otc-host
export GOTOOLCHAIN=local GOFLAGS=-buildvcs=false

say() { printf '%s\n' "$*" >&2; }

command -v go >/dev/null || {
  say "go is missing: the end-to-end tests build Kubernetes from its Go modules; install Go 1.26 or newer"
  exit 1
}

key=$(cat "$here"/kube/go.* "$here"/etcd/go.* | sha256sum | cut -c1-16)
out=$cache/kube-$K8S-$key
if [ -e "$out/.complete" ]; then
  printf '%s\n' "$out"
  exit 0
fi
mkdir -p "$out"

module=$here/kube
if [ "$K8S" != 1.36 ]; then
  module=$out/module
  mkdir -p "$module"
  patch=$(cd "$here/kube" && go list -m -mod=mod -versions k8s.io/kubernetes | tr ' ' '\n' |
    grep -E "^v${K8S//./\\.}\.[0-9]+$" | tail -n 1)
  [ -n "$patch" ] || { say "K8S=$K8S: no such release of k8s.io/kubernetes"; exit 1; }
  staging=v0.${patch#v1.}
  upstream=$(cd "$here/kube" && go mod download -json "k8s.io/kubernetes@$patch" |
    sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
  {
    printf 'module otc-host.test/kube\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes %s\n\nreplace (\n' "$patch"
    sed -n 's/^[[:space:]]*\(k8s\.io\/[a-z0-9.-]*\) => \.\/staging.*/\1/p' "$upstream" |
      while read -r name; do printf '\t%s => %s %s\n' "$name" "$name" "$staging"; done
    printf ')\n'
  } >"$module/go.mod"
  cp "$here/kube/tools.go" "$module/"
  (cd "$module" && go mod tidy >&2)
fi

version=$(cd "$module" && go list -m -mod=mod -f '{{.Version}}' k8s.io/kubernetes)
minor=$(printf '%s' "$version" | cut -d. -f2)
ld="-s -w -X k8s.io/component-base/version.gitVersion=$version"
ld="$ld -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=$minor"

say "building etcd (once, about 1 minute) …"
(cd "$here/etcd" && go build -mod=mod -ldflags "-s -w" -o "$out/etcd" go.etcd.io/etcd/server/v3)
say "building kube-apiserver and kubectl $version (once, about 3 minutes) …"
(cd "$module" && go build -mod=mod -ldflags "$ld" -o "$out/" \
  k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl)
touch "$out/.complete"
printf '%s\n' "$out"
