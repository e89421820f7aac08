// pqtls for C++17 and later: keys that wipe themselves, and exceptions instead of numbers.
//
// Functions throw pqtls::error, with the number and sentence of pqtls.h. For an invalid signature, also one of
// a wrong length, verify() returns false instead. Exceptions of a source of randomness reach the caller.
// Inputs are a pqtls::view, which takes anything with data() and size() whose elements are bytes, such as a
// std::vector<std::uint8_t>, a std::string_view or, from C++20 on, a std::span.
#ifndef PQTLS_HPP
#define PQTLS_HPP

#include "pqtls.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pqtls {

class error : public std::runtime_error {
public:
    explicit error(int code) : std::runtime_error(pqtls_error_string(code)), code_(code) {}
    // One of PQTLS_ERROR_...
    int code() const noexcept { return code_; }

private:
    int code_;
};

enum class algorithm : std::int32_t {
    ml_kem_512 = PQTLS_ML_KEM_512,
    ml_kem_768 = PQTLS_ML_KEM_768,
    ml_kem_1024 = PQTLS_ML_KEM_1024,
    ml_dsa_44 = PQTLS_ML_DSA_44,
    ml_dsa_65 = PQTLS_ML_DSA_65,
    ml_dsa_87 = PQTLS_ML_DSA_87,
    slh_dsa_sha2_128s = PQTLS_SLH_DSA_SHA2_128S,
    slh_dsa_sha2_128f = PQTLS_SLH_DSA_SHA2_128F,
    slh_dsa_sha2_192s = PQTLS_SLH_DSA_SHA2_192S,
    slh_dsa_sha2_192f = PQTLS_SLH_DSA_SHA2_192F,
    slh_dsa_sha2_256s = PQTLS_SLH_DSA_SHA2_256S,
    slh_dsa_sha2_256f = PQTLS_SLH_DSA_SHA2_256F,
    slh_dsa_shake_128s = PQTLS_SLH_DSA_SHAKE_128S,
    slh_dsa_shake_128f = PQTLS_SLH_DSA_SHAKE_128F,
    slh_dsa_shake_192s = PQTLS_SLH_DSA_SHAKE_192S,
    slh_dsa_shake_192f = PQTLS_SLH_DSA_SHAKE_192F,
    slh_dsa_shake_256s = PQTLS_SLH_DSA_SHAKE_256S,
    slh_dsa_shake_256f = PQTLS_SLH_DSA_SHAKE_256F,
};

enum class encoding : std::int32_t { pem = PQTLS_PEM, der = PQTLS_DER };

// Bytes to read.
class view {
public:
    view() = default;
    view(const void *data, std::size_t size) : data_(static_cast<const std::uint8_t *>(data)), size_(size) {}
    template <class Bytes, class = decltype(std::declval<const Bytes &>().data())>
    view(const Bytes &bytes) : view(bytes.data(), bytes.size()) {
        static_assert(sizeof(*bytes.data()) == 1, "the elements of a view must be bytes");
    }
    const std::uint8_t *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

private:
    const std::uint8_t *data_ = nullptr;
    std::size_t size_ = 0;
};

// Allocates memory that is aligned for keys, and wipes it before it is freed.
template <class T> struct wiping_allocator {
    using value_type = T;
    wiping_allocator() = default;
    template <class U> wiping_allocator(const wiping_allocator<U> &) noexcept {}
    T *allocate(std::size_t n) {
        return static_cast<T *>(::operator new(n * sizeof(T), std::align_val_t{PQTLS_KEY_ALIGNMENT}));
    }
    void deallocate(T *memory, std::size_t n) noexcept {
        pqtls_wipe(memory, n * sizeof(T));
        ::operator delete(memory, std::align_val_t{PQTLS_KEY_ALIGNMENT});
    }
    friend bool operator==(const wiping_allocator &, const wiping_allocator &) { return true; }
    friend bool operator!=(const wiping_allocator &, const wiping_allocator &) { return false; }
};

using bytes = std::vector<std::uint8_t>;
using secret = std::vector<std::uint8_t, wiping_allocator<std::uint8_t>>;

