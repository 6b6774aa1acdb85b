package ssh

import (
	"errors"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// hostKeyAlgorithms are those of the keys that known_hosts holds for a host. A
// server has several keys and shows the one whose algorithm comes first in the
// client's list: without this it may show one that is not in known_hosts, and
// look like an impostor.
func hostKeyAlgorithms(known ssh.HostKeyCallback, address string) []string {
	// An address that knownhosts can't look up is refused by the handshake itself.
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

// Keys identifies the machines behind the site's hosts: by name, the fingerprints of the keys
// that known_hosts holds for each. One that it vouches for by an authority alone has none.
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

// noKey is nobody's key: known_hosts answers it with the keys it has.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }
