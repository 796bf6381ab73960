#!/bin/sh
# Installs the packages of a lock file into .venv, which is made where there is none:
#
#     sh .ci/install.sh PYTHON requirements.lock [--editable .]
#
# uv does it in a tenth of pip's time: the one on the PATH, or one that pip fetches. It does not read pip's settings, so
# that pip does the work where it is told of an index of its own, and where uv cannot.
set -eu
python=$1 lock=$2
shift 2
venv=.venv/bin/python
[ -x "$venv" ] || "$python" -m venv --without-pip .venv
if "$python" -m pip --version >/dev/null 2>&1; then
    pip() { "$python" -m pip --python "$venv" --disable-pip-version-check "$@"; }
else
    "$venv" -m ensurepip >/dev/null
    pip() { "$venv" -m pip --disable-pip-version-check "$@"; }
fi

install_with_uv() {
    if pip config list | grep -qE '\.(index-url|no-index)='; then return 1; fi
    uv=$(command -v uv || echo .venv/bin/uv)
    if ! "$uv" --version >/dev/null 2>&1; then
        sed -n '/^uv==/,/[^\\]$/p' requirements.lock >.venv/uv.txt
        pip install --quiet --no-deps --no-compile --require-hashes -r .venv/uv.txt || return 1
    fi
    "$uv" pip install --quiet --python "$venv" --no-deps --require-hashes -r "$lock" || return 1
    [ $# = 0 ] || "$uv" pip install --quiet --python "$venv" --no-deps --no-build-isolation "$@"
}

install_with_pip() {
    pip install --quiet --no-deps --no-compile --require-hashes -r "$lock"
    [ $# = 0 ] || pip install --quiet --no-deps --no-compile --no-build-isolation "$@"
}

install_with_uv "$@" || install_with_pip "$@"
