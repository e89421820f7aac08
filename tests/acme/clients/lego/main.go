// lego, whose library its own program, Traefik and others use, obtains, renews (by ARI, and replacing) and revokes certificates by
// http-01, one of them for a request that pqtls made.
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/go-acme/lego/v4/certcrypto"
	"github.com/go-acme/lego/v4/certificate"
	"github.com/go-acme/lego/v4/challenge/http01"
	"github.com/go-acme/lego/v4/lego"
	"github.com/go-acme/lego/v4/registration"
)

type user struct {
	key          crypto.PrivateKey
	registration *registration.Resource
}

func (u *user) GetEmail() string                        { return "admin@example.org" }
func (u *user) GetRegistration() *registration.Resource { return u.registration }
func (u *user) GetPrivateKey() crypto.PrivateKey        { return u.key }

func check(err error) {
	if err != nil {
		log.Fatalf("%v (%#v)", err, err)
	}
}

func write(file string, text []byte) {
	check(os.WriteFile(file, text, 0o644))
}

func main() {
	roots := x509.NewCertPool()
	text, err := os.ReadFile(os.Getenv("ROOT"))
	check(err)
	if !roots.AppendCertsFromPEM(text) {
		log.Fatal("no root")
	}
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	check(err)
	who := &user{key: key}
	config := lego.NewConfig(who)
	config.CADirURL = os.Getenv("DIRECTORY")
	config.HTTPClient = &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
		Timeout:   30 * time.Second,
	}
	config.Certificate.KeyType = certcrypto.EC256
	client, err := lego.NewClient(config)
	check(err)
	check(client.Challenge.SetHTTP01Provider(http01.NewProviderServer("127.0.0.1", os.Getenv("HTTP_PORT"))))
	who.registration, err = client.Registration.Register(registration.RegisterOptions{TermsOfServiceAgreed: true})
	check(err)

	names := []string{os.Getenv("NAME"), "www." + os.Getenv("NAME")}
	first, err := client.Certificate.Obtain(certificate.ObtainRequest{Domains: names, Bundle: true})
	check(err)
	write("revoked.pem", first.Certificate)

	block, _ := pem.Decode(first.Certificate)
	leaf, err := x509.ParseCertificate(block.Bytes)
	check(err)
	info, err := client.Certificate.GetRenewalInfo(certificate.RenewalInfoRequest{Cert: leaf})
	check(err)
	if due := info.ShouldRenewAt(time.Now(), 0); due != nil {
		log.Fatalf("a new certificate is due at %v", due)
	}
	if !info.SuggestedWindow.Start.After(leaf.NotBefore) || !info.SuggestedWindow.End.Before(leaf.NotAfter) {
		log.Fatalf("the window is %v", info.SuggestedWindow)
	}
	replaced, err := certificate.MakeARICertID(leaf)
	check(err)
	second, err := client.Certificate.Obtain(certificate.ObtainRequest{Domains: names, Bundle: true, ReplacesCertID: replaced})
	check(err)
	write("valid.pem", second.Certificate)
	reason := uint(4)
	check(client.Certificate.RevokeWithReason(first.Certificate, &reason))

	text, err = os.ReadFile("request.pem")
	check(err)
	block, _ = pem.Decode(text)
	request, err := x509.ParseCertificateRequest(block.Bytes)
	check(err)
	other, err := client.Certificate.ObtainForCSR(certificate.ObtainForCSRRequest{CSR: request, Bundle: true})
	check(err)
	write("pq.pem", other.Certificate)

	_, err = client.Certificate.Obtain(certificate.ObtainRequest{Domains: []string{"refused.example.com"}})
	if err == nil {
		log.Fatal("a name that the policy refuses was not refused")
	}
	write("refused", []byte(err.Error()))
	check(client.Registration.DeleteRegistration())
}
