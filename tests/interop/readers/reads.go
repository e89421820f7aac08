// Whether Go reads private keys: its own packages in the clear, and encrypted ones and PKCS#12 by the packages that
// others use for them. See `run` for the lines that this reads and answers.
package main

import (
	"bufio"
	"crypto"
	"crypto/ecdh"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"
)

func read(kind string, file []byte, passphrase string) (any, error) {
	switch kind {
	case "pkcs12":
		key, _, _, err := pkcs12.DecodeChain(file, passphrase)
		return key, err
	case "encrypted":
		return pkcs8.ParsePKCS8PrivateKey(file, []byte(passphrase))
	default:
		return x509.ParsePKCS8PrivateKey(file)
	}
}

func public(key any) (any, error) {
	switch key := key.(type) {
	case crypto.Signer:
		return key.Public(), nil
	case *ecdh.PrivateKey:
		return key.Public(), nil
	default:
		return nil, errors.New("of another kind")
	}
}

func answer(kind, path, passphrase string) (said string, failed error) {
	// One of the packages panics on what it doesn't know.
	defer func() {
		if reason := recover(); reason != nil {
			failed = fmt.Errorf("it panics: %v", reason)
		}
	}()
	file, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	key, err := read(kind, file, passphrase)
	if err != nil {
		return "", err
	}
	half, err := public(key)
	if err != nil {
		return "", err
	}
	spki, err := x509.MarshalPKIXPublicKey(half)
	return "public " + hex.EncodeToString(spki), err
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		said, err := answer(fields[0], fields[2], os.Args[1])
		if err != nil {
			said = "no " + err.Error()
		}
		fmt.Println(strings.ReplaceAll(said, "\n", " "))
	}
}
