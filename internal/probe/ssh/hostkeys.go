package ssh

import (
	"errors"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// hostKeyAlgorithms are the algorithms of the keys in known_hosts for a host. A server with
// several keys presents the key of the first algorithm in the list of the client, which
// without this could be a key that known_hosts lacks.
func hostKeyAlgorithms(known ssh.HostKeyCallback, address string) []string {
	// The handshake rejects an address that knownhosts cannot look up.
	err := known(address, &net.TCPAddr{}, noKey{})
	unknown, ok := errors.AsType[*knownhosts.KeyError](err)
	if !ok {
		return nil
	}
	var out []string
	for _, k := range unknown.Want {
		switch format := k.Key.Type(); format {
		case ssh.KeyAlgoRSA:
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		default:
			out = append(out, format)
		}
	}
	return out
}

// Keys returns the fingerprints of the keys in known_hosts by host name. A host with a
// certificate authority only has no entry.
func (p *Pool) Keys() map[string]string {
	out := map[string]string{}
	for name, address := range p.addresses {
		err := p.config.HostKeyCallback(address, &net.TCPAddr{}, noKey{})
		unknown, ok := errors.AsType[*knownhosts.KeyError](err)
		if !ok || len(unknown.Want) == 0 {
			continue
		}
		var prints []string
		for _, k := range unknown.Want {
			prints = append(prints, ssh.FingerprintSHA256(k.Key))
		}
		slices.Sort(prints)
		out[name] = strings.Join(slices.Compact(prints), " ")
	}
	return out
}

// noKey never matches: known_hosts then returns the keys that it has.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }
