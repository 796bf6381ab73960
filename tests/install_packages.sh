#!/bin/sh
# Installs what tests need of the system where it is missing, from the packages of Debian and its like: curl, with which
# pages of the documentation send results, and Chromium, whose headless shell draws the same pages for a quarter of the
# time. Where Chromium cannot be, the tests that need it skip (with CI set they fail) and say so.
install() {
    echo "installing $1 for the tests"
    as_root=""
    if [ "$(id -u)" != 0 ]; then as_root="sudo -n"; fi
    $as_root apt-get update -qq >/dev/null 2>&1
    shift
    for name in "$@"; do
        if $as_root apt-get install -y -qq --no-install-recommends "$name" >/dev/null 2>&1; then return; fi
    done
    echo "it cannot be installed by apt-get: the tests that need it will not run, or fail" >&2
}

command -v curl >/dev/null 2>&1 || install curl curl
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
install Chromium chromium-headless-shell chromium
install "a font" fonts-dejavu-core
