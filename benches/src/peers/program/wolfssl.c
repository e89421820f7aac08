// wolfSSL's operations.
#include <wolfssl/options.h>
#include <wolfssl/version.h>
#include <wolfssl/wolfcrypt/cpuid.h>
#include <wolfssl/wolfcrypt/types.h>
#include <wolfssl/wolfcrypt/wc_mldsa.h>
#include <wolfssl/wolfcrypt/wc_mlkem.h>
#include <wolfssl/wolfcrypt/wc_slhdsa.h>

#include "driver.h"

#include <string.h>

static int kem_type;
static byte dsa_level;
static enum SlhDsaParam slh_param;

// The key in memory, of the scheme in use.
static MlKemKey kem;
static wc_MlDsaKey dsa;
static SlhDsaKey slh;

const char *version(void) { return LIBWOLFSSL_VERSION_STRING; }

void stop_at_avx2(void) {
    cpuid_clear_flag(CPUID_AVX512 | CPUID_AVX512_VBMI | CPUID_AVX512_VBMI2 | CPUID_AVX512_IFMA | CPUID_AVX512_VL
                     | CPUID_AVX512_DQ | CPUID_AVX512_BW);
}

static size_t kem_generate(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    MlKemKey key;
    word32 length;
    require(wc_MlKemKey_Init(&key, kem_type, NULL, INVALID_DEVID) == 0
                && wc_MlKemKey_MakeKeyWithRandom(&key, fields[0].data, (int)fields[0].length) == 0
                && wc_MlKemKey_PublicKeySize(&key, &length) == 0
                && wc_MlKemKey_EncodePublicKey(&key, output, length) == 0,
            "key generation");
    wc_MlKemKey_Free(&key);
    return length;
}

static size_t kem_encapsulate(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    MlKemKey key;
    word32 length, secret;
    require(wc_MlKemKey_Init(&key, kem_type, NULL, INVALID_DEVID) == 0
                && wc_MlKemKey_CipherTextSize(&key, &length) == 0
                && wc_MlKemKey_SharedSecretSize(&key, &secret) == 0,
            "wc_MlKemKey_Init");
    int ok = wc_MlKemKey_DecodePublicKey(&key, fields[0].data, (word32)fields[0].length) == 0
             && wc_MlKemKey_EncapsulateWithRandom(&key, output, output + length, fields[1].data,
                                                  (int)fields[1].length) == 0;
    wc_MlKemKey_Free(&key);
    return ok ? length + secret : 0;
}

static size_t kem_decapsulate(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    require(wc_MlKemKey_Decapsulate(&kem, output, fields[0].data, (word32)fields[0].length) == 0, "decapsulation");
    return WC_ML_KEM_SS_SZ;
}

static size_t dsa_generate(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    wc_MlDsaKey key;
    word32 length = OUTPUT;
    require(wc_MlDsaKey_Init(&key, NULL, INVALID_DEVID) == 0 && wc_MlDsaKey_SetParams(&key, dsa_level) == 0
                && wc_MlDsaKey_MakeKeyFromSeed(&key, fields[0].data) == 0
                && wc_MlDsaKey_ExportPubRaw(&key, output, &length) == 0,
            "key generation");
    wc_MlDsaKey_Free(&key);
    return length;
}

static size_t dsa_sign(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    word32 length = OUTPUT;
    require(wc_MlDsaKey_SignCtxWithSeed(&dsa, NULL, 0, output, &length, fields[0].data, (word32)fields[0].length,
                                        fields[1].data) == 0,
            "signing");
    return length;
}

static size_t dsa_verify_with(wc_MlDsaKey *key, struct bytes message, struct bytes signature, uint8_t *output) {
    int result = 0;
    int error = wc_MlDsaKey_VerifyCtx(key, signature.data, (word32)signature.length, NULL, 0, message.data,
                                      (word32)message.length, &result);
    output[0] = 1;
    return error == 0 && result == 1;
}

static size_t dsa_verify(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    wc_MlDsaKey key;
    require(wc_MlDsaKey_Init(&key, NULL, INVALID_DEVID) == 0 && wc_MlDsaKey_SetParams(&key, dsa_level) == 0,
            "wc_MlDsaKey_Init");
    size_t right = wc_MlDsaKey_ImportPubRaw(&key, fields[0].data, (word32)fields[0].length) == 0
                   && dsa_verify_with(&key, fields[1], fields[2], output);
    wc_MlDsaKey_Free(&key);
    return right;
}

static size_t dsa_verify_expanded(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    return dsa_verify_with(&dsa, fields[0], fields[1], output);
}

static size_t slh_generate(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    SlhDsaKey key;
    const byte *seeds = fields[0].data;
    word32 n = (word32)fields[0].length / 3, length = OUTPUT;
    require(wc_SlhDsaKey_Init(&key, slh_param, NULL, INVALID_DEVID) == 0
                && wc_SlhDsaKey_MakeKeyWithRandom(&key, seeds, n, seeds + n, n, seeds + 2 * n, n) == 0
                && wc_SlhDsaKey_ExportPublic(&key, output, &length) == 0,
            "key generation");
    wc_SlhDsaKey_Free(&key);
    return length;
}

static size_t slh_sign(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    word32 length = OUTPUT;
    require(wc_SlhDsaKey_SignDeterministic(&slh, NULL, 0, fields[0].data, (word32)fields[0].length, output, &length)
                == 0,
            "signing");
    return length;
}

