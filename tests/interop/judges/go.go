// Whether Go accepts certificates for names. Each line on standard input is
//
//	ROOT CERTIFICATE host|ip NAME
//
// with files of PEM, and is answered with a line "1" or "0".
package main

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
)

func certificate(file string) (*x509.Certificate, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	return x509.ParseCertificate(block.Bytes)
}

// The certificate of a file, if its chain is valid.
func valid(rootFile, file string) *x509.Certificate {
	root, err := certificate(rootFile)
	if err != nil {
		fmt.Fprintln(os.Stderr, rootFile, err)
		os.Exit(1)
	}
	// Go refuses to read some of them.
	leaf, err := certificate(file)
	if err != nil {
		return nil
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	options := x509.VerifyOptions{
		Roots:     roots,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	}
	if _, err := leaf.Verify(options); err != nil {
		return nil
	}
	return leaf
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	var last string
	var leaf *x509.Certificate
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		// The chain is the same for all names of a certificate.
		if fields[1] != last {
			last, leaf = fields[1], valid(fields[0], fields[1])
		}
		verdict := 0
		if leaf != nil && leaf.VerifyHostname(fields[3]) == nil {
			verdict = 1
		}
		fmt.Println(verdict)
	}
}
