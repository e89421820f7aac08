"""What is raised and written when something goes wrong: exceptions as the interpreter ends, files on full disks, too much
of something, signals."""

import datetime
import mmap
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy
import pqtls
import pytest
from algorithms import decapsulation_key, signing_key


def run(program: str, *arguments: str, cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "faulthandler", "-X", "dev", "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)


def test_the_first_exception_as_the_interpreter_ends():
    ended = run("""
import pqtls
key = pqtls.SigningKey.generate("ML-DSA-44")
class Last:
    def __init__(self):
        self.key, self.error, self.print = key, pqtls.InvalidSignature, print
    def __del__(self):
        try:
            self.key.verifying_key.verify(b"m", b"bad")
        except self.error as error:
            self.print("raised", error)
        try:
            self.key.from_pem("no key")
        except Exception:
            self.print("raised")
last = Last()
""")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "raised invalid ML-DSA-44 signature\nraised\n", "")


def test_exceptions_after_errors_is_gone():
    ended = run("""
import sys, pqtls
sys.modules["pqtls._errors"] = None
try:
    pqtls.SigningKey.generate("none")
except pqtls.UnknownAlgorithm:
    print("raised")
""")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "raised\n", "")


def test_exceptions_of_a_vendored_package(tmp_path):
    shutil.copytree(pathlib.Path(pqtls.__file__).parent, tmp_path / "mine" / "vendored")
    program = """
import sys
sys.modules["pqtls"] = None
import mine.vendored as vendored
try:
    vendored.SigningKey.generate("none")
except vendored.UnknownAlgorithm:
    print("raised")
"""
    ended = run(program, cwd=tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "raised\n", "")


def test_nothing_is_imported_later():
    """What PyO3 imports is imported by then: a child that was forked while another thread imports would wait for ever."""
    ended = run("""
import builtins, datetime, ipaddress, pqtls
key = pqtls.SigningKey.generate("ML-DSA-44")
address, now = ipaddress.ip_address("127.0.0.1"), datetime.datetime.now(datetime.UTC)
imported = []
def note(name, *rest, original=builtins.__import__):
    imported.append(name)
    return original(name, *rest)
builtins.__import__ = note
root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("R").validity(now, now + datetime.timedelta(1)), key)
leaf = root.issue(pqtls.CertificateBuilder.server().ip_address(address), key)
leaf.not_after, leaf.ip_addresses
pqtls.ChainValidator([root.certificate]).validate_server([leaf], "127.0.0.1")
pqtls.verify_many(key.verifying_key, [b"m"], [b""])
try:
    pqtls.ChainValidator(5)
except TypeError:
    pass
builtins.__import__ = note.__kwdefaults__["original"]
print(imported)
""")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[]\n", "")


@pytest.mark.parametrize("first", ["verify_many", "certificates"])
def test_first_calls_in_children(first):
    """Children are forked while other threads do something for the first time."""
    work = {
        "verify_many": "assert pqtls.verify_many(public, [b'm'] * 40, [signature] * 40) == [True] * 40",
        "certificates": "leaf.verify_signature(root.certificate); leaf.not_after; leaf.ip_addresses; validator.validate_server([leaf], '::1')",
    }[first]
    for _ in range(3):
        ended = run(f"""
import os, signal, sys, threading, warnings, pqtls
warnings.simplefilter("ignore")
key = pqtls.SigningKey.generate("ML-DSA-44")
public, signature = key.verifying_key, key.sign(b"m")
root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("R"), key)
leaf = root.issue(pqtls.CertificateBuilder.server().ip_address("::1"), key)
validator = pqtls.ChainValidator([root.certificate])
sys.setswitchinterval(1e-6)
def work():
    for _ in range(10):
        {work}
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    children.append(child)
for child in children:
    assert os.waitpid(child, 0)[1] == 0
for thread in threads: thread.join()
print("end")
""")
        assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr


