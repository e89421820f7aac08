/* Whether OpenSSL accepts certificates for names. Each line on standard input is
 *
 *     ROOT CERTIFICATE host|ip|email NAME
 *
 * with files of PEM, and is answered with a line "1" or "0". Everything is as programs have it that set nothing but
 * the name: OpenSSL compares common names with hosts if there is no DNS name among the alternative names. */
#include <stdio.h>
#include <string.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

static X509 *read_certificate(const char *file)
{
    FILE *stream = fopen(file, "r");
    X509 *certificate = stream == NULL ? NULL : PEM_read_X509(stream, NULL, NULL, NULL);

    if (stream != NULL)
        fclose(stream);
    return certificate;
}

static int is_valid(X509 *root, X509 *certificate)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    int verdict;

    X509_STORE_add_cert(store, root);
    X509_STORE_CTX_init(context, store, certificate, NULL);
    verdict = X509_verify_cert(context) == 1;
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    return verdict;
}

static int is_for(X509 *certificate, const char *kind, const char *name)
{
    if (strcmp(kind, "host") == 0)
        return X509_check_host(certificate, name, 0, 0, NULL) == 1;
    if (strcmp(kind, "ip") == 0)
        return X509_check_ip_asc(certificate, name, 0) == 1;
    return X509_check_email(certificate, name, 0, 0) == 1;
}

int main(void)
{
    char root_file[256], file[256], kind[16], name[512], last[256] = "";
    X509 *certificate = NULL;
    int valid = 0;

    while (scanf("%255s %255s %15s %511s", root_file, file, kind, name) == 4) {
        /* The chain is the same for all names of a certificate. */
        if (strcmp(file, last) != 0) {
            X509 *root = read_certificate(root_file);

            X509_free(certificate);
            certificate = read_certificate(file);
            if (root == NULL || certificate == NULL) {
                fprintf(stderr, "can't read %s or %s\n", root_file, file);
                return 1;
            }
            valid = is_valid(root, certificate);
            strcpy(last, file);
            X509_free(root);
        }
        printf("%d\n", valid && is_for(certificate, kind, name));
    }
    X509_free(certificate);
    return 0;
}
