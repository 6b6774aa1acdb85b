package ssh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/crypto/ssh"
)

// identity has the keys of a login.
type identity struct {
	// files are private keys. required: each must exist.
	files            []string
	required         bool
	certificateFiles []string
	// agent is the socket of ssh-agent; empty: none. only: of its keys, those of files alone.
	agent string
	only  bool

	// Set by load.
	keys         []key
	certificates []*ssh.Certificate
}

// key is a key of a file. Its signer is nil if ssh-agent has to sign.
type key struct {
	file   string
	public ssh.PublicKey
	signer ssh.Signer
}

// errNoIdentity has the remedy.
var errNoIdentity = errors.New("no SSH identity: set reach.ssh.identityFile, or add a key to ssh-agent (ssh-add) and export SSH_AUTH_SOCK")

// load reads the private keys and certificates. As ssh, it leaves out those of an SSH
// configuration that are missing or cannot be decrypted, if others remain.
func (i *identity) load(ctx context.Context, ring *keyring) error {
	var errs, skipped []error
	for _, file := range i.files {
		k, err := ring.load(ctx, file, i.agent)
		if err != nil {
			err = fmt.Errorf("read SSH identity %s (reach.ssh.identityFile, IdentityFile): %w", file, err)
		}
		switch {
		case err == nil:
			i.keys = append(i.keys, k)
			if c := file + "-cert.pub"; exists(c) && !slices.Contains(i.certificateFiles, c) {
				i.certificateFiles = append(slices.Clone(i.certificateFiles), c)
			}
		case !i.required && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errLocked)):
			skipped = append(skipped, err)
		default:
			errs = append(errs, err)
		}
	}
	for _, file := range i.certificateFiles {
		c, err := readCertificate(file)
		if err == nil && i.agent == "" && !slices.ContainsFunc(i.keys, func(k key) bool { return equal(k.public, c.Key) }) {
			err = fmt.Errorf("it certifies the key %s, which belongs to no identity of the login", fingerprint(c.Key))
		}
		if err == nil {
			i.certificates = append(i.certificates, c)
		} else if i.required || !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("read SSH certificate %s (reach.ssh.certificateFiles, CertificateFile): %w", file, err))
		}
	}
	if len(errs) == 0 && len(i.keys) == 0 && (i.agent == "" || i.only && len(i.files) > 0) {
		errs = append(skipped, errNoIdentity)
	}
	return errors.Join(errs...)
}

// signers are the keys in the order in which they are offered: certificates, keys of files in
// ssh-agent, other keys of ssh-agent, keys of files. Call end after the login.
func (i *identity) signers(ctx context.Context) (_ []ssh.Signer, end func(), err error) {
	held, end, err := i.held(ctx)
	if err != nil {
		return nil, end, err
	}
	var named, others, own []ssh.Signer
	for _, s := range held {
		switch {
		case slices.ContainsFunc(i.keys, func(k key) bool { return equal(k.public, plain(s.PublicKey())) }):
			named = append(named, s)
		case !i.only || len(i.files) == 0:
			others = append(others, s)
		}
	}
	for _, k := range i.keys {
		if k.signer != nil && !slices.ContainsFunc(named, func(s ssh.Signer) bool { return equal(s.PublicKey(), k.public) }) {
			own = append(own, k.signer)
		}
	}
	all := slices.Concat(named, others, own)
	certified, err := i.certified(all)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("ssh-agent at %s has no key to offer: add one with ssh-add, or set reach.ssh.identityFile", i.agent)
	}
	return append(certified, all...), end, err
}

// held are the keys in ssh-agent, if the login may offer any of them.
func (i *identity) held(ctx context.Context) ([]ssh.Signer, func(), error) {
	needed := len(i.keys) == 0 || slices.ContainsFunc(i.keys, func(k key) bool { return k.signer == nil })
	if i.agent == "" || i.only && !needed {
		return nil, func() {}, nil
	}
	client, end, err := openAgent(ctx, i.agent)
	var held []ssh.Signer
	if err == nil {
		held, err = client.Signers()
	}
	if err != nil && needed {
		return nil, end, fmt.Errorf("ask ssh-agent at %s for its keys: %w", i.agent, err)
	}
	return held, end, nil // the login continues with the keys of files
}

// certified are the signers of the certificates.
func (i *identity) certified(all []ssh.Signer) ([]ssh.Signer, error) {
	var out []ssh.Signer
	for _, c := range i.certificates {
		if slices.ContainsFunc(all, func(s ssh.Signer) bool { return equal(s.PublicKey(), c) }) {
			continue // ssh-agent has it
		}
		for _, s := range all {
			if !equal(s.PublicKey(), c.Key) {
				continue
			}
			signer, err := ssh.NewCertSigner(c, s)
			if err != nil {
				return nil, fmt.Errorf("use certificate %q: %w", c.KeyId, err)
			}
			out = append(out, signer)
			break
		}
	}
	return out, nil
}

// plain is the key that a certificate certifies, or the key itself.
func plain(key ssh.PublicKey) ssh.PublicKey {
	if c, ok := key.(*ssh.Certificate); ok {
		return c.Key
	}
	return key
}

func equal(a, b ssh.PublicKey) bool {
	return a != nil && b != nil && string(a.Marshal()) == string(b.Marshal())
}
