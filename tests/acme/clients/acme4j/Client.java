// acme4j obtains, renews (by ARI, and replacing) and revokes certificates by http-01, one of them for a request that pqtls made.

import com.sun.net.httpserver.HttpServer;
import java.io.FileWriter;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.Security;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.shredzone.acme4j.Account;
import org.shredzone.acme4j.AccountBuilder;
import org.shredzone.acme4j.Certificate;
import org.shredzone.acme4j.Order;
import org.shredzone.acme4j.RevocationReason;
import org.shredzone.acme4j.Session;
import org.shredzone.acme4j.Status;
import org.shredzone.acme4j.challenge.Http01Challenge;
import org.shredzone.acme4j.exception.AcmeException;
import org.shredzone.acme4j.util.KeyPairUtils;

class Client {
    static final Duration PATIENCE = Duration.ofSeconds(30);
    static final Map<String, String> shown = new ConcurrentHashMap<>();

    static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }

    static void trust(Path root) throws Exception {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (var file = Files.newInputStream(root)) {
            store.setCertificateEntry("root", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        SSLContext.setDefault(context);
    }

    static HttpServer serve(int port) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext(
                "/.well-known/acme-challenge/",
                exchange -> {
                    var path = exchange.getRequestURI().getPath();
                    var answer = shown.get(path.substring(path.lastIndexOf('/') + 1));
                    var bytes = (answer == null ? "" : answer).getBytes(StandardCharsets.US_ASCII);
                    exchange.sendResponseHeaders(answer == null ? 404 : 200, bytes.length == 0 ? -1 : bytes.length);
                    try (var body = exchange.getResponseBody()) {
                        body.write(bytes);
                    }
                });
        server.start();
        return server;
    }

    /** A certificate for an order whose challenges are done. */
    static Certificate obtain(Order order, byte[] request, KeyPair key) throws Exception {
        for (var authorization : order.getAuthorizations()) {
            if (authorization.getStatus() == Status.VALID) {
                continue;
            }
            var challenge = authorization.findChallenge(Http01Challenge.class).orElseThrow();
            shown.put(challenge.getToken(), challenge.getAuthorization());
            challenge.trigger();
            var status = authorization.waitForCompletion(PATIENCE);
            check(status == Status.VALID, "an authorization is " + status);
        }
        order.waitUntilReady(PATIENCE);
        if (request == null) {
            order.execute(key);
        } else {
            order.execute(request);
        }
        var status = order.waitForCompletion(PATIENCE);
        check(status == Status.VALID, "an order is " + status + ": " + order.getError());
        return order.getCertificate();
    }

    static void write(Certificate certificate, String file) throws Exception {
        try (Writer writer = new FileWriter(file)) {
            certificate.writeCertificate(writer);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Security.addProvider(new BouncyCastleProvider());
        trust(Path.of(System.getenv("ROOT")));
        var server = serve(Integer.parseInt(System.getenv("HTTP_PORT")));
        try {
            run();
        } finally {
            server.stop(0);
        }
    }

    static void run() throws Exception {
        String name = System.getenv("NAME");
        String[] names = {name, "www." + name};
        var session = new Session(URI.create(System.getenv("DIRECTORY")));
        var builder = new AccountBuilder().agreeToTermsOfService().addEmail("admin@example.org");
        Account account = builder.useKeyPair(KeyPairUtils.createECKeyPair("secp384r1")).create(session);

        var key = KeyPairUtils.createECKeyPair("secp256r1");
        var first = obtain(account.newOrder().domains(names).create(), null, key);
        write(first, "revoked.pem");
        check(first.hasRenewalInfo(), "there is no renewal information");
        var window = first.getRenewalInfo();
        check(window.renewalIsNotRequired(Instant.now()), "a new certificate is due at once");

        var next = obtain(account.newOrder().domains(names).replaces(first).create(), null, KeyPairUtils.createECKeyPair("secp256r1"));
        write(next, "valid.pem");
        first.revoke(RevocationReason.SUPERSEDED);

        var text = Files.readString(Path.of("request.pem")).replaceAll("-----[^-]*-----|\\s", "");
        write(obtain(account.newOrder().domains(names).create(), Base64.getDecoder().decode(text), null), "pq.pem");

        account.changeKey(KeyPairUtils.createECKeyPair("secp256r1"));
        try {
            account.newOrder().domain("refused.example.com").create();
            throw new IllegalStateException("a name that the policy refuses was not refused");
        } catch (AcmeException refused) {
            Files.writeString(Path.of("refused"), refused.toString());
        }
        account.deactivate();
    }
}