def test_a_full_disk_leaves_the_old_key(tmp_path):
    key = signing_key("ML-DSA-44")
    path = tmp_path / "key"
    key.save(path)
    before = path.read_bytes()
    ended = run(
        """
import resource, signal, sys, pqtls
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
key = pqtls.SigningKey.generate("ML-DSA-44")
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
for keywords in ({"overwrite": True}, {"form": "expanded", "overwrite": True}):
    try:
        key.save(sys.argv[1], **keywords)
    except OSError as error:
        assert error.filename == sys.argv[1], error
        print("refused")
try:
    key.save(sys.argv[1] + ".new")
except OSError:
    print("refused")
""",
        str(path),
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "refused\n" * 3, "")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["key"]


# Notes each step that makes a file stay, since nothing but a loss of power would show that one is missing. The rename that
# replaces nothing is a system call that no library sees, so each sync says whether the key has its name by then.
NOTING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int fsync(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        const char *named = access(getenv("KEY"), F_OK) == 0 ? "named" : "unnamed";
        fprintf(stderr, "%s: sync %s\n", named, path);
    }
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return next(file);
}

int rename(const char *old, const char *new) {
    fprintf(stderr, "rename to %s\n", new);
    int (*next)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    return next(old, new);
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is Linux's")
def test_saved_keys_and_their_names_are_on_the_disk(tmp_path):
    source, library, folder = tmp_path / "noting.c", tmp_path / "noting.so", tmp_path / "keys"
    source.write_text(NOTING)
    folder.mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    program = """
import sys, pqtls
key = pqtls.SigningKey.generate("ML-DSA-44")
key.save(sys.argv[1])
key.verifying_key.save(sys.argv[1], overwrite=True)
"""
    command = [sys.executable, "-c", program, str(folder / "key")]
    environment = {**os.environ, "LD_PRELOAD": str(library), "KEY": str(folder / "key")}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    steps = ended.stderr.splitlines()
    assert (ended.returncode, len(steps)) == (0, 5), ended.stderr
    # A draft gets its name when it is complete: by a rename that replaces nothing, or by one that replaces the key.
    assert steps[0].startswith(f"unnamed: sync {folder}/.pqtls-")
    assert steps[1] == f"named: sync {folder}"
    assert steps[2].startswith(f"named: sync {folder}/.pqtls-")
    assert steps[3:] == [f"rename to {folder / 'key'}", f"named: sync {folder}"]


def test_what_cannot_be_replaced(tmp_path):
    with pytest.raises(IsADirectoryError):
        signing_key("ML-DSA-44").save(tmp_path, overwrite=True)
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError):
        signing_key("ML-DSA-44").save(folder, overwrite=True)
    assert os.listdir(tmp_path) == ["folder"]


def test_more_than_there_is_memory_for():
    key = signing_key("ML-DSA-44").verifying_key
    large = numpy.broadcast_to(numpy.uint8(0), (2**62,))
    rows = numpy.zeros((2**60, 0), numpy.uint8)
    with pytest.raises(MemoryError):
        key.verify(large, b"")
    with pytest.raises(MemoryError):
        pqtls.verify_many(key, [large], [b""])
    with pytest.raises(MemoryError):
        pqtls.verify_many(key, numpy.broadcast_to(numpy.uint8(0), (1, 2**62)), [b""])
    with pytest.raises(MemoryError):
        pqtls.verify_many(key, rows, rows)


class Own(Exception):
    """An exception of the caller."""


def takers_of_bytes():
    key = signing_key("ML-DSA-44")
    root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("R"), key)
    return [
        key.sign,
        lambda it: key.sign(b"", context=it),
        lambda it: key.verifying_key.verify(b"", it),
        key.hasher().update,
        pqtls.SigningKey.from_der,
        pqtls.SigningKey.from_pem,
        lambda it: key.to_pem(passphrase=it),
        pqtls.HashedMessage.from_mu,
        lambda it: pqtls.verify_many(key.verifying_key, it, [b""]),
        lambda it: pqtls.verify_many(key.verifying_key, [it], [b""]),
        lambda it: root.issue(pqtls.CertificateBuilder.client(), it),
    ]


