"""The API's own TLS certificate: made once, kept for its owner's eyes, and made anew when it has run out.

Nobody else vouches for it. Callers trust the file, or compare its fingerprint. Any thread.
"""

from __future__ import annotations

import hashlib
import ipaddress
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from app.system import paths
from app.system.files import replacing

if TYPE_CHECKING:
    from cryptography import x509

VALID_DAYS = 820  # Apple's systems take none that is valid for longer
LEFT_DAYS = 30
NAMES = ("localhost", "127.0.0.1", "::1")
ANY_ADDRESS = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files in PEM form. Without a `key`, it is in the file of the certificate."""

    file: Path
    key: Path | None = None

    @property
    def fingerprint(self) -> str:
        """SHA-256, as browsers and openssl write it. Raises OSError."""
        text = self.file.read_text(encoding="ascii", errors="replace")
        begin = text.find(BEGIN)
        if begin < 0:
            raise OSError(f"{self.file} holds no certificate in PEM form.")
        try:
            data = ssl.PEM_cert_to_DER_cert(text[begin : text.find(END, begin) + len(END)])
        except ValueError as error:
            raise OSError(f"{self.file} holds no certificate in PEM form.") from error
        return hashlib.sha256(data).digest().hex(":").upper()

    def context(self) -> ssl.SSLContext:
        """For a server. Raises OSError."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        for path in filter(None, (self.file, self.key)):
            path.open("rb").close()  # the next call's error would not name the file
        try:
            context.load_cert_chain(self.file, self.key, password=lambda: b"")
        except (ssl.SSLError, ValueError) as error:
            files = f"{self.file} and {self.key}" if self.key else str(self.file)
            raise OSError(
                f"{files} cannot be used for TLS. They must be a certificate and its key in PEM form, "
                "without a password."
            ) from error
        return context


BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def own_certificate(hosts: Sequence[str]) -> Certificate:
    """For these addresses and this machine's names. Takes a moment where it must be made. Raises OSError."""
    file = paths.certificate_file()
    certificate = Certificate(file, paths.private_dir(file.parent) / "api-key.pem")
    wanted = sorted({*NAMES, *_own_names(), *hosts} - {*ANY_ADDRESS, ""})
    if not _is_usable(certificate, wanted):
        _make(certificate, wanted)
    return certificate


def _own_names() -> list[str]:
    name = socket.gethostname().lower()
    return [name, f"{name}.local"] if name.isascii() else []


def _is_usable(certificate: Certificate, wanted: Sequence[str]) -> bool:
    from cryptography import x509

    try:
        found = x509.load_pem_x509_certificate(certificate.file.read_bytes())
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        certificate.context()
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    is_valid = found.not_valid_after_utc - datetime.now(UTC) > timedelta(days=LEFT_DAYS)
    return is_valid and set(map(_general_name, wanted)) <= set(names)


def _make(certificate: Certificate, names: Sequence[str]) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Skein")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # clocks differ
        .not_valid_after(now + timedelta(days=VALID_DAYS))
        .add_extension(x509.SubjectAlternativeName(list(map(_general_name, names))), critical=False)
        # It can vouch for no other: who trusts it trusts nothing else.
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    written = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    assert certificate.key
    for path, data in (
        (certificate.key, written),
        (certificate.file, built.public_bytes(serialization.Encoding.PEM)),
    ):
        with replacing(path) as file:
            file.write(data.decode("ascii"))


def _general_name(name: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        return x509.DNSName(name)
