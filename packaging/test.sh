#!/bin/bash
# `make package-test`, as root: the Debian package is installed over an overlay of this machine's root, which is thrown away, in a former version, started as its user with an empty
# environment, fed, upgraded over its data, removed and purged; the tarball runs where it is unpacked; both are built again to the same bytes. It ends at the first thing that is not
# as it should be; the last line is "N passed, N failed". The figures beside are this machine's, at its load.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath dist/package)
# Where no mounts are granted, root or not, the tarball alone runs: from an empty folder with an empty environment.
run_unpacked() {
  local folder server
  folder=$(mktemp -d)
  tar -xzf "$packages"/vedette-*.tar.gz -C "$folder"
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin VEDETTE_PORT=28099 VEDETTE_OTLP_PORT=0 VEDETTE_OTLP_GRPC_PORT=0 VEDETTE_ALERTS_PORT=0 DATA_DIR="$folder/data" "$folder"/vedette-*/vedette serve >"$folder/log" 2>&1 &
  server=$!
  for _ in $(seq 600); do
    if curl -fs http://127.0.0.1:28099/readyz >/dev/null; then break; fi
    sleep 0.1
  done
  curl -fs http://127.0.0.1:28099/readyz >/dev/null || { cat "$folder/log"; return 1; }
  kill -TERM "$server"
  wait "$server" || return 1
  rm -rf "$folder"
  echo "ok the tarball runs"
  echo "No mounts are granted here: installation, upgrade, removal and purge of the Debian package were not tried."
}
if [ "${1:-}" != inside ] && ! unshare --mount --pid --fork bash -c 'folder=$(mktemp -d) && mount -t tmpfs none "$folder" && mkdir "$folder/upper" "$folder/work" "$folder/merged" &&
  mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$folder/merged"'; then
  if run_unpacked; then echo "1 passed, 0 failed"; else
    echo "0 passed, 1 failed"
    exit 1
  fi
  exit 0
fi
if [ "${1:-}" != inside ]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  code=0
  unshare --mount --pid --fork --kill-child "$0" inside 2>&1 | tee "$log" || code=$?
  if [ "$code" -eq 0 ]; then failed=0; else failed=1; fi
  echo "$(grep -c "^ok " "$log" || true) passed, $failed failed"
  exit "$code"
fi

root=$(mktemp -d)
mount -t tmpfs none "$root"
mkdir "$root/upper" "$root/work" "$root/merged"
mount -t overlay overlay -o "lowerdir=/,upperdir=$root/upper,workdir=$root/work" "$root/merged"
mount -t proc proc "$root/merged/proc"
mount --bind /dev "$root/merged/dev"
mkdir "$root/merged/packages" "$root/former"
cp "$packages"/vedette* "$root/merged/packages/"
# The former version: the same files under a lower number, which is what an upgrade of dpkg goes by.
dpkg-deb -R "$packages"/vedette_*.deb "$root/former"
sed -i "s/^Version: .*/Version: 0.9.9/" "$root/former/DEBIAN/control"
dpkg-deb --root-owner-group -Zgzip -z1 --build "$root/former" "$root/merged/packages/former.deb" >/dev/null
chroot "$root/merged" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin VEDETTE_PORT=28099 VEDETTE_OTLP_PORT=0 VEDETTE_OTLP_GRPC_PORT=0 VEDETTE_ALERTS_PORT=0 LOG_FORMAT=text bash -euo pipefail -c '
fail() { echo "FAILED $1" >&2; cat /tmp/server.log >&2 || true; exit 1; }
is_ready() {
  exec 3<>/dev/tcp/127.0.0.1/28099 || return 1
  printf "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:28099\r\nConnection: close\r\n\r\n" >&3
  local line
  read -r line <&3 || return 1
  exec 3<&-
  case "$line" in *" 200 "*) return 0 ;; *) return 1 ;; esac
}
serve() {
  setpriv --reuid vedette --regid vedette --clear-groups vedette serve >/tmp/server.log 2>&1 &
  server=$!
  for _ in $(seq 600); do
    if is_ready 2>/dev/null; then return; fi
    kill -0 "$server" 2>/dev/null || fail "the server has ended"
    sleep 0.1
  done
  fail "the server is not ready"
}
# User and system time of the server and its parent, in hundredths of a second.
cpu() {
  local pid fields sum=0
  for pid in "$server" $(cat /proc/"$server"/task/*/children); do
    read -r -a fields < <(sed "s/.*) //" /proc/"$pid"/stat)
    sum=$((sum + fields[11] + fields[12]))
  done
  echo "$sum"
}
halt() { kill -TERM "$server"; wait "$server" || fail "the server ended with $?"; }

begun=$(date +%s%N)
dpkg -i /packages/former.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "it is not installed"; }
echo "ok installed: $(du -sm /usr/lib/vedette | cut -f 1) MB, $(vedette --version)"
[ "$(du -sm /usr/lib/vedette | cut -f 1)" -le 200 ] || fail "it takes more than 200 MB"
[ "$(stat -c %U:%a /var/lib/vedette)" = vedette:700 ] || fail "/var/lib/vedette is not its own"
[ "$(stat -c %U:%G:%a /etc/vedette/vedette.env)" = root:vedette:640 ] || fail "vedette.env can be read by others"
vedette check-config
gzip -t /usr/share/man/man1/vedette.1.gz || fail "no man page"
bash -n /usr/share/bash-completion/completions/vedette
echo "ok owners, settings, man page and completion"
start=$(date +%s%N)
serve
echo "ok ready after $((($(date +%s%N) - start) / 1000000)) ms, over an empty folder, by $(($(cpu) * 10)) ms of CPU"
vedette demo >/tmp/demo.log || { cat /tmp/demo.log; fail "the demo misses an anomaly"; }
echo "ok first explained anomaly $((($(date +%s%N) - begun) / 1000000)) ms after the installation began, ten seconds of which are the demo"
before=$(vedette alerts --state all --json | grep -c alert_id)
halt
dpkg -i /packages/vedette_*.deb >>/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "it is not upgraded"; }
dpkg-query -W vedette | grep -qv 0.9.9 || fail "the former version is still there"
serve
[ "$(vedette alerts --state all --json | grep -c alert_id)" = "$before" ] || fail "alerts are lost over an upgrade"
halt
echo "ok upgraded from 0.9.9: $before alerts are there"
dpkg -r vedette >>/tmp/dpkg.log 2>&1
[ -d /var/lib/vedette ] && [ -f /etc/vedette/vedette.env ] || fail "a removal took data or settings"
[ ! -e /usr/lib/vedette ] || fail "a removal left the program"
echo "ok removed, data and settings are there"
dpkg -P vedette >>/tmp/dpkg.log 2>&1
[ ! -e /var/lib/vedette ] && [ ! -e /etc/vedette ] && ! getent passwd vedette >/dev/null || fail "a purge left something"
echo "ok purged"
mkdir /tmp/tarball && tar -xzf /packages/vedette-*.tar.gz -C /tmp/tarball
[ "$(/tmp/tarball/vedette-*/vedette --version)" != "" ] || fail "the tarball does not run"
echo "ok the tarball runs"
'
echo "unit: $(systemd-analyze security --offline=yes packaging/vedette.service | tail -n 1)"
systemd-analyze security --offline=yes --threshold=20 packaging/vedette.service >/dev/null
echo "ok the exposure of the unit is 2.0 at most"
sums=$(cd "$packages" && sha256sum vedette*)
node scripts/package.mjs >/dev/null
(cd "$packages" && sha256sum --quiet -c <<<"$sums")
echo "ok built again to the same bytes"
