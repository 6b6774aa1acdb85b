// Package openpgp replaces the keys of OpenPGP that Helm's library imports. It reads none.
package openpgp

import (
	"io"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// Entity is never made.
type Entity struct {
	PrimaryKey *packet.PublicKey
	PrivateKey *packet.PrivateKey
	Identities map[string]*struct{}
}

// EntityList is always empty.
type EntityList []*Entity

// ReadEntity refuses.
func ReadEntity(*packet.Reader) (*Entity, error) { return nil, packet.ErrNoOpenPGP }

// ReadKeyRing refuses.
func ReadKeyRing(io.Reader) (EntityList, error) { return nil, packet.ErrNoOpenPGP }

// CheckDetachedSignature refuses.
func CheckDetachedSignature(EntityList, io.Reader, io.Reader, *packet.Config) (*Entity, error) {
	return nil, packet.ErrNoOpenPGP
}
