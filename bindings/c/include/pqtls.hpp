// pqtls for C++17 and later: keys that wipe themselves, and exceptions instead of numbers.
//
// Functions throw pqtls::error, with the number and sentence of pqtls.h. Only for an invalid signature
// verify() returns false instead. Exceptions of a source of randomness reach the caller. Inputs are a
// pqtls::view, which takes anything with data() and size() whose elements are bytes, such as a
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
};

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
    }
    throw error(PQTLS_ERROR_ALGORITHM);
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
    std::int32_t number() const noexcept { return static_cast<std::int32_t>(set_); }
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
    encapsulated encapsulate(const randomness &source = {}) const {
        encapsulated made{bytes(lengths().output), secret(PQTLS_ML_KEM_SHARED_SECRET_BYTES)};
        detail::with(source, [&](pqtls_random random, void *context) {
            return pqtls_ml_kem_encapsulate(get(), random, context, made.ciphertext.data(),
                                            made.ciphertext.size(), made.secret.data(), made.secret.size());
        });
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
    static decapsulation_key from_expanded(pqtls::algorithm set, view expanded) {
        decapsulation_key made(set);
        detail::check(pqtls_ml_kem_from_expanded(made.number(), expanded.data(), expanded.size(), made.place(),
                                                 made.size()));
        return made;
    }
    bytes public_key() const { return exported<bytes>(lengths().public_key, pqtls_ml_kem_encapsulation_key_of); }
    secret seed() const { return exported<secret>(lengths().seed, pqtls_ml_kem_seed); }
    secret expanded() const { return exported<secret>(lengths().expanded_key, pqtls_ml_kem_expanded); }
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
    // Whether the signature is valid. A signature of a wrong length is an error.
    [[nodiscard]] bool verify(view message, view signature, view context = {},
                              std::int32_t kind = PQTLS_PURE) const {
        int code = pqtls_ml_dsa_verify(get(), kind, message.data(), message.size(), context.data(),
                                       context.size(), signature.data(), signature.size());
        if (code == PQTLS_ERROR_INVALID_SIGNATURE) return false;
        detail::check(code);
        return true;
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
    static signing_key from_expanded(pqtls::algorithm set, view expanded) {
        signing_key made(set);
        detail::check(pqtls_ml_dsa_from_expanded(made.number(), expanded.data(), expanded.size(), made.place(),
                                                 made.size()));
        return made;
    }
    bytes public_key() const { return exported<bytes>(lengths().public_key, pqtls_ml_dsa_verifying_key_of); }
    secret seed() const { return exported<secret>(lengths().seed, pqtls_ml_dsa_seed); }
    secret expanded() const { return exported<secret>(lengths().expanded_key, pqtls_ml_dsa_expanded); }
    bytes sign(view message, view context = {}, std::int32_t kind = PQTLS_PURE,
               const randomness &source = {}) const {
        bytes signature(lengths().output);
        detail::with(source, [&](pqtls_random random, void *random_context) {
            return pqtls_ml_dsa_sign(get(), random, random_context, kind, message.data(), message.size(),
                                     context.data(), context.size(), signature.data(), signature.size());
        });
        return signature;
    }

private:
    explicit signing_key(pqtls::algorithm set) : key(set, detail::sizes_of(set).private_storage) {}
};

} // namespace ml_dsa

} // namespace pqtls

#endif
