// The Go client of Vault, unchanged, with keys of ML-DSA in both spellings and of ECDSA.
package main

import (
	"encoding/base64"
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

	_, err := logical.Write("transit/keys/go-none", data{"type": "aes256-gcm96"})
	refusal := refused(400, err)
	check(len(refusal.Errors) == 1 && refusal.Errors[0] == "unknown key type aes256-gcm96", "Vault's form of errors")
	_, err = logical.Write("transit/nothing", nil)
	refused(404, err)

	client.SetToken(os.Getenv("STRANGER"))
	for _, name := range []string{"go-ecdsa", "go-missing"} {
		_, err = logical.Read("transit/keys/" + name)
		refusal = refused(403, err)
		check(len(refusal.Errors) == 1 && refusal.Errors[0] == "permission denied", "strangers learn nothing")
	}
}