def test_buffers_that_are_gone():
    closed, released = mmap.mmap(-1, 10), memoryview(b"m")
    closed.close()
    released.release()
    for gone, words in ((closed, "mmap closed or invalid"), (released, "released memoryview")):
        for take in takers_of_bytes():
            with pytest.raises(ValueError, match=words) as raised:
                take(gone)
            assert type(raised.value) is ValueError


def test_what_is_not_bytes_like():
    for other in (5, numpy.zeros((4, 4)), memoryview(b"1234").cast("i")):
        for take in takers_of_bytes():
            with pytest.raises(TypeError, match="required, not|not iterable"):
                take(other)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ is new in Python 3.12")
def test_buffers_that_raise():
    class Buffer:
        def __buffer__(self, flags):
            raise error

    for error in (Own("own"), TypeError("own"), BufferError("own"), KeyboardInterrupt("own")):
        for take in takers_of_bytes():
            with pytest.raises(type(error)) as raised:
                take(Buffer())
            assert raised.value is error


def test_paths_that_raise():
    class Path:
        def __fspath__(self):
            raise error

    key = signing_key("ML-DSA-44")
    for error in (Own("own"), TypeError("own")):
        for take in (
            pqtls.load_private_key,
            pqtls.load_public_key,
            pqtls.SigningKey.load,
            pqtls.VerifyingKey.load,
            pqtls.Certificate.load_chain,
            key.save,
            key.verifying_key.save,
        ):
            with pytest.raises(type(error)) as raised:
                take(Path())
            assert raised.value is error


def test_time_zones_that_raise():
    class Zone(datetime.tzinfo):
        def utcoffset(self, when):
            self.calls += 1
            if self.calls > self.good_calls:
                raise error
            return datetime.timedelta(0)

    root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("R"), signing_key("ML-DSA-44"))
    validator = pqtls.ChainValidator([root.certificate])
    zone = Zone()
    time = datetime.datetime(2030, 1, 1, tzinfo=zone)
    for error in (Own("own"), ValueError("own"), TypeError("own")):
        for zone.good_calls in (0, 1):
            for take in (
                lambda time: pqtls.CertificateBuilder.server().validity(time, time),
                lambda time: pqtls.CertificateRevocationListBuilder(1).revoke(5, time),
                lambda time: validator.validate_server([], "example.org", time),
            ):
                zone.calls = 0
                with pytest.raises(type(error)) as raised:
                    take(time)
                assert raised.value is error


def pre_hash_twins() -> list[pqtls.SigningKey]:
    """One private key of SLH-DSA, for messages and for their hashes: the last arc of the object identifier is 20 and 35
    (RFC 9909)."""
    key = signing_key("SLH-DSA-SHA2-128f")
    der = key.to_der()
    oid = bytes.fromhex("060960864801650304 03".replace(" ", ""))
    place = der.index(oid) + len(oid)
    other = {0x14: 0x23, 0x15: 0x24}[der[place]]
    return [key, pqtls.SigningKey.from_der(der[:place] + bytes([other]) + der[place + 1 :])]


def test_equal_keys_have_equal_hashes():
    pure, pre_hash = pre_hash_twins()
    assert (pure.is_pre_hash, pre_hash.is_pre_hash) == (False, True)
    assert pre_hash.verifying_key.is_pre_hash
    assert pure != pre_hash and pure.verifying_key != pre_hash.verifying_key
    assert len({pure, pre_hash}) == 2
    for key in (pure, pre_hash):
        again = pqtls.SigningKey.from_der(key.to_der())
        assert again == key and hash(again) == hash(key)


def test_hashes_differ_from_process_to_process():
    der = signing_key("ML-DSA-44").verifying_key.to_der().hex()
    program = "import pqtls, sys; print(hash(pqtls.VerifyingKey.from_der(bytes.fromhex(sys.argv[1]))))"
    assert run(program, der).stdout != run(program, der).stdout


