// Whether Java reads private keys with BouncyCastle: see `run`.

import java.security.PrivateKey;
import java.security.Security;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.openssl.jcajce.JceOpenSSLPKCS8DecryptorProviderBuilder;
import org.bouncycastle.pkcs.PKCS8EncryptedPrivateKeyInfo;

public class ReadsByBouncyCastle extends Reads {
    ReadsByBouncyCastle() {
        super(new BouncyCastleProvider());
        Security.addProvider(provider);
    }

    public static void main(String[] arguments) throws Exception {
        new ReadsByBouncyCastle().answer(arguments[0].toCharArray());
    }

    @Override
    PrivateKey decrypted(String algorithm, byte[] file, char[] passphrase) throws Exception {
        var decryptor = new JceOpenSSLPKCS8DecryptorProviderBuilder().setProvider(provider).build(passphrase);
        var key = new PKCS8EncryptedPrivateKeyInfo(file).decryptPrivateKeyInfo(decryptor);
        return new JcaPEMKeyConverter().setProvider(provider).getPrivateKey(key);
    }
}
