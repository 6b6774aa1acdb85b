// Package clearsign replaces the signed texts of OpenPGP that Helm's library imports. It refuses
// every signature.
package clearsign

import (
	"io"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// Block is never made.
type Block struct {
	Plaintext, Bytes []byte
	ArmoredSignature *Armored
}

// Armored is never made.
type Armored struct{ Body io.Reader }

// Encode refuses.
func Encode(io.Writer, *packet.PrivateKey, *packet.Config) (io.WriteCloser, error) {
	return nil, packet.ErrNoOpenPGP
}

// Decode finds no signed text.
func Decode(data []byte) (b *Block, rest []byte) { return nil, data }
