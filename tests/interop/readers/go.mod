module readers

go 1.27

toolchain go1.27.3

require (
	github.com/youmark/pkcs8 v0.0.0-20240726163527-a2c0da244d78
	software.sslmate.com/src/go-pkcs12 v0.7.4
)

require golang.org/x/crypto v0.22.0 // indirect
