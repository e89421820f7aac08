// certmagic, with which Caddy obtains its certificates, over acmez: it obtains, renews and revokes certificates for a running server
// by http-01; acmez alone obtains one for a request that pqtls made.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

func check(err error) {
	if err != nil {
		log.Fatalf("%v (%#v)", err, err)
	}
}

func write(file string, text []byte) {
	check(os.WriteFile(file, text, 0o644))
}

// The chain that certmagic keeps for a name.
func kept(name string) []byte {
	files, err := filepath.Glob("kept/certificates/*/" + name + "/" + name + ".crt")
	check(err)
	if len(files) != 1 {
		log.Fatalf("certmagic keeps %d certificates for %s", len(files), name)
	}
	text, err := os.ReadFile(files[0])
	check(err)
	return text
}

// Answers by http-01 for acmez alone.
type solver struct{ shown sync.Map }

func (s *solver) Present(_ context.Context, one acme.Challenge) error {
	s.shown.Store(one.HTTP01ResourcePath(), one.KeyAuthorization)
	return nil
}

func (s *solver) CleanUp(_ context.Context, one acme.Challenge) error {
	s.shown.Delete(one.HTTP01ResourcePath())
	return nil
}

func (s *solver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if answer, ok := s.shown.Load(r.URL.Path); ok {
		fmt.Fprint(w, answer)
	} else {
		http.NotFound(w, r)
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	roots := x509.NewCertPool()
	text, err := os.ReadFile(os.Getenv("ROOT"))
	check(err)
	if !roots.AppendCertsFromPEM(text) {
		log.Fatal("no root")
	}
	name := os.Getenv("NAME")
	port, err := strconv.Atoi(os.Getenv("HTTP_PORT"))
	check(err)

	var magic *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return magic, nil },
	})
	magic = certmagic.New(cache, certmagic.Config{
		Storage:   &certmagic.FileStorage{Path: "kept"},
		KeySource: certmagic.StandardKeyGenerator{KeyType: certmagic.P256},
	})
	issuer := certmagic.NewACMEIssuer(magic, certmagic.ACMEIssuer{
		CA:                      os.Getenv("DIRECTORY"),
		Email:                   "admin@example.org",
		Agreed:                  true,
		TrustedRoots:            roots,
		ListenHost:              "127.0.0.1",
		AltHTTPPort:             port,
		DisableTLSALPNChallenge: true,
	})
	magic.Issuers = []certmagic.Issuer{issuer}

	// It keeps a certificate for each name.
	check(magic.ObtainCertSync(ctx, name))
	write("valid.pem", kept(name))
	check(magic.RenewCertSync(ctx, name, true))
	write("revoked.pem", kept(name))
	check(magic.ManageSync(ctx, []string{name}))
	served, err := magic.GetCertificate(&tls.ClientHelloInfo{ServerName: name})
	check(err)
	if block, _ := pem.Decode(kept(name)); !bytes.Equal(served.Certificate[0], block.Bytes) {
		log.Fatal("servers get another certificate than the renewed one")
	}
	check(magic.RevokeCert(ctx, name, acme.ReasonSuperseded, false))
	err = magic.ObtainCertSync(ctx, "refused.example.com")
	if err == nil {
		log.Fatal("a name that the policy refuses was not refused")
	}
	write("refused", []byte(err.Error()))

	solver := &solver{}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("HTTP_PORT"))
	check(err)
	go http.Serve(listener, solver)
	client := acmez.Client{
		Client: &acme.Client{
			Directory:  os.Getenv("DIRECTORY"),
			HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}},
		},
		ChallengeSolvers: map[string]acmez.Solver{acme.ChallengeTypeHTTP01: solver},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	account, err := client.NewAccount(ctx, acme.Account{TermsOfServiceAgreed: true, PrivateKey: key})
	check(err)
	text, err = os.ReadFile("request.pem")
	check(err)
	block, _ := pem.Decode(text)
	request, err := x509.ParseCertificateRequest(block.Bytes)
	check(err)
	wanted, err := acmez.OrderParametersFromCSR(account, request)
	check(err)
	chains, err := client.ObtainCertificate(ctx, wanted)
	check(err)
	write("pq.pem", chains[0].ChainPEM)
}
