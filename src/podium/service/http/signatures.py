"""Signatures of Xonotic servers, verified by the tool that Xonotic has for it.

Source: d0_blind_id (BSD-3-Clause), `crypto-keygen-standalone`; no library for Python has it.
"""

import base64
import os
import re
import shutil
import subprocess

from podium.service.http.temporary import temporary_folder

TOOL = "crypto-keygen-standalone"
PUBLIC_KEY_VARIABLE = "PODIUM_D0_PUBLIC_KEY"  # where the key is that signs the keys of servers
PUBLIC_KEY = "key_0.d0pk"
LIMIT_S = 10.0
FINGERPRINT = re.compile(r"^[A-Za-z0-9+/]{43}=$")


def verify_signature(body: bytes, query: str, signature: str) -> str | None:
    """Verify the signature of a report.

    Args:
        query: of the address, without its question mark; it is signed with the body.
        signature: in base64.

    Returns:
        The server's fingerprint, where its key is signed by Xonotic's; None where it is not, or there is no such tool.
    """
    tool = shutil.which(TOOL)
    try:
        detached = base64.b64decode(signature, validate=True)
    except ValueError:
        return None
    if tool is None or not detached:
        return None
    with temporary_folder() as folder:
        signed, sealed = folder / "body", folder / "signature"
        signed.write_bytes(body + b"\0" + query.encode())
        sealed.write_bytes(detached)
        key = os.environ.get(PUBLIC_KEY_VARIABLE, PUBLIC_KEY)
        command = [tool, "-p", key, "-d", str(signed), "-s", str(sealed)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)  # noqa: S603  (the tool)
        except (OSError, subprocess.TimeoutExpired):
            return None
    verdict, fingerprint, *_ = [*done.stdout.decode("ascii", "replace").split(), "", ""]
    verified = done.returncode == 0 and verdict == "1" and FINGERPRINT.match(fingerprint) is not None
    return fingerprint if verified else None
