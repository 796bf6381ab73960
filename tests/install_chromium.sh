#!/bin/sh
# Installs Chromium for the tests of pages where there is none: from the packages of Debian and its like. Its headless
# shell draws the same pages for a quarter of the time.
# Where that cannot be, the tests that need it skip (with CI set they fail) and say so.
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if ! command -v apt-get >/dev/null 2>&1; then
    echo "there is no Chromium, and no apt-get to install it: the tests of pages in a browser will not run" >&2
    exit 0
fi
as_root=""
if [ "$(id -u)" != 0 ]; then as_root="sudo -n"; fi
echo "installing Chromium for the tests of pages"
$as_root apt-get update -qq >/dev/null 2>&1
for name in chromium-headless-shell chromium; do
    if $as_root apt-get install -y -qq --no-install-recommends "$name" fonts-dejavu-core >/dev/null 2>&1; then exit 0; fi
done
echo "Chromium cannot be installed: the tests of pages in a browser will not run" >&2
