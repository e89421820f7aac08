// Signs, and verifies with the key made again from its seed.
#include <pqtls.hpp>

#include <iostream>
#include <string_view>

int main() try {
    using namespace std::literals;
    auto key = pqtls::ml_dsa::signing_key::generate(pqtls::algorithm::ml_dsa_65);
    auto signature = key.sign("a document"sv, "example"sv);

    auto again = pqtls::ml_dsa::signing_key::from_seed(key.algorithm(), key.seed());
    pqtls::ml_dsa::verifying_key verifying_key(key.algorithm(), again.public_key());
    bool valid = verifying_key.verify("a document"sv, signature, "example"sv);
    std::cout << (valid ? "valid" : "not valid") << ", " << signature.size() << " bytes\n";
    return valid ? 0 : 1;
} catch (const pqtls::error &error) {
    std::cerr << error.what() << '\n';
    return 2;
}
