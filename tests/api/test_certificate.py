"""TLS with the server's own certificate, or with one that is given."""

import hashlib
import ssl
import stat
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest
from cryptography import x509

from app.api import certificate
from app.api.certificate import Certificate, own_certificate
from app.system import paths
from tests.api.conftest import serving


async def test_a_caller_who_trusts_the_certificate_is_answered_and_another_turns_away():
    own = own_certificate(["127.0.0.1"])
    trusting = ssl.create_default_context(cafile=str(own.file))
    async with serving(tls=own.context()) as served:
        assert served.server.address.startswith("https://127.0.0.1:")
        url = served.server.address + "/v1/models"
        for name in ("127.0.0.1", "localhost"):
            async with served.http.get(url.replace("127.0.0.1", name), ssl=trusting) as response:
                assert response.status == 200
        pinned = aiohttp.Fingerprint(bytes.fromhex(own.fingerprint.replace(":", "")))
        async with served.http.get(url, ssl=pinned) as response:
            assert response.status == 200
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await served.http.get(url)
        with pytest.raises(aiohttp.ClientError):
            await served.http.get(url.replace("https", "http"))


def test_it_is_made_once_and_readable_by_its_owner_alone():
    own = own_certificate(["192.168.1.5"])
    again = own_certificate(["192.168.1.5"])
    assert own.fingerprint == again.fingerprint
    assert own.file.is_relative_to(paths.config_dir())
    for path in (own.file, own.key):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(own.file.parent.stat().st_mode) == 0o700
    der = ssl.PEM_cert_to_DER_cert(own.file.read_text())
    assert own.fingerprint.replace(":", "").lower() == hashlib.sha256(der).hexdigest()


def test_it_is_made_anew_for_another_address_when_it_runs_out_or_is_broken(monkeypatch):
    first = own_certificate(["127.0.0.1"]).fingerprint
    second = own_certificate(["192.168.1.5"]).fingerprint
    assert second != first
    assert own_certificate(["127.0.0.1"]).fingerprint == second  # which it was for, too
    with monkeypatch.context() as later:
        later.setattr(certificate, "LEFT_DAYS", certificate.VALID_DAYS + 1)
        third = own_certificate(["127.0.0.1"]).fingerprint
    assert third != second
    paths.certificate_file().with_name("api-key.pem").write_text("nothing")
    assert own_certificate(["127.0.0.1"]).fingerprint != third


def test_no_system_finds_it_valid_for_too_long():
    found = x509.load_pem_x509_certificate(own_certificate([]).file.read_bytes())
    assert found.not_valid_after_utc - found.not_valid_before_utc < timedelta(days=825)
    assert found.not_valid_before_utc < datetime.now(UTC)


def test_a_certificate_that_is_given_may_hold_its_key(tmp_path):
    own = own_certificate([])
    both = tmp_path / "both.pem"
    both.write_text(own.key.read_text() + own.file.read_text())
    assert Certificate(both).fingerprint == own.fingerprint
    Certificate(both).context()


def test_what_is_no_certificate_is_said_so(tmp_path):
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("nothing")
    with pytest.raises(OSError, match="cannot be used for TLS"):
        Certificate(wrong).context()
    with pytest.raises(OSError, match="no certificate"):
        _ = Certificate(wrong).fingerprint
    with pytest.raises(OSError, match="nowhere"):
        Certificate(tmp_path / "nowhere.pem").context()
