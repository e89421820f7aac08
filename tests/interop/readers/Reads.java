// Whether Java reads private keys: the JDK alone, or, as ReadsByBouncyCastle, with that provider. See `run` for the lines
// that this reads and answers.

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Collections;
import java.util.HexFormat;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.KEM;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

public class Reads {
    // None is the JDK itself.
    final Provider provider;

    Reads(Provider provider) {
        this.provider = provider;
    }

    public static void main(String[] arguments) throws Exception {
        new Reads(null).answer(arguments[0].toCharArray());
    }

    void answer(char[] passphrase) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null;) {
            String[] fields = line.split(" ");
            String answer;
            try {
                byte[] file = Files.readAllBytes(Path.of(fields[2]));
                PrivateKey key = switch (fields[0]) {
                    case "pkcs12" -> fromPkcs12(file, passphrase);
                    case "encrypted" -> decrypted(fields[1], file, passphrase);
                    default -> factory(fields[1]).generatePrivate(new PKCS8EncodedKeySpec(file));
                };
                answer = proof(fields[1], key, Path.of(fields[2] + ".ciphertext"));
            } catch (Exception error) {
                answer = "no " + error;
            }
            System.out.println(answer.replace('\n', ' '));
        }
    }

    PrivateKey fromPkcs12(byte[] file, char[] passphrase) throws Exception {
        var store = provider == null ? KeyStore.getInstance("PKCS12") : KeyStore.getInstance("PKCS12", provider);
        store.load(new ByteArrayInputStream(file), passphrase);
        for (var alias : Collections.list(store.aliases())) {
            if (store.isKeyEntry(alias)) {
                return (PrivateKey) store.getKey(alias, passphrase);
            }
        }
        throw new Exception("no key");
    }

    PrivateKey decrypted(String algorithm, byte[] file, char[] passphrase) throws Exception {
        var info = new EncryptedPrivateKeyInfo(file);
        // The name of the parameters says more than that of PBES2.
        var parameters = info.getAlgParameters();
        var name = parameters == null ? info.getAlgName() : parameters.toString();
        var secret = SecretKeyFactory.getInstance(name).generateSecret(new PBEKeySpec(passphrase));
        return factory(algorithm).generatePrivate(info.getKeySpec(secret));
    }

    KeyFactory factory(String algorithm) throws Exception {
        String name = algorithm.equals("ECDSA-P256") ? "EC" : algorithm;
        return provider == null ? KeyFactory.getInstance(name) : KeyFactory.getInstance(name, provider);
    }

    // Java doesn't compute public keys, so it shows what it can do with the private one.
    String proof(String algorithm, PrivateKey key, Path ciphertext) throws Exception {
        if (Files.exists(ciphertext)) {
            var kem = provider == null ? KEM.getInstance("ML-KEM") : KEM.getInstance("ML-KEM", provider);
            var secret = kem.newDecapsulator(key).decapsulate(Files.readAllBytes(ciphertext));
            return "secret " + HexFormat.of().formatHex(secret.getEncoded());
        }
        String name = algorithm.equals("ECDSA-P256") ? "SHA256withECDSA" : algorithm;
        var signature = provider == null ? Signature.getInstance(name) : Signature.getInstance(name, provider);
        signature.initSign(key);
        signature.update("who reads what".getBytes());
        return "signature " + HexFormat.of().formatHex(signature.sign());
    }
}
