// A server with Encrypted ClientHello. Its arguments are the files of its chain and key, and then three for each of its
// configurations: the ECHConfig and the private key in hexadecimal, and "current" if rejected clients are sent it, else "old".
//
// It prints the port of 127.0.0.1 where it listens, answers each client with a line that says whether it accepted ECH and
// which name it was asked for, and ends with its standard input.
package main

import (
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func unhex(text string) []byte {
	bytes, err := hex.DecodeString(text)
	check(err)
	return bytes
}

func serve(connection *tls.Conn) {
	defer connection.Close()
	if connection.Handshake() == nil {
		state := connection.ConnectionState()
		fmt.Fprintln(connection, state.ECHAccepted, state.ServerName)
	}
}

func main() {
	certificate, err := tls.LoadX509KeyPair(os.Args[1], os.Args[2])
	check(err)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
	for rest := os.Args[3:]; len(rest) > 0; rest = rest[3:] {
		config.EncryptedClientHelloKeys = append(config.EncryptedClientHelloKeys, tls.EncryptedClientHelloKey{
			Config:      unhex(rest[0]),
			PrivateKey:  unhex(rest[1]),
			SendAsRetry: rest[2] == "current",
		})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		connection, err := listener.Accept()
		check(err)
		go serve(tls.Server(connection, config))
	}
}
