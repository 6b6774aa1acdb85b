package ssh

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"golang.org/x/crypto/ssh"
)

// errLocked is an encrypted key without passphrase.
var errLocked = errors.New("the private key is encrypted")

// keyring reads private keys, each once.
type keyring struct {
	passphraseFile string
	ask            func(ctx context.Context, file string) ([]byte, error)
	keys           map[string]key
}

// prompts is how often a wrong passphrase is asked again, as for ssh.
const prompts = 3

// load reads the private key of a file. If it is encrypted and agent has it, agent signs.
func (r *keyring) load(ctx context.Context, file, agent string) (key, error) {
	if k, ok := r.keys[file]; ok {
		return k, nil
	}
	k, err := r.read(ctx, file, agent)
	if err == nil {
		r.keys[file] = k
	}
	return k, err
}

func (r *keyring) read(ctx context.Context, file, agent string) (key, error) {
	k := key{file: file}
	if public, err := readPublic(file); err == nil {
		k.public = public // it names a key of ssh-agent
		return k, nil
	}
	data, err := readSecret(file)
	if err != nil {
		return key{}, err
	}
	k.signer, err = ssh.ParsePrivateKey(data)
	encrypted, ok := errors.AsType[*ssh.PassphraseMissingError](err)
	if !ok {
		if err != nil {
			return key{}, fmt.Errorf("%w: must be a private key in OpenSSH or PEM format (ssh-keygen -p -f FILE converts it)", err)
		}
		k.public = k.signer.PublicKey()
		return k, nil
	}
	if k.public = publicOf(file, encrypted); k.public != nil && agentHas(ctx, agent, k.public) {
		return k, nil
	}
	k.signer, err = r.decrypt(ctx, file, data)
	if err == nil {
		k.public = k.signer.PublicKey()
	}
	return k, err
}

// publicOf is the public key of an encrypted one, of the key itself or of KEY.pub; nil
// if neither has it.
func publicOf(file string, encrypted *ssh.PassphraseMissingError) ssh.PublicKey {
	if encrypted.PublicKey != nil {
		return encrypted.PublicKey
	}
	public, err := readPublic(file + ".pub")
	if err != nil {
		return nil
	}
	return public
}

func readPublic(file string) (ssh.PublicKey, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey(data)
	return public, err
}

// decrypt takes the passphrase from its file, else from the terminal.
func (r *keyring) decrypt(ctx context.Context, file string, data []byte) (ssh.Signer, error) {
	wrong := ""
	if r.passphraseFile != "" {
		passphrase, err := readSecret(r.passphraseFile)
		if err != nil {
			return nil, fmt.Errorf("read its passphrase (reach.ssh.passphraseFile): %w", err)
		}
		signer, err := ssh.ParsePrivateKeyWithPassphrase(data, bytes.TrimRight(passphrase, "\r\n"))
		if !errors.Is(err, x509.IncorrectPasswordError) {
			return signer, err
		}
		wrong = " with another passphrase than that of " + r.passphraseFile
	}
	if r.ask == nil {
		return nil, fmt.Errorf("%w%s, and there is no terminal to ask for its passphrase: set reach.ssh.passphraseFile, or add the key to ssh-agent (ssh-add %s) and export SSH_AUTH_SOCK", errLocked, wrong, file)
	}
	for range prompts {
		passphrase, err := r.ask(ctx, file)
		if err != nil {
			return nil, fmt.Errorf("ask for its passphrase: %w", err)
		}
		signer, err := ssh.ParsePrivateKeyWithPassphrase(data, passphrase)
		clear(passphrase)
		if !errors.Is(err, x509.IncorrectPasswordError) {
			return signer, err
		}
	}
	return nil, fmt.Errorf("wrong passphrase, entered %d times", prompts)
}

// readSecret reads a file that others must not read; as ssh, it refuses one of this user only.
func readSecret(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); ownedByUser(info) && mode&0o077 != 0 {
		return nil, fmt.Errorf("%s has mode %#o, so other users can read it: chmod 600 %[1]s", file, mode)
	}
	return os.ReadFile(file)
}

func readCertificate(file string) (*ssh.Certificate, error) {
	public, err := readPublic(file)
	if err != nil {
		return nil, err
	}
	c, ok := public.(*ssh.Certificate)
	switch {
	case !ok:
		return nil, errors.New("it is a public key, not a certificate: have a certificate authority sign it (ssh-keygen -s CA -I ID -n USER KEY.pub)")
	case c.CertType != ssh.UserCert:
		return nil, errors.New("it is a certificate of a host, not of a user")
	}
	return c, nil
}