// Fills memory with bytes that nobody can guess, or throws. An empty one stands for the operating system.
using randomness = std::function<void(std::uint8_t *, std::size_t)>;

namespace detail {

inline void check(int code) {
    if (code != PQTLS_OK) throw error(code);
}

inline std::int32_t number_of(algorithm set) noexcept { return static_cast<std::int32_t>(set); }

// Calls a function that draws randomness. Exceptions do not pass through the library.
template <class Call> void with(const randomness &source, Call call) {
    if (!source) return check(call(nullptr, nullptr));
    struct context {
        const randomness &source;
        std::exception_ptr thrown;
    } passed{source, nullptr};
    int code = call(
        [](void *opaque, std::uint8_t *out, std::size_t len) noexcept -> int {
            auto &to = *static_cast<context *>(opaque);
            try {
                to.source(out, len);
                return 0;
            } catch (...) {
                to.thrown = std::current_exception();
                return -1;
            }
        },
        &passed);
    if (passed.thrown) std::rethrow_exception(passed.thrown);
    check(code);
}

// Calls a function that reads a key and tells its length. No key is longer than its file.
template <class Output, class Call> Output read_from(view file, Call call) {
    std::size_t len = 0;
    Output output(file.size());
    check(call(output.data(), output.size(), &len));
    output.resize(len);
    return output;
}

// Calls a function whose output has a length that it tells, first to ask for the length.
template <class Output, class Call> Output sized(Call call) {
    std::size_t len = 0;
    int code = call(nullptr, 0, &len);
    if (code != PQTLS_ERROR_TOO_SMALL) check(code);
    Output output(len);
    check(call(output.data(), output.size(), &len));
    return output;
}

// What pqtls_..._verify returned, if it is no other error.
inline bool verified(int code) {
    if (code == PQTLS_ERROR_INVALID_SIGNATURE) return false;
    check(code);
    return true;
}

struct sizes {
    std::size_t public_key, expanded_key, output, private_storage, public_storage, seed;
};

inline sizes sizes_of(algorithm set) {
    switch (set) {
#define PQTLS_KEM(n)                                                                                           \
    case algorithm::ml_kem_##n:                                                                                \
        return {PQTLS_ML_KEM_##n##_ENCAPSULATION_KEY_BYTES, PQTLS_ML_KEM_##n##_EXPANDED_KEY_BYTES,             \
                PQTLS_ML_KEM_##n##_CIPHERTEXT_BYTES, PQTLS_ML_KEM_##n##_DECAPSULATION_KEY_STORAGE_BYTES,       \
                PQTLS_ML_KEM_##n##_ENCAPSULATION_KEY_STORAGE_BYTES, PQTLS_ML_KEM_SEED_BYTES};
#define PQTLS_DSA(n)                                                                                           \
    case algorithm::ml_dsa_##n:                                                                                \
        return {PQTLS_ML_DSA_##n##_VERIFYING_KEY_BYTES, PQTLS_ML_DSA_##n##_EXPANDED_KEY_BYTES,                 \
                PQTLS_ML_DSA_##n##_SIGNATURE_BYTES, PQTLS_ML_DSA_##n##_SIGNING_KEY_STORAGE_BYTES,              \
                PQTLS_ML_DSA_##n##_VERIFYING_KEY_STORAGE_BYTES, PQTLS_ML_DSA_SEED_BYTES};
        PQTLS_KEM(512)
        PQTLS_KEM(768)
        PQTLS_KEM(1024)
        PQTLS_DSA(44)
        PQTLS_DSA(65)
        PQTLS_DSA(87)
#undef PQTLS_KEM
#undef PQTLS_DSA
    default: break;
    }
    throw error(PQTLS_ERROR_ALGORITHM);
}

struct slh_dsa_sizes {
    std::size_t verifying_key, signing_key, signature;
};

inline slh_dsa_sizes slh_dsa_sizes_of(algorithm set) {
    switch (set) {
#define PQTLS_SLH_DSA(name, NAME)                                                                              \
    case algorithm::slh_dsa_##name:                                                                            \
        return {PQTLS_SLH_DSA_##NAME##_VERIFYING_KEY_BYTES, PQTLS_SLH_DSA_##NAME##_SIGNING_KEY_BYTES,          \
                PQTLS_SLH_DSA_##NAME##_SIGNATURE_BYTES};
        PQTLS_SLH_DSA(sha2_128s, SHA2_128S)
        PQTLS_SLH_DSA(sha2_128f, SHA2_128F)
        PQTLS_SLH_DSA(sha2_192s, SHA2_192S)
        PQTLS_SLH_DSA(sha2_192f, SHA2_192F)
        PQTLS_SLH_DSA(sha2_256s, SHA2_256S)
        PQTLS_SLH_DSA(sha2_256f, SHA2_256F)
        PQTLS_SLH_DSA(shake_128s, SHAKE_128S)
        PQTLS_SLH_DSA(shake_128f, SHAKE_128F)
        PQTLS_SLH_DSA(shake_192s, SHAKE_192S)
        PQTLS_SLH_DSA(shake_192f, SHAKE_192F)
        PQTLS_SLH_DSA(shake_256s, SHAKE_256S)
        PQTLS_SLH_DSA(shake_256f, SHAKE_256F)
#undef PQTLS_SLH_DSA
    default: break;
    }
    throw error(PQTLS_ERROR_ALGORITHM);
}

// An encoded key of the length that the set has.
template <class Bytes> Bytes copied(view encoded, std::size_t len) {
    if (encoded.size() != len) throw error(PQTLS_ERROR_WRONG_LENGTH);
    return Bytes(encoded.data(), encoded.data() + len);
}

// A key in its own storage. It can be moved but not copied. After a move, the old object has no key.
template <class Opaque> class key {
public:
    key(const key &) = delete;
    key &operator=(const key &) = delete;
    key(key &&) noexcept = default;
    key &operator=(key &&) noexcept = default;
    pqtls::algorithm algorithm() const noexcept { return set_; }
    const Opaque *get() const noexcept { return reinterpret_cast<const Opaque *>(storage_.data()); }

protected:
    key(pqtls::algorithm set, std::size_t size) : set_(set), sizes_(sizes_of(set)), storage_(size) {}
    std::int32_t number() const noexcept { return detail::number_of(set_); }
    Opaque *place() noexcept { return reinterpret_cast<Opaque *>(storage_.data()); }
    std::size_t size() const noexcept { return storage_.size(); }
    const sizes &lengths() const noexcept { return sizes_; }
    template <class Output, class Write> Output exported(std::size_t len, Write write) const {
        Output output(len);
        check(write(get(), output.data(), output.size()));
        return output;
    }

private:
    pqtls::algorithm set_;
    sizes sizes_;
    secret storage_;
};

} // namespace detail

// What is in the file of a private key: `key` is the seed of an ML-KEM or ML-DSA key, if `form` is
// PQTLS_FORM_SEED, or the key as its standard encodes it.
struct private_key {
    pqtls::algorithm algorithm;
    std::int32_t form;
    secret key;
};

// What is in the file of a public key, as its standard encodes it.
struct public_key {
    pqtls::algorithm algorithm;
    bytes key;
};

// Reads PKCS#8 in DER or PEM.
inline private_key read_private_key(view file) {
    std::int32_t algorithm = 0, form = 0;
    auto key = detail::read_from<secret>(file, [&](std::uint8_t *output, std::size_t size, std::size_t *len) {
        return pqtls_private_key_read(file.data(), file.size(), &algorithm, &form, output, size, len);
    });
    return {static_cast<pqtls::algorithm>(algorithm), form, std::move(key)};
}

// Writes PKCS#8. `key` is the seed of an ML-KEM or ML-DSA key, or an SLH-DSA signing key.
inline secret write_private_key(algorithm set, view key, encoding as = encoding::pem) {
    return detail::sized<secret>([&](std::uint8_t *output, std::size_t size, std::size_t *len) {
        return pqtls_private_key_write(detail::number_of(set), key.data(), key.size(),
                                       static_cast<std::int32_t>(as), output, size, len);
    });
}

// Reads a SubjectPublicKeyInfo in DER or PEM.
inline public_key read_public_key(view file) {
    std::int32_t algorithm = 0;
    auto key = detail::read_from<bytes>(file, [&](std::uint8_t *output, std::size_t size, std::size_t *len) {
        return pqtls_public_key_read(file.data(), file.size(), &algorithm, output, size, len);
    });
    return {static_cast<pqtls::algorithm>(algorithm), std::move(key)};
}

// Writes a SubjectPublicKeyInfo.
inline bytes write_public_key(algorithm set, view key, encoding as = encoding::pem) {
    return detail::sized<bytes>([&](std::uint8_t *output, std::size_t size, std::size_t *len) {
        return pqtls_public_key_write(detail::number_of(set), key.data(), key.size(),
                                      static_cast<std::int32_t>(as), output, size, len);
    });
}

namespace ml_kem {

struct encapsulated {
    bytes ciphertext;
    pqtls::secret secret;
};

class encapsulation_key : public detail::key<pqtls_ml_kem_encapsulation_key> {
public:
    encapsulation_key(pqtls::algorithm set, view encoded) : key(set, detail::sizes_of(set).public_storage) {
        detail::check(
            pqtls_ml_kem_from_encapsulation_key(number(), encoded.data(), encoded.size(), place(), size()));
    }
    static encapsulation_key read(view file) {
        auto [set, encoded] = read_public_key(file);
        return {set, encoded};
    }
    encapsulated encapsulate(const randomness &source = {}) const {
        encapsulated made{bytes(lengths().output), secret(PQTLS_ML_KEM_SHARED_SECRET_BYTES)};
        detail::with(source, [&](pqtls_random random, void *context) {
            return pqtls_ml_kem_encapsulate(get(), random, context, made.ciphertext.data(),
                                            made.ciphertext.size(), made.secret.data(), made.secret.size());
        });
        return made;
    }
    // With the 32 bytes m, which must be random and secret, and used once.
    encapsulated encapsulate_derand(view randomness) const {
        encapsulated made{bytes(lengths().output), secret(PQTLS_ML_KEM_SHARED_SECRET_BYTES)};
        detail::check(pqtls_ml_kem_encapsulate_derand(get(), randomness.data(), randomness.size(),
                                                      made.ciphertext.data(), made.ciphertext.size(),
                                                      made.secret.data(), made.secret.size()));
        return made;
    }
};

class decapsulation_key : public detail::key<pqtls_ml_kem_decapsulation_key> {
public:
    static decapsulation_key generate(pqtls::algorithm set, const randomness &source = {}) {
        decapsulation_key made(set);
        detail::with(source, [&](pqtls_random random, void *context) {
            return pqtls_ml_kem_generate(made.number(), random, context, made.place(), made.size());
        });
        return made;
    }
    static decapsulation_key from_seed(pqtls::algorithm set, view seed) {
        decapsulation_key made(set);
        detail::check(
            pqtls_ml_kem_from_seed(made.number(), seed.data(), seed.size(), made.place(), made.size()));
        return made;
    }
    // From PKCS#8 in DER or PEM.
    static decapsulation_key read(view file) {
        auto [set, form, encoded] = read_private_key(file);
        return form == PQTLS_FORM_SEED ? from_seed(set, encoded) : from_expanded(set, encoded);
    }
    static decapsulation_key from_expanded(pqtls::algorithm set, view expanded) {
        decapsulation_key made(set);
        detail::check(pqtls_ml_kem_from_expanded(made.number(), expanded.data(), expanded.size(), made.place(),
                                                 made.size()));
        return made;
    }
    bytes public_key() const { return exported<bytes>(lengths().public_key, pqtls_ml_kem_encapsulation_key_of); }
    secret seed() const { return exported<secret>(lengths().seed, pqtls_ml_kem_seed); }
    secret expanded() const { return exported<secret>(lengths().expanded_key, pqtls_ml_kem_expanded); }
    // PKCS#8 with the seed.
    secret write(encoding as = encoding::pem) const { return write_private_key(algorithm(), seed(), as); }
    secret decapsulate(view ciphertext) const {
        secret shared(PQTLS_ML_KEM_SHARED_SECRET_BYTES);
        detail::check(pqtls_ml_kem_decapsulate(get(), ciphertext.data(), ciphertext.size(), shared.data(),
                                               shared.size()));
        return shared;
    }

private:
    explicit decapsulation_key(pqtls::algorithm set) : key(set, detail::sizes_of(set).private_storage) {}
};

} // namespace ml_kem

namespace ml_dsa {

class verifying_key : public detail::key<pqtls_ml_dsa_verifying_key> {
public:
    verifying_key(pqtls::algorithm set, view encoded) : key(set, detail::sizes_of(set).public_storage) {
        detail::check(
            pqtls_ml_dsa_from_verifying_key(number(), encoded.data(), encoded.size(), place(), size()));
    }
    static verifying_key read(view file) {
        auto [set, encoded] = read_public_key(file);
        return {set, encoded};
    }
    [[nodiscard]] bool verify(view message, view signature, view context = {},
                              std::int32_t kind = PQTLS_PURE) const {
        if (signature.size() != lengths().output) return false;
        return detail::verified(pqtls_ml_dsa_verify(get(), kind, message.data(), message.size(), context.data(),
                                                    context.size(), signature.data(), signature.size()));
    }
    bytes mu(view message, view context = {}) const {
        bytes mu(PQTLS_ML_DSA_MU_BYTES);
        detail::check(pqtls_ml_dsa_mu(get(), message.data(), message.size(), context.data(), context.size(),
                                      mu.data(), mu.size()));
        return mu;
    }
};

class signing_key : public detail::key<pqtls_ml_dsa_signing_key> {
public:
    static signing_key generate(pqtls::algorithm set, const randomness &source = {}) {
        signing_key made(set);
        detail::with(source, [&](pqtls_random random, void *context) {
            return pqtls_ml_dsa_generate(made.number(), random, context, made.place(), made.size());
        });
        return made;
    }
    static signing_key from_seed(pqtls::algorithm set, view seed) {
        signing_key made(set);
        detail::check(
            pqtls_ml_dsa_from_seed(made.number(), seed.data(), seed.size(), made.place(), made.size()));
        return made;
    }
    // From PKCS#8 in DER or PEM.
    static signing_key read(view file) {
        auto [set, form, encoded] = read_private_key(file);
        return form == PQTLS_FORM_SEED ? from_seed(set, encoded) : from_expanded(set, encoded);
    }
    static signing_key from_expanded(pqtls::algorithm set, view expanded) {
        signing_key made(set);
        detail::check(pqtls_ml_dsa_from_expanded(made.number(), expanded.data(), expanded.size(), made.place(),
                                                 made.size()));
        return made;
    }
    bytes public_key() const { return exported<bytes>(lengths().public_key, pqtls_ml_dsa_verifying_key_of); }
    secret seed() const { return exported<secret>(lengths().seed, pqtls_ml_dsa_seed); }
    secret expanded() const { return exported<secret>(lengths().expanded_key, pqtls_ml_dsa_expanded); }
    // PKCS#8 with the seed.
    secret write(encoding as = encoding::pem) const { return write_private_key(algorithm(), seed(), as); }
    bytes sign(view message, view context = {}, std::int32_t kind = PQTLS_PURE,
               const randomness &source = {}) const {
        bytes signature(lengths().output);
        detail::with(source, [&](pqtls_random random, void *random_context) {
            return pqtls_ml_dsa_sign(get(), random, random_context, kind, message.data(), message.size(),
                                     context.data(), context.size(), signature.data(), signature.size());
        });
        return signature;
    }
    // With the 32 bytes rnd. Without randomness, it is the deterministic variant.
    bytes sign_derand(view randomness, view message, view context = {},
                      std::int32_t kind = PQTLS_PURE) const {
        bytes signature(lengths().output);
        detail::check(pqtls_ml_dsa_sign_derand(get(), randomness.data(), randomness.size(), kind,
                                               message.data(), message.size(), context.data(), context.size(),
                                               signature.data(), signature.size()));
        return signature;
    }

private:
    explicit signing_key(pqtls::algorithm set) : key(set, detail::sizes_of(set).private_storage) {}
};

} // namespace ml_dsa

namespace slh_dsa {

class verifying_key {
public:
    verifying_key(pqtls::algorithm set, view encoded)
        : set_(set), key_(detail::copied<bytes>(encoded, detail::slh_dsa_sizes_of(set).verifying_key)) {}
    static verifying_key read(view file) {
        auto [set, encoded] = read_public_key(file);
        return {set, encoded};
    }
    pqtls::algorithm algorithm() const noexcept { return set_; }
    const bytes &encoded() const noexcept { return key_; }
    [[nodiscard]] bool verify(view message, view signature, view context = {},
                              std::int32_t kind = PQTLS_PURE) const {
        if (signature.size() != detail::slh_dsa_sizes_of(set_).signature) return false;
        return detail::verified(pqtls_slh_dsa_verify(
            detail::number_of(set_), key_.data(), key_.size(), kind, message.data(), message.size(),
            context.data(), context.size(), signature.data(), signature.size()));
    }

private:
    pqtls::algorithm set_;
    bytes key_;
};

// It can be moved but not copied. After a move, the old object has no key.
class signing_key {
public:
    signing_key(pqtls::algorithm set, view encoded)
        : set_(set), key_(detail::copied<secret>(encoded, detail::slh_dsa_sizes_of(set).signing_key)) {}
    signing_key(const signing_key &) = delete;
    signing_key &operator=(const signing_key &) = delete;
    signing_key(signing_key &&) noexcept = default;
    signing_key &operator=(signing_key &&) noexcept = default;
    static signing_key generate(pqtls::algorithm set, const randomness &source = {}) {
        signing_key made(set);
        bytes public_key(detail::slh_dsa_sizes_of(set).verifying_key);
        detail::with(source, [&](pqtls_random random, void *context) {
            return pqtls_slh_dsa_generate(made.number(), random, context, made.key_.data(), made.key_.size(),
                                          public_key.data(), public_key.size());
        });
        return made;
    }
    // From SK.seed, SK.prf and PK.seed.
    static signing_key from_seed(pqtls::algorithm set, view seed) {
        signing_key made(set);
        bytes public_key(detail::slh_dsa_sizes_of(set).verifying_key);
        detail::check(pqtls_slh_dsa_from_seed(made.number(), seed.data(), seed.size(), made.key_.data(),
                                                     made.key_.size(), public_key.data(), public_key.size()));
        return made;
    }
    // From PKCS#8 in DER or PEM.
    static signing_key read(view file) {
        auto [set, form, encoded] = read_private_key(file);
        return {set, encoded};
    }
    pqtls::algorithm algorithm() const noexcept { return set_; }
    const secret &encoded() const noexcept { return key_; }
    // The second half of the signing key.
    bytes public_key() const { return bytes(key_.begin() + key_.size() / 2, key_.end()); }
    // PKCS#8.
    secret write(encoding as = encoding::pem) const { return write_private_key(set_, key_, as); }
    bytes sign(view message, view context = {}, std::int32_t kind = PQTLS_PURE,
               const randomness &source = {}) const {
        bytes signature(detail::slh_dsa_sizes_of(set_).signature);
        detail::with(source, [&](pqtls_random random, void *random_context) {
            return pqtls_slh_dsa_sign(number(), key_.data(), key_.size(), random, random_context, kind,
                                      message.data(), message.size(), context.data(), context.size(),
                                      signature.data(), signature.size());
        });
        return signature;
    }
    // With the n bytes addrnd. Without randomness, it is the deterministic variant.
    bytes sign_derand(view randomness, view message, view context = {},
                      std::int32_t kind = PQTLS_PURE) const {
        bytes signature(detail::slh_dsa_sizes_of(set_).signature);
        detail::check(pqtls_slh_dsa_sign_derand(number(), key_.data(), key_.size(), randomness.data(),
                                                       randomness.size(), kind, message.data(), message.size(),
                                                       context.data(), context.size(), signature.data(),
                                                       signature.size()));
        return signature;
    }

private:
    explicit signing_key(pqtls::algorithm set) : set_(set), key_(detail::slh_dsa_sizes_of(set).signing_key) {}
    std::int32_t number() const noexcept { return detail::number_of(set_); }

    pqtls::algorithm set_;
    secret key_;
};

} // namespace slh_dsa

} // namespace pqtls

#endif
