#!/bin/sh
# Install the packages of a lock file into an environment, and create it if necessary:
#
#     sh .ci/install.sh PYTHON .venv requirements.lock [--editable .]
#
# uv takes a tenth of pip's time. The script uses the uv on the PATH, or one that pip downloads. uv does not read pip's
# settings, so pip installs the packages if its settings name an index, or if uv fails.
set -eu
python=$1 venv=$2 lock=$3
shift 3
[ -x "$venv/bin/python" ] || "$python" -m venv --without-pip "$venv"
if "$python" -m pip --version >/dev/null 2>&1; then
    pip() { "$python" -m pip --python "$venv/bin/python" --disable-pip-version-check "$@"; }
else
    "$venv/bin/python" -m ensurepip >/dev/null
    pip() { "$venv/bin/python" -m pip --disable-pip-version-check "$@"; }
fi

fetch_uv() {
    sed -n '/^uv==/,/[^\\]$/p' requirements.lock >"$venv/uv.txt"
    pip install --quiet --no-deps --no-compile --require-hashes -r "$venv/uv.txt"
}

install_with_uv() {
    if pip config list | grep -qE '\.(index-url|no-index)='; then return 1; fi
    export UV_SYSTEM_CERTS=true  # trust the machine's certificates, as pip does
    uv=uv
    if ! uv --version >/dev/null 2>&1; then
        uv=$venv/bin/uv
        [ -x "$uv" ] || fetch_uv || return 1
    fi
    "$uv" pip install --quiet --python "$venv/bin/python" --no-deps --require-hashes -r "$lock" || return 1
    [ $# = 0 ] || "$uv" pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation "$@"
}

install_with_pip() {
    pip install --quiet --no-deps --no-compile --require-hashes -r "$lock"
    [ $# = 0 ] || pip install --quiet --no-deps --no-compile --no-build-isolation "$@"
}

install_with_uv "$@" || install_with_pip "$@"
