package ssh

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// HostKeyError is a host whose key cannot be trusted. Problem names the key with its
// fingerprint, and the files and lines that it was compared with.
type HostKeyError struct {
	Problem, Remedy string
}

func (e *HostKeyError) Error() string { return e.Problem + ": " + e.Remedy }

// knownHosts are the known_hosts files of a host. required: each must exist.
type knownHosts struct {
	files    []string
	required bool
	db       *knownhosts.HostKeyDB // set by load
}

func (k *knownHosts) load() error {
	var found []string
	for _, file := range k.files {
		if k.required || exists(file) {
			found = append(found, file)
		}
	}
	var err error
	if k.db, err = knownhosts.NewDB(found...); err != nil {
		return fmt.Errorf("read known hosts of the site (reach.ssh.knownHostsFile, UserKnownHostsFile): %w", err)
	}
	return nil
}

// check verifies the key of a host. Host is its address in the known_hosts files.
func (k *knownHosts) check(host string, remote net.Addr, key ssh.PublicKey) error {
	verify := k.db.HostKeyCallback()
	err := verify(host, remote, key)
	if err == nil {
		return nil
	}
	name := knownhosts.Normalize(host)
	if cert, ok := key.(*ssh.Certificate); ok {
		e := &HostKeyError{
			Problem: fmt.Sprintf("host certificate of %s (%s, signed by %s) is refused: %v", name, fingerprint(cert.Key), fingerprint(cert.SignatureKey), err),
			Remedy:  "compare the certificate authority and the certificate with " + strings.Join(k.files, ", "),
		}
		for _, part := range []ssh.PublicKey{cert.Key, cert.SignatureKey} {
			if revoked, ok := errors.AsType[*xknownhosts.RevokedError](verify(host, remote, part)); ok {
				return revokedError(name, revoked)
			}
		}
		return e
	}
	if revoked, ok := errors.AsType[*xknownhosts.RevokedError](err); ok {
		return revokedError(name, revoked)
	}
	unknown, ok := errors.AsType[*xknownhosts.KeyError](err)
	switch {
	case !ok:
		return fmt.Errorf("compare the key of %s with %s: %w", name, strings.Join(k.files, ", "), err)
	case len(unknown.Want) == 0:
		return &HostKeyError{
			Problem: fmt.Sprintf("host key of %s is not in %s: the host has %s", name, strings.Join(k.files, ", "), fingerprint(key)),
			Remedy:  "have an administrator confirm the fingerprint, then add the key (ssh-keyscan prints it)",
		}
	}
	var known []string
	for _, w := range unknown.Want {
		known = append(known, fmt.Sprintf("%s:%d has %s", w.Filename, w.Line, fingerprint(w.Key)))
	}
	return &HostKeyError{
		Problem: fmt.Sprintf("host key of %s has changed: the host has %s, but %s", name, fingerprint(key), strings.Join(known, ", ")),
		Remedy:  fmt.Sprintf("if the host was reinstalled, have an administrator confirm the new fingerprint and replace the line (ssh-keygen -R '%s' -f FILE removes it); otherwise another machine answers at its address", name),
	}
}

func revokedError(name string, e *xknownhosts.RevokedError) error {
	return &HostKeyError{
		Problem: fmt.Sprintf("host key of %s is revoked: %s in %s:%d", name, fingerprint(e.Revoked.Key), e.Revoked.Filename, e.Revoked.Line),
		Remedy:  "make a new host key on the host (ssh-keygen -A), and add it to the known hosts",
	}
}

func fingerprint(key ssh.PublicKey) string {
	return key.Type() + " " + ssh.FingerprintSHA256(key)
}

// certificateAlgorithms are those of host certificates: the type of a host's key does not
// depend on that of its certificate authority.
var certificateAlgorithms = []string{
	ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
	ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
}

// algorithms are the algorithms of the keys in known_hosts for a host; nil if it has none. A
// server with several keys presents the key of the first algorithm in the list of the client,
// which without this could be a key that known_hosts lacks.
func (k *knownHosts) algorithms(host string) []string {
	var out []string
	for _, key := range k.db.HostKeys(host) {
		switch {
		case key.Cert:
			out = append(slices.Clone(certificateAlgorithms), out...)
		case key.Type() == ssh.KeyAlgoRSA:
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		default:
			out = append(out, key.Type())
		}
	}
	return out
}

// explain replaces the error of a handshake in which the host offered none of the algorithms.
func (k *knownHosts) explain(host string, err error) error {
	negotiation, ok := errors.AsType[*ssh.AlgorithmNegotiationError](err)
	if !ok || !slices.Equal(negotiation.SupportedAlgorithms, k.algorithms(host)) {
		return err
	}
	var known []string
	for _, key := range k.db.HostKeys(host) {
		kind := "key "
		if key.Cert {
			kind = "certificate authority "
		}
		known = append(known, kind+fingerprint(key))
	}
	return &HostKeyError{
		Problem: fmt.Sprintf("host key of %s has changed: %s has only %s, and the host offers %s",
			knownhosts.Normalize(host), strings.Join(k.files, ", "), strings.Join(known, ", "), strings.Join(negotiation.RequestedAlgorithms, ", ")),
		Remedy: "have an administrator confirm the key or certificate of the host",
	}
}

// Keys returns the fingerprints of the keys in known_hosts by host name. A host with a
// certificate authority only has no entry.
func (p *Pool) Keys() map[string]string {
	out := map[string]string{}
	for name, h := range p.hosts {
		var prints []string
		for _, k := range h.known.db.HostKeys(h.lookup) {
			if !k.Cert {
				prints = append(prints, ssh.FingerprintSHA256(k))
			}
		}
		if len(prints) > 0 {
			slices.Sort(prints)
			out[name] = strings.Join(slices.Compact(prints), " ")
		}
	}
	return out
}
