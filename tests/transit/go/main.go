// The Go client of Vault, unchanged, with keys of ML-DSA in both spellings and of ECDSA.
package main

import (
	"crypto/aes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/vault/api"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func check(holds bool, what string) {
	if !holds {
		fmt.Fprintln(os.Stderr, "does not hold: "+what)
		os.Exit(1)
	}
}

// refused checks that a request failed with a status.
func refused(status int, err error) *api.ResponseError {
	var refusal *api.ResponseError
	check(errors.As(err, &refusal), fmt.Sprintf("a refusal with %d: %v", status, err))
	check(refusal.StatusCode == status, err.Error())
	return refusal
}

type data = map[string]interface{}

// keyWrapWithPadding is AES-KWP (RFC 5649) of a key that is longer than a semiblock.
func keyWrapWithPadding(with, key []byte) []byte {
	block := must(aes.NewCipher(with))
	count := (len(key) + 7) / 8
	wrapped := make([]byte, 8+8*count)
	copy(wrapped, []byte{0xa6, 0x59, 0x59, 0xa6})
	binary.BigEndian.PutUint32(wrapped[4:], uint32(len(key)))
	copy(wrapped[8:], key)
	buffer := make([]byte, 16)
	for step := 0; step < 6; step++ {
		for index := 1; index <= count; index++ {
			semiblock := wrapped[8*index : 8*index+8]
			copy(buffer, wrapped[:8])
			copy(buffer[8:], semiblock)
			block.Encrypt(buffer, buffer)
			number := binary.BigEndian.Uint64(buffer) ^ uint64(count*step+index)
			binary.BigEndian.PutUint64(wrapped, number)
			copy(semiblock, buffer[8:])
		}
	}
	return wrapped
}

// imports wraps a key as Vault's guide says, with Go's own library.
func imports(logical *api.Logical, message string) {
	answer := must(logical.Read("transit/wrapping_key"))
	block, _ := pem.Decode([]byte(answer.Data["public_key"].(string)))
	wrapping := must(x509.ParsePKIXPublicKey(block.Bytes)).(*rsa.PublicKey)
	check(wrapping.Size() == 512, "the wrapping key has 4096 bits")
	public, private, err := ed25519.GenerateKey(rand.Reader)
	pkcs8 := must(x509.MarshalPKCS8PrivateKey(must(private, err)))
	ephemeral := make([]byte, 32)
	must(rand.Read(ephemeral))
	wrapped := must(rsa.EncryptOAEP(sha256.New(), rand.Reader, wrapping, ephemeral, []byte{}))
	wrapped = append(wrapped, keyWrapWithPadding(ephemeral, pkcs8)...)
	ciphertext := base64.StdEncoding.EncodeToString(wrapped)
	body := data{"type": "ed25519", "ciphertext": ciphertext, "hash_function": "SHA256"}
	must(logical.Write("transit/keys/go-imported/import", body))
	must(logical.Write("transit/keys/go-imported/import_version", data{"ciphertext": ciphertext}))
	signed := must(logical.Write("transit/sign/go-imported", data{"input": message}))
	parts := strings.Split(signed.Data["signature"].(string), ":")
	signature := must(base64.StdEncoding.DecodeString(parts[2]))
	check(parts[1] == "v2" && ed25519.Verify(public, []byte("message"), signature), "an imported key signs")
	wrapped[0] ^= 1
	body["ciphertext"] = base64.StdEncoding.EncodeToString(wrapped)
	_, err = logical.Write("transit/keys/go-changed/import", body)
	refused(400, err)
}

func main() {
	// It reads VAULT_ADDR, VAULT_TOKEN and VAULT_CACERT.
	client := must(api.NewClient(nil))
	logical := client.Logical()
	message := base64.StdEncoding.EncodeToString([]byte("message"))

	own := must(client.Auth().Token().LookupSelf())
	check(own.Data["display_name"] == "client", "the token is the client's")
	health := must(client.Sys().Health())
	check(health.Initialized && !health.Sealed, "the server is there")

	for name, kind := range map[string]data{
		"go-ml-dsa":   {"type": "ml-dsa", "parameter_set": "44", "exportable": true},
		"go-mldsa-65": {"type": "mldsa-65", "exportable": "true"},
		"go-ecdsa":    {"type": "ecdsa-p256", "exportable": true},
	} {
		must(logical.Write("transit/keys/"+name, kind))
		sign := func() string {
			signed := must(logical.Write("transit/sign/"+name, data{"input": message}))
			return signed.Data["signature"].(string)
		}
		verify := func(signature string) (bool, error) {
			answer, err := logical.Write("transit/verify/"+name, data{"input": message, "signature": signature})
			if err != nil {
				return false, err
			}
			return answer.Data["valid"].(bool), nil
		}
		first := sign()
		must(logical.Write("transit/keys/"+name+"/rotate", nil))
		second := sign()
		check(strings.HasPrefix(first, "vault:v1:") && strings.HasPrefix(second, "vault:v2:"), "versions")
		check(must(verify(first)) && must(verify(second)), "both verify")
		check(!must(verify(strings.Replace(second, "vault:v2:", "vault:v1:", 1))), "not under another")

		batch := must(logical.Write("transit/sign/"+name, data{"batch_input": []data{{"input": message}, {"input": ""}}}))
		results := batch.Data["batch_results"].([]interface{})
		check(len(results) == 2, "a batch of two")
		check(must(verify(results[0].(data)["signature"].(string))), "a signature of a batch")

		exported := must(logical.Read("transit/export/signing-key/" + name))
		check(len(exported.Data["keys"].(data)) == 2, "two versions are exported")
		listed := must(logical.List("transit/keys"))
		check(strings.Contains(fmt.Sprint(listed.Data["keys"]), name), "it is listed")

		must(logical.Write("transit/keys/"+name+"/config", data{"min_decryption_version": 2, "min_encryption_version": 2}))
		_, err := verify(first)
		refused(400, err)
		must(logical.Write("transit/keys/"+name+"/trim", data{"min_available_version": 2}))
		key := must(logical.Read("transit/keys/" + name))
		check(len(key.Data["keys"].(data)) == 1, "one version is left")
		_, err = logical.Delete("transit/keys/" + name)
		refused(400, err)
		must(logical.Write("transit/keys/"+name+"/config", data{"deletion_allowed": true}))
		must(logical.Delete("transit/keys/" + name))
		gone := must(logical.Read("transit/keys/" + name))
		check(gone == nil, "it is gone")
	}

	imports(logical, message)

	_, err := logical.Write("transit/keys/go-none", data{"type": "aes256-gcm96"})
	refusal := refused(400, err)
	check(len(refusal.Errors) == 1 && strings.HasPrefix(refusal.Errors[0], "keys of type aes256-gcm96 are not supported here"), "Vault's form of errors")
	status := must(client.Sys().SealStatus())
	check(status.Initialized && !status.Sealed, "it is not sealed")
	check(must(client.Sys().InitStatus()), "it is initialized")
	check(!must(client.Sys().Leader()).HAEnabled, "it has no leader")
	_, err = logical.Write("transit/nothing", nil)
	refused(404, err)

	client.SetToken(os.Getenv("STRANGER"))
	for _, name := range []string{"go-ecdsa", "go-missing"} {
		_, err = logical.Read("transit/keys/" + name)
		refusal = refused(403, err)
		check(len(refusal.Errors) == 1 && refusal.Errors[0] == "permission denied", "strangers learn nothing")
	}
}