@pytest.mark.parametrize(
    "use",
    [
        pqtls.SigningKey.generate,
        pqtls.DecapsulationKey.generate,
        lambda name: pqtls.VerifyingKey.from_bytes(name, b""),
        lambda name: signing_key("ML-DSA-44").to_pem(form=name),
        lambda name: signing_key("ML-DSA-44").sign(b"", pre_hash=name),
        lambda name: pqtls.CertificateBuilder.ca("R").key_usage(name),
    ],
)
def test_errors_show_little_of_what_was_passed(use):
    with pytest.raises(pqtls.UnknownAlgorithm, match='^"a{32}\\.\\.\\." is not a') as refused:
        use("a" * 33 + "SECRET")
    assert "SECRET" not in str(refused.value)
    with pytest.raises(pqtls.UnknownAlgorithm, match=r'^"x\?\?\?\?y" is not a'):
        use('x\n\x1bé"y')


def test_texts_in_other_encodings(tmp_path):
    key, recipient = signing_key("ML-DSA-44"), decapsulation_key("ML-KEM-512")
    root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("R"), key)
    request = pqtls.RequestBuilder().dns_name("example.org").sign(key)
    crl = root.issue_revocation_list(pqtls.CertificateRevocationListBuilder(1))
    for thing, error in (
        (key, pqtls.InvalidKey),
        (recipient, pqtls.InvalidKey),
        (key.verifying_key, pqtls.InvalidKey),
        (recipient.encapsulation_key, pqtls.InvalidKey),
        (root.certificate, pqtls.CertificateError),
        (request, pqtls.RequestError),
        (crl, pqtls.RevocationListError),
    ):
        kind = type(thing)
        pem = "Schlüssel\n".encode("latin-1") + thing.to_pem().encode()
        path = tmp_path / "pem"
        path.write_bytes(pem)
        assert kind.from_pem(pem) == kind.load(path) == thing
        path.write_bytes(b"\xff\xfe")
        for read in (lambda: kind.from_pem(b"\xff"), lambda: kind.load(path)):
            with pytest.raises(error) as refused:
                read()
            assert type(refused.value) is error
    inside = pem.replace(b"M", b"\xff", 1)
    with pytest.raises(pqtls.RevocationListError):
        pqtls.CertificateRevocationList.from_pem(inside)


def test_the_context_of_no_signatures():
    with pytest.raises(pqtls.OperationError, match="255 bytes"):
        pqtls.verify_many(signing_key("ML-DSA-44").verifying_key, [], [], context=bytes(256))


def test_one_failure_stops_all():
    """The first key is for another hash, so the whole call fails: the rest, which takes some seconds, is left out."""
    pure, pre_hash = pre_hash_twins()
    signature = pure.sign(b"m", pre_hash="SHA-512")
    keys = [pre_hash.verifying_key] + [pure.verifying_key] * 20_000
    start = time.process_time()
    with pytest.raises(pqtls.OperationError):
        pqtls.verify_many(keys, [b"m"] * len(keys), [signature] * len(keys), pre_hash="SHA-512", threads=2)
    assert time.process_time() - start < 1


def test_signals_end_verify_many():
    # Programs in the background ignore SIGINT, and so does what they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupt_verify_many()
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt_verify_many():
    key = signing_key("SLH-DSA-SHA2-128f")
    signature = key.sign(b"m")
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    # All of them take half a minute or more. The time that is spent counts, and not that which passes: the machine may be
    # busy.
    start = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        pqtls.verify_many(key.verifying_key, [b"m"] * 400_000, [signature] * 400_000, threads=2)
    timer.join()
    assert time.process_time() - start < 5


@pytest.mark.parametrize("algorithm", ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"])
def test_small_stacks(algorithm):
    """512 KiB are enough for each call, as the README says."""
    ended = run(f"""
import threading, pqtls
threading.stack_size(512 * 1024)
def work():
    key = pqtls.SigningKey.generate("{algorithm}")
    signature = key.sign(b"m")
    for _ in range(3):
        key.verifying_key.verify(b"m", signature)
    assert all(pqtls.verify_many(key.verifying_key, [b"m"] * 40, [signature] * 40))
    root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("R"), key)
    for _ in range(3):
        root.certificate.verify_signature(root.certificate)
    print("end")
thread = threading.Thread(target=work)
thread.start()
thread.join()
""")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")
