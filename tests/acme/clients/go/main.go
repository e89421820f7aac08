// Go's own client, golang.org/x/crypto/acme, obtains, renews and revokes certificates by http-01, one of them for a request that
// pqtls made.
package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
)

var shown sync.Map

func ecKey(curve elliptic.Curve) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	check(err)
	return key
}

func check(err error) {
	if err != nil {
		log.Fatalf("%v (%#v)", err, err)
	}
}

func pool() *x509.CertPool {
	roots := x509.NewCertPool()
	text, err := os.ReadFile(os.Getenv("ROOT"))
	check(err)
	if !roots.AppendCertsFromPEM(text) {
		log.Fatal("no root")
	}
	return roots
}

func account(ctx context.Context, roots *x509.CertPool, key crypto.Signer) *acme.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	client := &acme.Client{Key: key, DirectoryURL: os.Getenv("DIRECTORY"), HTTPClient: &http.Client{Transport: transport}}
	_, err := client.Register(ctx, &acme.Account{Contact: []string{"mailto:admin@example.org"}}, acme.AcceptTOS)
	check(err)
	return client
}

// An order for these names, whose challenges are done.
func ordered(ctx context.Context, client *acme.Client, names []string) (*acme.Order, error) {
	order, err := client.AuthorizeOrder(ctx, acme.DomainIDs(names...))
	if err != nil {
		return nil, err
	}
	for _, url := range order.AuthzURLs {
		authorization, err := client.GetAuthorization(ctx, url)
		if err != nil {
			return nil, err
		}
		if authorization.Status == acme.StatusValid {
			continue
		}
		for _, challenge := range authorization.Challenges {
			if challenge.Type != "http-01" {
				continue
			}
			answer, err := client.HTTP01ChallengeResponse(challenge.Token)
			if err != nil {
				return nil, err
			}
			shown.Store(client.HTTP01ChallengePath(challenge.Token), answer)
			if _, err := client.Accept(ctx, challenge); err != nil {
				return nil, err
			}
		}
		if _, err := client.WaitAuthorization(ctx, url); err != nil {
			return nil, err
		}
	}
	return client.WaitOrder(ctx, order.URI)
}

// The certificate for a request goes to a file. Returns that of the leaf.
func obtain(ctx context.Context, client *acme.Client, names []string, csr []byte, file string) []byte {
	order, err := ordered(ctx, client, names)
	check(err)
	chain, _, err := client.CreateOrderCert(ctx, order.FinalizeURL, csr, true)
	check(err)
	var text bytes.Buffer
	for _, one := range chain {
		check(pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: one}))
	}
	check(os.WriteFile(file, text.Bytes(), 0o644))
	return chain[0]
}

func request(names []string, key crypto.Signer) []byte {
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: names}, key)
	check(err)
	return csr
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("HTTP_PORT"))
	check(err)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, ok := shown.Load(r.URL.Path); ok {
			fmt.Fprint(w, answer)
		} else {
			http.NotFound(w, r)
		}
	}))

	roots := pool()
	names := []string{os.Getenv("NAME"), "www." + os.Getenv("NAME")}
	client := account(ctx, roots, ecKey(elliptic.P256()))
	own := ecKey(elliptic.P256())
	first := obtain(ctx, client, names, request(names, own), "revoked.pem")
	obtain(ctx, client, names, request(names, ecKey(elliptic.P256())), "valid.pem")

	// Revoked by the certificate's own key.
	check(client.RevokeCert(ctx, own, first, acme.CRLReasonKeyCompromise))

	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	check(err)
	other := account(ctx, roots, rsaKey)
	text, err := os.ReadFile("request.pem")
	check(err)
	block, _ := pem.Decode(text)
	obtain(ctx, other, names, block.Bytes, "pq.pem")

	check(client.AccountKeyRollover(ctx, ecKey(elliptic.P384())))
	_, err = ordered(ctx, client, []string{"refused.example.com"})
	if err == nil {
		log.Fatal("a name that the policy refuses was not refused")
	}
	check(os.WriteFile("refused", []byte(err.Error()), 0o644))
	check(client.DeactivateReg(ctx))
}
