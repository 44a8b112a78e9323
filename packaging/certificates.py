"""Run by the frozen program before all else: where this system keeps the authorities it trusts.

The OpenSSL that comes along is Debian's and looks where Debian has them. Other systems have them elsewhere,
and downloads would trust no server.
"""

import os

DEBIANS = "/usr/lib/ssl/certs"
OTHERS = (
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # Arch, Alpine
    "/etc/ssl/certs/ca-certificates.crt",
)

if not os.path.exists(DEBIANS) and "SSL_CERT_FILE" not in os.environ:  # noqa: PTH110
    found = next(filter(os.path.exists, OTHERS), None)
    if found:
        os.environ["SSL_CERT_FILE"] = found
