#!/usr/bin/env bash
# Installs the Debian packages that are missing for the named tiers.
#
#   cmake/bootstrap.sh            what building and `make test` need
#   cmake/bootstrap.sh lint e2e   that, and what these tiers need
#
# Says first what it will install; asks sudo when not root. Does nothing (and
# needs no network) when everything is there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

packages=$(grep -v '^#' "$here/packages.txt")
for tier in "$@"; do
  line=$(grep "^$tier:" "$here/packages-tiers.txt") || {
    echo "bootstrap: unknown tier \"$tier\"; known: $(grep -v '^#' "$here/packages-tiers.txt" | cut -d: -f1 | tr '\n' ' ')" >&2
    exit 2
  }
  packages="$packages ${line#*:}"
done

missing=()
for package in $packages; do
  if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
    missing+=("$package")
  fi
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "bootstrap: these packages are missing and there is no apt-get to install them: ${missing[*]}" >&2
  exit 1
fi
root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "bootstrap: missing packages: ${missing[*]}; run as root or install sudo" >&2
    exit 1
  }
  root=(sudo)
fi
echo "Installing ${#missing[@]} Debian packages: ${missing[*]}"
case " $* " in
*" e2e "*) echo "The e2e tier also builds Kubernetes from Go modules: about 7 GB below ~/go and ~/.cache." ;;
esac
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get -q update
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${missing[@]}"
