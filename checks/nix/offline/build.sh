# shellcheck shell=bash
# The builder of every derivation of the stand-in: a copy of src, where there is one, then what is to be done.
set -euo pipefail
export HOME=/homeless-shelter PIP_NO_CACHE_DIR=1
cd "$TMPDIR"
if [ "$NIX_BUILD_CORES" = 0 ]; then
    NIX_BUILD_CORES=$(nproc)
    export NIX_BUILD_CORES
fi
if [ -n "${src-}" ]; then
    cp -r "$src" source
    chmod -R u+w source
    cd source
fi
eval "$buildCommand"
