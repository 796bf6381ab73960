#!/bin/sh
# Follow each tutorial on a machine that has only Python: an empty environment, the wheel of this tree, and the
# commands as they are printed, installing included. `podium serve` needs port 8000.
#
#     sh tests/fresh.sh [PYTHON]
set -eu
python=${1:-python3}
tests=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/build"
"$folder/build/bin/pip" wheel --quiet --no-deps --wheel-dir "$folder/dist" "$tests/.." "$tests/../client"
export PIP_FIND_LINKS="$folder/dist" PIP_QUIET=2 PIP_DISABLE_PIP_VERSION_CHECK=1 PODIUM_CACHE_DIR="$folder/cache"
unset PYTHONPATH
for page in "$tests"/../docs/tutorials/*.md; do
    name=$(basename "$page" .md)
    printf '\n== %s\n' "$name"
    "$python" -m venv "$folder/$name"
    mkdir "$folder/$name/work"
    PATH="$folder/$name/bin:$PATH" "$folder/$name/bin/python" "$tests/walkthrough.py" "$page" "$folder/$name/work"
    rm -rf "${folder:?}/$name"
done
