// The C++ wrapper, right and wrong.
#include <pqtls.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#if __cplusplus >= 202002L
#include <span>
#endif

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);           \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

using namespace std::literals;
using pqtls::algorithm;

template <class Call> int code_of(Call call) {
    try {
        call();
    } catch (const pqtls::error &error) {
        CHECK(error.what() == std::string(pqtls_error_string(error.code())));
        return error.code();
    }
    return PQTLS_OK;
}

static PQTLS_STORAGE(static_storage, 128);
struct with_storage {
    char other;
    PQTLS_STORAGE(place, 128);
};
static_assert(alignof(with_storage) == PQTLS_KEY_ALIGNMENT);

template <class Private, class Public> void check_signing(const Private &key, const Public &public_key) {
    CHECK(!public_key.verify("message"sv, "no signature"sv));
    auto deterministic = key.sign_derand({}, "message"sv);
    CHECK(public_key.verify("message"sv, deterministic));
    CHECK(key.sign_derand({}, "message"sv) == deterministic);
    CHECK(key.sign("message"sv) != deterministic);
    CHECK(code_of([&] { (void)key.sign_derand("short"sv, "message"sv); }) == PQTLS_ERROR_WRONG_LENGTH);
}

int main() {
    CHECK(reinterpret_cast<std::uintptr_t>(static_storage) % PQTLS_KEY_ALIGNMENT == 0);
    for (auto set : {algorithm::ml_kem_512, algorithm::ml_kem_768, algorithm::ml_kem_1024}) {
        auto key = pqtls::ml_kem::decapsulation_key::generate(set);
        pqtls::ml_kem::encapsulation_key public_key(set, key.public_key());
        auto [ciphertext, secret] = public_key.encapsulate();
        pqtls::secret m(PQTLS_ML_KEM_RANDOMNESS_BYTES, 9);
        CHECK(public_key.encapsulate_derand(m).ciphertext == public_key.encapsulate_derand(m).ciphertext);
        CHECK(key.decapsulate(public_key.encapsulate_derand(m).ciphertext) ==
              public_key.encapsulate_derand(m).secret);
        CHECK(key.decapsulate(ciphertext) == secret);
        auto again = pqtls::ml_kem::decapsulation_key::from_seed(set, key.seed());
        auto expanded = pqtls::ml_kem::decapsulation_key::from_expanded(set, again.expanded());
        CHECK(expanded.decapsulate(ciphertext) == secret);
        CHECK(code_of([&] { (void)expanded.seed(); }) == PQTLS_ERROR_NO_SEED);
        CHECK(code_of([&] { (void)key.decapsulate("short"sv); }) == PQTLS_ERROR_WRONG_LENGTH);
        CHECK(key.get() != nullptr);
        auto file = key.write();
        CHECK(pqtls::ml_kem::decapsulation_key::read(file).decapsulate(ciphertext) == secret);
        CHECK(code_of([&] { (void)pqtls::ml_dsa::signing_key::read(file); }) == PQTLS_ERROR_ALGORITHM);
        CHECK(code_of([&] { (void)expanded.write(); }) == PQTLS_ERROR_NO_SEED);
        auto public_file = pqtls::write_public_key(set, key.public_key(), pqtls::encoding::der);
        auto [sent, shared] = pqtls::ml_kem::encapsulation_key::read(public_file).encapsulate();
        CHECK(key.decapsulate(sent) == shared);
        auto moved = std::move(key);
        CHECK(moved.decapsulate(ciphertext) == secret);
        CHECK(code_of([&] { (void)key.decapsulate(ciphertext); }) == PQTLS_ERROR_NULL);
    }
    for (auto set : {algorithm::ml_dsa_44, algorithm::ml_dsa_65, algorithm::ml_dsa_87}) {
        auto key = pqtls::ml_dsa::signing_key::generate(set);
        pqtls::ml_dsa::verifying_key public_key(set, key.public_key());
        auto signature = key.sign("message"sv, "context"sv);
        CHECK(public_key.verify("message"sv, signature, "context"sv));
        CHECK(!public_key.verify("massage"sv, signature, "context"sv));
        CHECK(public_key.verify(public_key.mu("message"sv, "context"sv), signature, {}, PQTLS_MU));
        check_signing(key, public_key);
        CHECK(code_of([&] { (void)key.sign("message"sv, std::string(256, 'x')); }) == PQTLS_ERROR_CONTEXT);
        auto file = pqtls::write_public_key(set, key.public_key());
        CHECK(pqtls::ml_dsa::verifying_key::read(file).verify("message"sv, signature, "context"sv));
        auto read = pqtls::ml_dsa::signing_key::read(key.write(pqtls::encoding::der));
        CHECK(read.algorithm() == set && read.expanded() == key.expanded());
        file.pop_back();
        file.pop_back();
        CHECK(code_of([&] { (void)pqtls::read_public_key(file); }) == PQTLS_ERROR_SYNTAX);
#if __cplusplus >= 202002L
        CHECK(public_key.verify(std::span<const char>("message", 7), std::span(signature), "context"sv));
#endif
    }
    for (auto set : {algorithm::slh_dsa_sha2_128f, algorithm::slh_dsa_shake_192f, algorithm::slh_dsa_sha2_256f}) {
        auto key = pqtls::slh_dsa::signing_key::generate(set);
        pqtls::slh_dsa::verifying_key public_key(set, key.public_key());
        auto signature = key.sign("message"sv, "context"sv, PQTLS_HASH_SHA2_512);
        CHECK(public_key.verify("message"sv, signature, "context"sv, PQTLS_HASH_SHA2_512));
        CHECK(!public_key.verify("message"sv, signature, "context"sv));
        check_signing(key, public_key);
        auto n = key.encoded().size() / 4;
        pqtls::secret seed(key.encoded().begin(), key.encoded().begin() + 3 * n);
        CHECK(pqtls::slh_dsa::signing_key::from_seed(set, seed).encoded() == key.encoded());
        auto read = pqtls::slh_dsa::signing_key::read(key.write());
        CHECK(read.algorithm() == set && read.encoded() == key.encoded());
        auto file = pqtls::write_public_key(set, key.public_key());
        CHECK(pqtls::slh_dsa::verifying_key::read(file).encoded() == key.public_key());
        CHECK(code_of([&] { pqtls::slh_dsa::verifying_key(set, "short"sv); }) == PQTLS_ERROR_WRONG_LENGTH);
        auto moved = std::move(key);
        CHECK(moved.encoded() == read.encoded());
        CHECK(code_of([&] { (void)key.sign("message"sv); }) != PQTLS_OK);
    }
    CHECK(code_of([] { (void)pqtls::slh_dsa::signing_key::generate(algorithm::ml_dsa_44); }) ==
          PQTLS_ERROR_ALGORITHM);
    CHECK(code_of([] { (void)pqtls::ml_dsa::signing_key::generate(algorithm::slh_dsa_sha2_128f); }) ==
          PQTLS_ERROR_ALGORITHM);
    CHECK(code_of([] { (void)pqtls::read_private_key({}); }) == PQTLS_ERROR_SYNTAX);
    CHECK(code_of([] { (void)pqtls::read_public_key({}); }) == PQTLS_ERROR_SYNTAX);
    // what a source throws arrives, and nothing is half made
    struct empty {};
    try {
        (void)pqtls::ml_dsa::signing_key::generate(algorithm::ml_dsa_44,
                                                   [](std::uint8_t *, std::size_t) { throw empty{}; });
        CHECK(!"thrown");
    } catch (empty) {
    }
    auto sevens = [](std::uint8_t *out, std::size_t len) {
        while (len--) *out++ = 7;
    };
    auto fixed = pqtls::ml_kem::decapsulation_key::generate(algorithm::ml_kem_768, sevens);
    CHECK(fixed.seed() == pqtls::secret(64, 7));
    CHECK(code_of([] { (void)pqtls::ml_kem::decapsulation_key::generate(algorithm::ml_dsa_44); }) ==
          PQTLS_ERROR_ALGORITHM);
    std::puts("all is well");
}
