#!/bin/sh
# Runs Vedette with the Node that came with it. The package's settings file is taken where it can be read and no other is named.
set -e
lib=$(dirname -- "$(readlink -f -- "$0")")
[ -d "$lib/dist" ] || lib=/usr/lib/vedette
if [ -z "${VEDETTE_CONFIG:-}" ] && [ "$lib" = /usr/lib/vedette ] && [ -r /etc/vedette/vedette.env ]; then
  export VEDETTE_CONFIG=/etc/vedette/vedette.env
fi
exec "$lib/node" --no-memory-reducer "$lib/dist/vedette.js" "$@"
