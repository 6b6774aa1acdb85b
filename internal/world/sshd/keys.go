package sshd

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	gossh "golang.org/x/crypto/ssh"
)

// loadOrMakeKey reads a private key or creates an ed25519 key.
func loadOrMakeKey(path, comment string) (gossh.Signer, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeKey(path, comment)
	case err != nil:
		return nil, fmt.Errorf("read key: %w", err)
	}
	signer, err := gossh.ParsePrivateKey(data)
	if err != nil {
		return nil, fmt.Errorf("read key %s: %w; delete the file and start again", path, err)
	}
	return signer, nil
}

func makeKey(path, comment string) (gossh.Signer, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	block, err := gossh.MarshalPrivateKey(private, comment)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make directory of keys: %w", err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, fmt.Errorf("write key: %w", err)
	}
	sshPublic, err := gossh.NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("encode public key: %w", err)
	}
	if err := os.WriteFile(path+".pub", gossh.MarshalAuthorizedKey(sshPublic), 0o600); err != nil {
		return nil, fmt.Errorf("write public key: %w", err)
	}
	signer, err := gossh.NewSignerFromKey(private)
	if err != nil {
		return nil, fmt.Errorf("use key: %w", err)
	}
	return signer, nil
}
