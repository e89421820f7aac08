"""Threads, forks, and the end of the interpreter: never a crash."""

import functools
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pqtls
import pytest
from algorithms import decapsulation_key, signing_key


def run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "faulthandler", "-X", "dev", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@functools.cache
def signature():
    return signing_key("ML-DSA-65").sign(b"message")


def test_threads_share_keys():
    key = pqtls.SigningKey.generate("ML-DSA-44")
    recipient = pqtls.DecapsulationKey.generate("ML-KEM-512")
    hasher = key.verifying_key.hasher()
    failures = []

    def work():
        try:
            for _ in range(50):
                key.verifying_key.verify(b"message", key.sign(b"message"))
                secret, ciphertext = recipient.encapsulation_key.encapsulate()
                assert recipient.decapsulate(ciphertext) == secret
                hasher.update(b"piece")
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    whole = key.verifying_key.hasher()
    whole.update(b"piece" * 400)
    assert hasher.finish() == whole.finish()


@pytest.mark.parametrize(
    "work",
    [
        lambda: pqtls.SigningKey.generate("SLH-DSA-SHAKE-192s"),
        lambda: signing_key("SLH-DSA-SHA2-256f").sign(b"message"),
        lambda: signing_key("ML-DSA-65").sign(bytes(20_000_000)),
        lambda: pqtls.verify_many(
            signing_key("ML-DSA-65").verifying_key, [b"message"] * 5000, [signature()] * 5000, threads=1
        ),
    ],
)
def test_others_run_meanwhile(work):
    """While one thread computes, another one gets on: the interpreter's lock is free."""
    signing_key("SLH-DSA-SHA2-256f"), signature()
    # On a busy machine this thread may stand still during one try for another reason, but not during all.
    assert any(goes_on_during(work) for _ in range(100))


def goes_on_during(work) -> bool:
    """Whether this thread gets on, again and again, while another one works: if the lock were held, this one would stand
    still as long as the work takes."""
    took, done = 0.0, threading.Event()

    def compute():
        nonlocal took
        start = time.perf_counter()
        work()
        took = time.perf_counter() - start
        done.set()

    thread = threading.Thread(target=compute)
    turns = [time.perf_counter()]
    thread.start()
    while not done.is_set():
        time.sleep(0)
        turns.append(time.perf_counter())
    thread.join()
    turns.append(time.perf_counter())
    return max(after - before for before, after in itertools.pairwise(turns)) < took / 4


def test_the_interpreter_ends_while_threads_work():
    for kind in (
        'key.sign(b"m")',
        'pqtls.verify_many(key.verifying_key, [b"m"] * 100, [signature] * 100, threads=2)',
        'pqtls.SigningKey.generate("SLH-DSA-SHA2-128f")',
        "pqtls.DecapsulationKey.generate('ML-KEM-768').encapsulation_key.encapsulate()",
    ):
        ended = run(f"""
import threading, time, pqtls
key = pqtls.SigningKey.generate("ML-DSA-65")
signature = key.sign(b"m")
def work():
    while True:
        {kind}
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
print("end")
""")
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", ""), kind


def test_keys_outlive_the_module():
    ended = run("""
import atexit, sys, pqtls
key = pqtls.SigningKey.generate("ML-DSA-44")
class Last:
    def __del__(self, key=key):
        key.verifying_key.verify(b"m", key.sign(b"m"))
        print("verified")
last = Last()
sys.modules["kept"] = last
atexit.register(lambda: key.sign(b"m"))
del pqtls, sys.modules["pqtls"], sys.modules["pqtls._pqtls"]
""")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "verified\n", "")


def test_interpreters_of_their_own():
    """A subinterpreter gets an ImportError, as PyO3 supports one interpreter, and no crash."""
    ended = run("""
import pqtls
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
there = interpreters.create()
interpreters.run_string(there, '''
try:
    import pqtls
except ImportError as error:
    assert "interpreter" in str(error), error
''')
interpreters.destroy(there)
pqtls.SigningKey.generate("ML-DSA-44")
print("end")
""")
    assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr


def test_forks():
    """A child of a process with threads of ours signs, and its randomness is its own."""
    key, recipient = signing_key("ML-DSA-44"), decapsulation_key("ML-KEM-512")
    messages = [b"message"] * 40
    signatures = [key.sign(b"message")] * 40
    assert all(pqtls.verify_many(key.verifying_key, messages, signatures, threads=4))
    readers = []
    for _ in range(2):
        reader, writer = os.pipe()
        readers.append(reader)
        child = os.fork()
        if child == 0:
            try:
                key.verifying_key.verify(b"message", key.sign(b"message"))
                assert all(pqtls.verify_many(key.verifying_key, messages, signatures, threads=4))
                os.write(writer, recipient.encapsulation_key.encapsulate()[0])
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writer)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
    drawn = [os.read(reader, 100) for reader in readers]
    for reader in readers:
        os.close(reader)
    assert len(set(drawn) | {recipient.encapsulation_key.encapsulate()[0]}) == 3 and len(drawn[0]) == 32


def test_forks_while_threads_work():
    """A child has only the thread that forked, and waits for no other."""
    stop = threading.Event()
    keys = [pqtls.SigningKey.generate("ML-DSA-44") for _ in range(20)]
    signed = [(key.verifying_key, key.sign(b"message")) for key in keys]

    def work():
        while not stop.is_set():
            for public, signature in signed:
                public.verify(b"message", signature)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                try:
                    for public, signature in signed:
                        assert all(pqtls.verify_many(public, [b"message"] * 20, [signature] * 20))
                        public.verify(b"message", signature)
                    os._exit(0)
                finally:
                    os._exit(1)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def verify(arguments):
    public, message, signature = arguments
    public.verify(message, signature)
    return public


def test_processes():
    key = signing_key("ML-DSA-44")
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        found = pool.map(verify, [(key.verifying_key, b"message", key.sign(b"message"))])
    assert found == [key.verifying_key]


def test_much_at_once():
    """Memory is given back."""
    import resource

    key = signing_key("ML-DSA-87")
    signature = key.sign(b"message")
    der = key.verifying_key.to_der()

    def work(times):
        for _ in range(times):
            public = pqtls.VerifyingKey.from_der(der)
            public.verify(bytearray(b"message"), signature)
            public.verify(b"message", memoryview(signature))
            pqtls.verify_many(public, [bytearray(10_000)] * 10, [signature] * 10)

    work(200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work(1000)
    # a key that is used takes 67 KiB: a thousand of them would be seen
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
