package attest

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// Signer signs payloads. KeyPair is the built-in implementation; a key management service can be
// another. An identity signs with SignKeyless.
type Signer interface {
	// Sign returns the signature of data, which is the envelope's encoding of
	// payload and payload type.
	Sign(ctx context.Context, data []byte) ([]byte, error)
	// KeyID identifies the key for lookup. It is not verified.
	KeyID() (string, error)
}

const (
	privateType = "PRIVATE KEY"
	publicType  = "PUBLIC KEY"
	// maxKeyFile is the largest key file in bytes.
	maxKeyFile = 16 << 10
)

// KeyPair is an ed25519 key pair.
type KeyPair struct{ private ed25519.PrivateKey }

// Generate generates a key.
func Generate(random io.Reader) (KeyPair, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return KeyPair{}, fmt.Errorf("generate a key: %w", err)
	}
	return KeyPair{private: ed25519.NewKeyFromSeed(seed)}, nil
}

// Sign implements Signer.
func (k KeyPair) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(k.private, data), nil
}

// KeyID implements Signer: the SHA256 fingerprint as OpenSSH prints it.
func (k KeyPair) KeyID() (string, error) { return k.Public().KeyID() }

// Public is the public key.
func (k KeyPair) Public() PublicKey {
	public, _ := k.private.Public().(ed25519.PublicKey) // always this type
	return PublicKey{key: public}
}

// Write writes the pair as PEM, the private key readable by its owner only. fs.ErrExist: one of
// the files exists; nothing is written.
func (k KeyPair) Write(privatePath, publicPath string) error {
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return fmt.Errorf("encode the private key: %w", err)
	}
	if _, err := os.Lstat(publicPath); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the public key: %s: %w", publicPath, errors.Join(fs.ErrExist, err))
	}
	public, err := k.Public().PEM()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteSynced(privatePath, pem.EncodeToMemory(&pem.Block{Type: privateType, Bytes: der}), os.O_EXCL, 0o600); err != nil {
		return fmt.Errorf("write the private key: %w", err)
	}
	if err := atomicfile.WriteSynced(publicPath, public, os.O_EXCL, 0o644); err != nil {
		return errors.Join(fmt.Errorf("write the public key: %w", err), os.Remove(privatePath))
	}
	return nil
}

// LoadPrivate reads a private key. A key that other users can read is an error.
func LoadPrivate(path string) (KeyPair, error) {
	info, err := os.Stat(path)
	if err != nil {
		return KeyPair{}, fmt.Errorf("read the private key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return KeyPair{}, fmt.Errorf("the private key %s is readable by other users (mode %04o): chmod 600 %s", path, info.Mode().Perm(), path)
	}
	der, err := readPEM(path, privateType)
	if err != nil {
		return KeyPair{}, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return KeyPair{}, fmt.Errorf("read the private key %s: it is not PKCS#8", path)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return KeyPair{}, fmt.Errorf("the private key %s is %T, not ed25519", path, parsed)
	}
	return KeyPair{private: private}, nil
}

// PublicKey verifies.
type PublicKey struct{ key ed25519.PublicKey }

var _ dsse.Verifier = PublicKey{}

// Verify implements dsse.Verifier.
func (p PublicKey) Verify(_ context.Context, data, sig []byte) error {
	if len(p.key) != ed25519.PublicKeySize || !ed25519.Verify(p.key, data, sig) {
		return errors.New("the signature does not match key and data")
	}
	return nil
}

// KeyID implements dsse.Verifier.
func (p PublicKey) KeyID() (string, error) {
	id, err := dsse.SHA256KeyID(p.key)
	if err != nil {
		return "", fmt.Errorf("name the key: %w", err)
	}
	return id, nil
}

// Public implements dsse.Verifier.
func (p PublicKey) Public() crypto.PublicKey { return p.key }

// PEM is the key in PKIX form.
func (p PublicKey) PEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(p.key)
	if err != nil {
		return nil, fmt.Errorf("encode the public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: publicType, Bytes: der}), nil
}

// LoadPublic reads a public key.
func LoadPublic(path string) (PublicKey, error) {
	der, err := readPEM(path, publicType)
	if err != nil {
		return PublicKey{}, err
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return PublicKey{}, fmt.Errorf("read the public key %s: %w", path, err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return PublicKey{}, fmt.Errorf("the public key %s is %T, not ed25519", path, parsed)
	}
	return PublicKey{key: key}, nil
}

// readPEM reads a file with one PEM block of the type. Errors never contain the content.
func readPEM(path, want string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a key: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read a key: %w", err)
	}
	block, rest := pem.Decode(data)
	switch {
	case len(data) > maxKeyFile:
		return nil, fmt.Errorf("%s is too large for a key", path)
	case block == nil:
		return nil, fmt.Errorf("%s has no PEM block: create a key with firstlight evidence keygen", path)
	case block.Type != want:
		return nil, fmt.Errorf("%s has a %s, want a %s", path, block.Type, want)
	case len(rest) > 0:
		return nil, fmt.Errorf("%s has more than one key", path)
	}
	return block.Bytes, nil
}
