"""Encryption of secrets by a passphrase: AES-256-GCM with a key that scrypt derives from it."""

from __future__ import annotations

import secrets
from typing import Annotated

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from pydantic import Base64Bytes, BaseModel, ConfigDict, Field

MIN_PASSPHRASE_CHARACTERS = 12
SCRYPT_N, SCRYPT_R, SCRYPT_P = 2**17, 8, 1  # 128 MiB and about half a second for each guess
MAX_SCRYPT_N, MAX_SCRYPT_R, MAX_SCRYPT_P = 2**20, 32, 16  # that a file may ask for
KEY_BYTES, SALT_BYTES, NONCE_BYTES = 32, 16, 12
PURPOSE = b"crowdpilot backup secrets"  # authenticated with the text


class EncryptedText(BaseModel):
    """An encrypted text, with all but the passphrase that is needed to decrypt it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scrypt_n: Annotated[int, Field(ge=2, le=MAX_SCRYPT_N)]
    scrypt_r: Annotated[int, Field(ge=1, le=MAX_SCRYPT_R)]
    scrypt_p: Annotated[int, Field(ge=1, le=MAX_SCRYPT_P)]
    salt: Base64Bytes
    nonce: Base64Bytes
    ciphertext: Base64Bytes


def encrypt(text: str, passphrase: str) -> EncryptedText:
    """Encrypt a text; a `ValueError` if the passphrase is too short."""
    if len(passphrase) < MIN_PASSPHRASE_CHARACTERS:
        raise ValueError(
            f"the passphrase is shorter than {MIN_PASSPHRASE_CHARACTERS} characters; take a longer one"
        )
    salt, nonce = secrets.token_bytes(SALT_BYTES), secrets.token_bytes(NONCE_BYTES)
    key = Scrypt(salt, KEY_BYTES, SCRYPT_N, SCRYPT_R, SCRYPT_P).derive(passphrase.encode())
    return EncryptedText.model_construct(
        scrypt_n=SCRYPT_N, scrypt_r=SCRYPT_R, scrypt_p=SCRYPT_P, salt=salt, nonce=nonce,
        ciphertext=AESGCM(key).encrypt(nonce, text.encode(), PURPOSE),
    )  # fmt: skip


def decrypt(encrypted: EncryptedText, passphrase: str) -> str:
    """Decrypt a text; a `ValueError` if the passphrase is another, or the text was changed."""
    e = encrypted
    try:
        key = Scrypt(e.salt, KEY_BYTES, e.scrypt_n, e.scrypt_r, e.scrypt_p).derive(passphrase.encode())
        return AESGCM(key).decrypt(e.nonce, e.ciphertext, PURPOSE).decode()
    except InvalidTag:
        raise ValueError("the passphrase is not that of the backup; give the right one") from None
