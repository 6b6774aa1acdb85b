// Package packet replaces the packets of OpenPGP that Helm's library imports. It has no keys.
package packet

import (
	"crypto"
	"errors"
	"io"
)

// ErrNoOpenPGP is the error of each use.
var ErrNoOpenPGP = errors.New("this program is built without OpenPGP: signatures of charts are not verified")

// Config is ignored.
type Config struct{ DefaultHash crypto.Hash }

// PublicKey is never made.
type PublicKey struct{ Fingerprint []byte }

// PrivateKey is never made.
type PrivateKey struct{ Encrypted bool }

// Decrypt refuses.
func (*PrivateKey) Decrypt([]byte) error { return ErrNoOpenPGP }

// Reader reads nothing.
type Reader struct{}

// NewReader returns a Reader that nothing can be read from.
func NewReader(io.Reader) *Reader { return &Reader{} }
