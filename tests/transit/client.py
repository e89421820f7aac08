"""hvac, unchanged: keys of classical types by its own methods, and of ML-DSA, which it does not know, by `write_data`."""

import base64
import os
import subprocess
import tempfile

import hvac

client = hvac.Client(
    url=os.environ["VAULT_ADDR"],
    token=os.environ["VAULT_TOKEN"],
    verify=os.environ["VAULT_CACERT"],
)
transit = client.secrets.transit


def encoded(message):
    return base64.b64encode(message).decode()


def refused(error, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except error as raised:
        return raised
    raise AssertionError(f"{call} was not refused")


def signed(name, message, **manner):
    return transit.sign_data(name, hash_input=encoded(message), **manner)["data"]["signature"]


def verifies(name, message, signature, **manner):
    answer = transit.verify_signed_data(name, hash_input=encoded(message), signature=signature, **manner)
    return answer["data"]["valid"]


def lifecycle(name, **manner):
    """Signs, rotates, verifies both, exports, raises the minimum, trims."""
    first = signed(name, b"message", **manner)
    assert first.startswith("vault:v1:"), first
    transit.rotate_key(name)
    second = signed(name, b"message", **manner)
    assert second.startswith("vault:v2:"), second
    for signature in (first, second):
        assert verifies(name, b"message", signature, **manner)
        assert not verifies(name, b"another", signature, **manner)
    assert not verifies(name, b"message", second.replace("vault:v2:", "vault:v1:"), **manner)
    old = transit.sign_data(name, hash_input=encoded(b"x"), key_version=1, **manner)
    assert old["data"]["key_version"] == 1

    batch = [{"input": encoded(b"1")}, {"input": encoded(b"2")}]
    results = transit.sign_data(name, batch_input=batch, **manner)["data"]["batch_results"]
    assert len(results) == 2
    assert verifies(name, b"2", results[1]["signature"], **manner)

    exported = transit.export_key(name, key_type="signing-key")["data"]
    assert sorted(exported["keys"]) == ["1", "2"], exported["keys"].keys()
    assert "PRIVATE KEY" in exported["keys"]["1"]
    assert list(transit.export_key(name, key_type="signing-key", version="2")["data"]["keys"]) == ["2"]

    transit.update_key_configuration(name, min_decryption_version=2)
    refused(hvac.exceptions.InvalidRequest, verifies, name, b"message", first, **manner)
    # As with Vault, not without a minimum to sign.
    refused(hvac.exceptions.InvalidRequest, transit.trim_key, name, min_version=2)
    transit.update_key_configuration(name, min_encryption_version=2)
    transit.trim_key(name, min_version=2)
    key = transit.read_key(name)["data"]
    assert list(key["keys"]) == ["2"], key["keys"].keys()
    assert key["latest_version"] == 2 and key["min_available_version"] == 2
    assert verifies(name, b"message", second, **manner)

    refused(hvac.exceptions.InvalidRequest, transit.delete_key, name)
    transit.update_key_configuration(name, deletion_allowed=True)
    transit.delete_key(name)
    refused(hvac.exceptions.InvalidPath, transit.read_key, name)


def openssl(*arguments, data=b""):
    return subprocess.run(["openssl", *arguments], input=data, stdout=subprocess.PIPE, check=True).stdout


def imported():
    """A key that OpenSSL made and wrapped comes in, and another one as its next version."""
    wrapping_key = client.read("transit/wrapping_key")["data"]["public_key"]
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(wrapping_key)
        file.flush()

        def ciphertext(private_key):
            aes_key = os.urandom(32)
            oaep = ["rsa_padding_mode:oaep", "rsa_oaep_md:sha256", "rsa_mgf1_md:sha256"]
            options = [part for option in oaep for part in ("-pkeyopt", option)]
            first = openssl("pkeyutl", "-encrypt", "-pubin", "-inkey", file.name, *options, data=aes_key)
            kwp = ["-id-aes256-wrap-pad", "-K", aes_key.hex(), "-iv", "A65959A6"]
            return encoded(first + openssl("enc", *kwp, data=private_key))

        private_keys = [
            openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-outform", "DER")
            for _ in range(2)
        ]
        # It writes the form of RFC 5915, and PKCS#8 of that.
        private_keys = [openssl("pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-outform", "DER", data=key) for key in private_keys]
        path = "transit/keys/hvac-imported"
        body = {"type": "ecdsa-p256", "ciphertext": ciphertext(private_keys[0])}
        client.write_data(f"{path}/import", data={**body, "exportable": True})
        refused(hvac.exceptions.InvalidRequest, client.write_data, f"{path}/import", data=body)
        client.write_data(f"{path}/import_version", data={"ciphertext": ciphertext(private_keys[1])})
    key = transit.read_key("hvac-imported")["data"]
    assert key["imported_key"] is True
    for version, private_key in zip(("1", "2"), private_keys):
        public_key = openssl("pkey", "-inform", "DER", "-pubout", data=private_key).decode()
        assert key["keys"][version]["public_key"].strip() == public_key.strip()
    signature = signed("hvac-imported", b"message")
    assert signature.startswith("vault:v2:") and verifies("hvac-imported", b"message", signature)


assert client.is_authenticated()
assert client.lookup_token()["data"]["display_name"] == "client"
assert client.sys.read_health_status(method="GET")["sealed"] is False
assert client.sys.is_initialized() and not client.sys.is_sealed()
assert client.sys.read_leader_status()["ha_enabled"] is False

for key_type, manner in [
    ("ed25519", {}),
    ("ecdsa-p256", {}),
    ("ecdsa-p384", {"hash_algorithm": "sha2-384"}),
    ("rsa-2048", {"signature_algorithm": "pkcs1v15"}),
]:
    name = f"hvac-{key_type}"
    transit.create_key(name, key_type=key_type, exportable=True)
    assert name in transit.list_keys()["data"]["keys"]
    assert transit.read_key(name)["data"]["type"] == key_type
    lifecycle(name, **manner)

for name, data in [
    ("hvac-ml-dsa", {"type": "ml-dsa", "parameter_set": "65"}),
    ("hvac-mldsa-87", {"type": "mldsa-87"}),
    ("hvac-slh-dsa", {"type": "slh-dsa", "parameter_set": "slh-dsa-shake-128f"}),
]:
    client.write_data(f"transit/keys/{name}", data={**data, "exportable": True})
    lifecycle(name)

client.write_data("transit/keys/hvac-ml-kem", data={"type": "ml-kem", "parameter_set": "768"})
sealed = transit.encrypt_data("hvac-ml-kem", plaintext=encoded(b"secret"))["data"]["ciphertext"]
assert transit.decrypt_data("hvac-ml-kem", ciphertext=sealed)["data"]["plaintext"] == encoded(b"secret")
made = transit.generate_data_key("hvac-ml-kem", key_type="plaintext", bits=256)["data"]
opened = transit.decrypt_data("hvac-ml-kem", ciphertext=made["ciphertext"])
assert opened["data"]["plaintext"] == made["plaintext"]

# A new version encrypts from now on, and what is older becomes one of it.
transit.rotate_key("hvac-ml-kem")
rewrapped = transit.rewrap_data("hvac-ml-kem", ciphertext=sealed)["data"]
assert rewrapped["key_version"] == 2 and rewrapped["ciphertext"].startswith("vault:v2:")
opened = transit.decrypt_data("hvac-ml-kem", ciphertext=rewrapped["ciphertext"])
assert opened["data"]["plaintext"] == encoded(b"secret")

# A batch of which an item fails is an error, unless the client wants another status, and names what failed.
batch = [{"ciphertext": sealed, "reference": "a"}, {"ciphertext": "vault:v1:AAAA", "reference": "b"}]
refused(hvac.exceptions.InvalidRequest, transit.decrypt_data, "hvac-ml-kem", batch_input=batch)
data = {"batch_input": batch, "partial_failure_response_code": 200}
results = client.write_data("transit/decrypt/hvac-ml-kem", data=data)["data"]["batch_results"]
assert results[0] == {"plaintext": encoded(b"secret"), "reference": "a"}, results
assert results[1]["error"] and results[1]["plaintext"] == "" and results[1]["reference"] == "b", results

imported()

error = refused(hvac.exceptions.InvalidRequest, transit.create_key, "hvac-none", key_type="ecdsa-p521")
why = ["keys of type ecdsa-p521 are not supported here: of ECDSA there are ecdsa-p256 and ecdsa-p384"]
assert error.errors == why, error.errors
# For what isn't there, it reads nothing.
assert client.read("transit/nothing") is None
assert client.read("kv/secret") is None
stranger = hvac.Client(url=client.url, token=os.environ["STRANGER"], verify=os.environ["VAULT_CACERT"])
for name in ("hvac-ml-kem", "hvac-missing"):
    error = refused(hvac.exceptions.Forbidden, stranger.secrets.transit.read_key, name)
    assert error.errors == ["permission denied"], error.errors
