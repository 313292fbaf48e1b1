"""Certificates made for one cluster: an authority that signs and is forgotten, and what servers read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

STORE_PASSWORD = "steelyard"  # noqa: S105 - Java wants one; the mode of the file keeps the key
VALID = timedelta(days=3650)
"""A cluster may stay long, and its authority's key is nowhere to make others with."""


class Authority:
    """An authority of one's own; its key lives in memory only.

    Args:
        name: of whom its certificates are, e.g. the cluster.
    """

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(f"{name} authority")
        can_sign = x509.BasicConstraints(ca=True, path_length=0)
        builder = _builder(self._name, self._name, self._key).add_extension(can_sign, critical=True)
        self.certificate = builder.sign(self._key, hashes.SHA256())

    @property
    def pem(self) -> str:
        """Its certificate as PEM, by which all that it has signed is known."""
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def client(self, name: str) -> tuple[str, bytes]:
        """A client's certificate and key, as PEM."""
        key, signed = self._issue(name, [])
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return signed.public_bytes(Encoding.PEM).decode(), private

    def stores(self, name: str, address: str) -> tuple[bytes, bytes]:
        """A server's certificate with its key, and whom it trusts, as PKCS 12 with `STORE_PASSWORD`."""
        key, signed = self._issue(name, [x509.IPAddress(ip_address(address))])
        shut = BestAvailableEncryption(STORE_PASSWORD.encode())
        trusted = [pkcs12.PKCS12Certificate(self.certificate, b"authority")]
        return (
            pkcs12.serialize_key_and_certificates(name.encode(), key, signed, [self.certificate], shut),
            pkcs12.serialize_java_truststore(trusted, shut),
        )

    def _issue(
        self, name: str, addresses: Sequence[x509.GeneralName]
    ) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
        key = ec.generate_private_key(ec.SECP256R1())
        uses = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = (
            _builder(_named(name), self._name, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        )
        if addresses:
            builder = builder.add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        return key, builder.sign(self._key, hashes.SHA256())


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + VALID)
    )