static size_t slh_verify(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    SlhDsaKey key;
    require(wc_SlhDsaKey_Init(&key, slh_param, NULL, INVALID_DEVID) == 0, "wc_SlhDsaKey_Init");
    output[0] = 1;
    size_t right = wc_SlhDsaKey_ImportPublic(&key, fields[0].data, (word32)fields[0].length) == 0
                   && wc_SlhDsaKey_Verify(&key, NULL, 0, fields[1].data, (word32)fields[1].length, fields[2].data,
                                          (word32)fields[2].length) == 0;
    wc_SlhDsaKey_Free(&key);
    return right;
}

static perform prepare_kem(const char *operation, struct bytes key) {
    if (strcmp(operation, "key-generation") == 0) return kem_generate;
    if (strcmp(operation, "encapsulation") == 0) return kem_encapsulate;
    if (strcmp(operation, "decapsulation") != 0) return NULL;
    require(wc_MlKemKey_Init(&kem, kem_type, NULL, INVALID_DEVID) == 0
                && wc_MlKemKey_MakeKeyWithRandom(&kem, key.data, (int)key.length) == 0,
            "key generation");
    return kem_decapsulate;
}

static perform prepare_dsa(const char *operation, struct bytes key) {
    static byte private[8192];
    word32 length = sizeof private;
    wc_MlDsaKey generated;
    require(wc_MlDsaKey_Init(&dsa, NULL, INVALID_DEVID) == 0 && wc_MlDsaKey_SetParams(&dsa, dsa_level) == 0,
            "wc_MlDsaKey_Init");
    if (strcmp(operation, "key-generation") == 0) return dsa_generate;
    if (strcmp(operation, "verification") == 0) return dsa_verify;
    if (strcmp(operation, "verification-expanded") == 0) {
        require(wc_MlDsaKey_ImportPubRaw(&dsa, key.data, (word32)key.length) == 0, "wc_MlDsaKey_ImportPubRaw");
        return dsa_verify_expanded;
    }
    if (strcmp(operation, "signing") != 0) return NULL;
    // Only importing a key fills what it keeps for signing.
    require(wc_MlDsaKey_Init(&generated, NULL, INVALID_DEVID) == 0
                && wc_MlDsaKey_SetParams(&generated, dsa_level) == 0
                && wc_MlDsaKey_MakeKeyFromSeed(&generated, key.data) == 0
                && wc_MlDsaKey_ExportPrivRaw(&generated, private, &length) == 0
                && wc_MlDsaKey_ImportPrivRaw(&dsa, private, length) == 0,
            "wc_MlDsaKey_ImportPrivRaw");
    return dsa_sign;
}

static perform prepare_slh(const char *operation, struct bytes key) {
    if (strcmp(operation, "key-generation") == 0) return slh_generate;
    if (strcmp(operation, "verification") == 0) return slh_verify;
    if (strcmp(operation, "signing") != 0) return NULL;
    require(wc_SlhDsaKey_Init(&slh, slh_param, NULL, INVALID_DEVID) == 0
                && wc_SlhDsaKey_ImportPrivate(&slh, key.data, (word32)key.length) == 0,
            "wc_SlhDsaKey_ImportPrivate");
    return slh_sign;
}

static const struct {
    const char *name;
    int number;
    perform (*prepare)(const char *operation, struct bytes key);
} SETS[] = {
    {"ML-KEM-512", WC_ML_KEM_512, prepare_kem},
    {"ML-KEM-768", WC_ML_KEM_768, prepare_kem},
    {"ML-KEM-1024", WC_ML_KEM_1024, prepare_kem},
    {"ML-DSA-44", WC_ML_DSA_44, prepare_dsa},
    {"ML-DSA-65", WC_ML_DSA_65, prepare_dsa},
    {"ML-DSA-87", WC_ML_DSA_87, prepare_dsa},
    {"SLH-DSA-SHAKE-128f", SLHDSA_SHAKE128F, prepare_slh},
    {"SLH-DSA-SHAKE-192f", SLHDSA_SHAKE192F, prepare_slh},
    {"SLH-DSA-SHAKE-256f", SLHDSA_SHAKE256F, prepare_slh},
    {"SLH-DSA-SHAKE-128s", SLHDSA_SHAKE128S, prepare_slh},
    {"SLH-DSA-SHAKE-192s", SLHDSA_SHAKE192S, prepare_slh},
    {"SLH-DSA-SHAKE-256s", SLHDSA_SHAKE256S, prepare_slh},
    {"SLH-DSA-SHA2-128f", SLHDSA_SHA2_128F, prepare_slh},
    {"SLH-DSA-SHA2-192f", SLHDSA_SHA2_192F, prepare_slh},
    {"SLH-DSA-SHA2-256f", SLHDSA_SHA2_256F, prepare_slh},
    {"SLH-DSA-SHA2-128s", SLHDSA_SHA2_128S, prepare_slh},
    {"SLH-DSA-SHA2-192s", SLHDSA_SHA2_192S, prepare_slh},
    {"SLH-DSA-SHA2-256s", SLHDSA_SHA2_256S, prepare_slh},
};

perform prepare(const char *set, const char *operation, struct bytes key) {
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++) {
        if (strcmp(set, SETS[i].name) != 0) continue;
        kem_type = SETS[i].number;
        dsa_level = (byte)SETS[i].number;
        slh_param = (enum SlhDsaParam)SETS[i].number;
        return SETS[i].prepare(operation, key);
    }
    return NULL;
}
