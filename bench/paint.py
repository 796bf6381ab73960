"""Measure how soon pages appear on a slow phone: 1.6 Mbit/s, 150 ms latency, a quarter of the processor's speed.

    python bench/paint.py http://127.0.0.1:8000 / /POOL /POOL/players/NAME [--key KEY] [--runs 5] [--browser PATH]

It needs playwright, and a running `podium serve` with a loopback address. Every run begins with an empty cache. With a
key, the script signs in first. It prints the medians: first and largest contentful paint in milliseconds, and kilobytes
as sent over the network for the page alone and for all its files.
"""

import argparse
import statistics

from playwright.sync_api import sync_playwright

PHONE = {"width": 390, "height": 844}
NETWORK = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8}
SLOWER = 4  # how much slower the processor is
PAINTS = """() => new Promise(done => new PerformanceObserver(list => done([
    performance.getEntriesByName("first-contentful-paint")[0].startTime,
    list.getEntries().at(-1).startTime])).observe({type: "largest-contentful-paint", buffered: true}))"""


def measure(context, address):
    """Return the first and the largest contentful paint, and the kilobytes of the page and of all its files."""
    page = context.new_page()
    devtools, sizes, documents = context.new_cdp_session(page), {}, []
    devtools.on("Network.loadingFinished", lambda sent: sizes.update({sent["requestId"]: sent["encodedDataLength"]}))
    devtools.on(
        "Network.responseReceived", lambda got: got["type"] == "Document" and documents.append(got["requestId"])
    )
    devtools.send("Network.enable")
    devtools.send("Network.clearBrowserCache")
    devtools.send("Network.emulateNetworkConditions", NETWORK)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(address, wait_until="load")
    first, largest = page.evaluate(PAINTS)
    size = sizes[documents[-1]]
    page.close()
    return first, largest, size / 1e3, sum(sizes.values()) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("service")
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--key")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--browser", help="a Chromium other than playwright's")
    chosen = parser.parse_args()
    print(f"{'page':40} {'first ms':>9} {'largest ms':>10} {'page kB':>8} {'all kB':>7}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chosen.browser)
        context = browser.new_context(base_url=chosen.service, viewport=PHONE, is_mobile=True, has_touch=True)
        if chosen.key:
            page = context.new_page()
            page.goto("/sign-in")
            page.fill("[name=key]", chosen.key)
            page.click("main button.main")
            page.wait_for_load_state()
            page.close()
        for path in chosen.pages:
            runs = [measure(context, path) for _ in range(chosen.runs)]
            first, largest, size, every = map(statistics.median, zip(*runs, strict=True))
            print(f"{path:40} {first:9.0f} {largest:10.0f} {size:8.1f} {every:7.1f}")
        browser.close()


if __name__ == "__main__":
    main()
