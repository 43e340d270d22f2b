#!/bin/bash
# `make package-test`, as root: the Debian package is installed over an overlay of this machine's root, which is thrown away, started as its user with an empty environment, fed,
# restarted over its data, removed and purged; the tarball runs where it is unpacked. Ends with 1 at the first thing that is not as it should be.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath dist/package)
if [ "${1:-}" != inside ]; then exec unshare --mount --pid --fork --kill-child "$0" inside; fi

root=$(mktemp -d)
mount -t tmpfs none "$root"
mkdir "$root/upper" "$root/work" "$root/merged"
mount -t overlay overlay -o "lowerdir=/,upperdir=$root/upper,workdir=$root/work" "$root/merged"
mount -t proc proc "$root/merged/proc"
mount --bind /dev "$root/merged/dev"
mkdir "$root/merged/packages"
cp "$packages"/vedette* "$root/merged/packages/"
chroot "$root/merged" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin VEDETTE_PORT=28099 VEDETTE_OTLP_PORT=0 VEDETTE_OTLP_GRPC_PORT=0 VEDETTE_ALERTS_PORT=0 LOG_FORMAT=text bash -euo pipefail -c '
fail() { echo "package-test: $1" >&2; cat /tmp/server.log >&2 || true; exit 1; }
serve() {
  setpriv --reuid vedette --regid vedette --clear-groups vedette serve >/tmp/server.log 2>&1 &
  server=$!
  for _ in $(seq 120); do
    if vedette status >/dev/null 2>&1; then return; fi
    kill -0 "$server" 2>/dev/null || fail "the server has ended"
    sleep 0.5
  done
  fail "the server is not ready"
}
halt() { kill -TERM "$server"; wait "$server" || fail "the server ended with $?"; }

dpkg -i /packages/vedette_*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 1; }
echo "installed: $(du -sm /usr/lib/vedette | cut -f 1) MB, $(vedette --version)"
[ "$(stat -c %U:%a /var/lib/vedette)" = vedette:700 ] || fail "/var/lib/vedette is not its own"
[ "$(stat -c %U:%G:%a /etc/vedette/vedette.env)" = root:vedette:640 ] || fail "vedette.env can be read by others"
vedette check-config
man -w vedette >/dev/null || fail "no man page"
bash -n /usr/share/bash-completion/completions/vedette
start=$(date +%s%N)
serve
echo "ready after $((($(date +%s%N) - start) / 1000000)) ms"
vedette demo >/tmp/demo.log || { cat /tmp/demo.log; fail "the demo misses an anomaly"; }
echo "first explained anomaly after $((($(date +%s%N) - start) / 1000000)) ms"
before=$(vedette alerts --state all --json | grep -c alert_id)
halt
dpkg -i /packages/vedette_*.deb >>/tmp/dpkg.log 2>&1 || fail "it is not installed over itself"
serve
[ "$(vedette alerts --state all --json | grep -c alert_id)" = "$before" ] || fail "alerts are lost over an upgrade"
halt
echo "upgraded: $before alerts are there"
dpkg -r vedette >>/tmp/dpkg.log 2>&1
[ -d /var/lib/vedette ] && [ -f /etc/vedette/vedette.env ] || fail "a removal took data or settings"
[ ! -e /usr/lib/vedette ] || fail "a removal left the program"
dpkg -P vedette >>/tmp/dpkg.log 2>&1
[ ! -e /var/lib/vedette ] && [ ! -e /etc/vedette ] && ! getent passwd vedette >/dev/null || fail "a purge left something"
echo "removed and purged"
mkdir /tmp/tarball && tar -xzf /packages/vedette-*.tar.gz -C /tmp/tarball
[ "$(/tmp/tarball/vedette-*/vedette --version)" != "" ] || fail "the tarball does not run"
echo "the tarball runs"
'
echo "unit: $(systemd-analyze security --offline=yes packaging/vedette.service | tail -n 1)"
systemd-analyze security --offline=yes --threshold=20 packaging/vedette.service >/dev/null
echo "package-test: in order"
