package ssh_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/ssh/opensshtest"
	"github.com/firstlight/firstlight/internal/site"
)

// whoami runs id on gpu-01.
func whoami(t *testing.T, s *site.Site, o ssh.Options) (string, error) {
	t.Helper()
	p, err := ssh.NewPool(t.Context(), s, o)
	if err != nil {
		return "", err
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	out, err := p.Run(t.Context(), "gpu-01", "id", "-un")
	return strings.TrimSpace(string(out.Stdout)), err
}

// loggedIn requires a login as the server's user.
func loggedIn(t *testing.T, h *opensshtest.Server, s *site.Site, o ssh.Options) {
	t.Helper()
	if name, err := whoami(t, s, o); err != nil || name != h.User {
		t.Errorf("logged in as %q: %v", name, err)
	}
}

// refused requires an error with all the texts.
func refused(t *testing.T, s *site.Site, o ssh.Options, want ...string) {
	t.Helper()
	name, err := whoami(t, s, o)
	if err == nil {
		t.Errorf("logged in as %q, want an error with %q", name, want)
		return
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error has not %q: %v", text, err)
		}
	}
}

func TestOpenSSHKeyFile(t *testing.T) {
	t.Parallel()
	h, s := opensshSite(t)
	loggedIn(t, h, s, ssh.Options{})
	id := s.Reach.SSH.IdentityFile

	other := filepath.Join(t.TempDir(), "other")
	opensshtest.Keygen(t, other, "rsa", "")
	s.Reach.SSH.IdentityFile, s.Reach.SSH.IdentityFiles = "", []string{other, id}
	loggedIn(t, h, s, ssh.Options{})

	s.Reach.SSH.IdentityFiles = []string{other}
	refused(t, s, ssh.Options{}, "login as "+h.User+" refused", opensshtest.Fingerprint(t, other))

	// As ssh, it refuses a private key that others can read.
	s.Reach.SSH.IdentityFiles = []string{id}
	if err := os.Chmod(id, 0o644); err != nil {
		t.Fatal(err)
	}
	refused(t, s, ssh.Options{}, id, "0644", "chmod 600")
}

func TestOpenSSHEncryptedKey(t *testing.T) {
	t.Parallel()
	h, s := opensshSite(t)
	id := s.Reach.SSH.IdentityFile
	opensshtest.Tool(t, "ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", id)
	passphrase := filepath.Join(t.TempDir(), "passphrase")

	refused(t, s, ssh.Options{}, id, "encrypted", "no terminal", "reach.ssh.passphraseFile", "ssh-add "+id)

	s.Reach.SSH.PassphraseFile = passphrase
	write(t, passphrase, []byte("open sesame\n"))
	loggedIn(t, h, s, ssh.Options{})

	write(t, passphrase, []byte("wrong horse\n"))
	refused(t, s, ssh.Options{}, id, "another passphrase than that of "+passphrase, "no terminal")
	if err := os.Chmod(passphrase, 0o640); err != nil {
		t.Fatal(err)
	}
	refused(t, s, ssh.Options{}, passphrase, "chmod 600")

	// A terminal is asked after the file, at most three times, and once for each key.
	s.Reach.SSH.PassphraseFile = ""
	var asked []string
	answers := [][]byte{[]byte("wrong horse"), []byte("open sesame")}
	ask := ssh.Options{Passphrase: func(_ context.Context, file string) ([]byte, error) {
		asked = append(asked, file)
		a := answers[0]
		answers = answers[1:]
		return a, nil
	}}
	loggedIn(t, h, s, ask)
	if len(asked) != 2 || asked[0] != id || asked[1] != id {
		t.Errorf("asked for %q", asked)
	}
	answers = [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("open sesame")}
	refused(t, s, ask, id, "wrong passphrase, entered 3 times")
	stopped := ssh.Options{Passphrase: func(context.Context, string) ([]byte, error) { return nil, context.Canceled }}
	if _, err := whoami(t, s, stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted prompt: %v", err)
	}

	// ssh-agent has the key: no passphrase is needed. The key of another site is not offered.
	plain := filepath.Join(t.TempDir(), "plain")
	data, err := os.ReadFile(id)
	if err != nil {
		t.Fatal(err)
	}
	write(t, plain, data)
	opensshtest.Tool(t, "ssh-keygen", "-q", "-p", "-P", "open sesame", "-N", "", "-f", plain)
	loggedIn(t, h, s, ssh.Options{AgentSocket: agentWith(t, plain)})
	refused(t, s, ssh.Options{AgentSocket: agentWith(t)}, id, "encrypted")
}

func TestOpenSSHAgent(t *testing.T) {
	t.Parallel()
	h, s := opensshSite(t)
	id := s.Reach.SSH.IdentityFile
	s.Reach.SSH.IdentityFile = ""
	loggedIn(t, h, s, ssh.Options{AgentSocket: agentWith(t, id)})

	refused(t, s, ssh.Options{}, "reach.ssh.identityFile", "ssh-add", "SSH_AUTH_SOCK")
	refused(t, s, ssh.Options{AgentSocket: agentWith(t)}, "has no key to offer", "ssh-add")
	refused(t, s, ssh.Options{AgentSocket: filepath.Join(t.TempDir(), "gone")}, "ask ssh-agent at", "no such file")

	// sshd ends a login after 6 keys: with a named identity the agent's other keys are not offered.
	dir := t.TempDir()
	var keys []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		opensshtest.Keygen(t, filepath.Join(dir, name), "ed25519", "")
		keys = append(keys, filepath.Join(dir, name))
	}
	crowded := ssh.Options{AgentSocket: agentWith(t, append(keys, id)...)}
	refused(t, s, crowded, "Too many authentication failures", opensshtest.Fingerprint(t, keys[0]))
	s.Reach.SSH.IdentityFile = id
	loggedIn(t, h, s, crowded)
	s.Reach.SSH.IdentityFile = id + ".pub" // the agent signs
	loggedIn(t, h, s, crowded)
	s.Reach.SSH.IdentityFile = keys[0] + ".pub"
	refused(t, s, ssh.Options{AgentSocket: agentWith(t, keys[0], id)}, "login as "+h.User+" refused", opensshtest.Fingerprint(t, keys[0]))
}

func TestOpenSSHCertificate(t *testing.T) {
	t.Parallel()
	h, s := opensshSite(t)
	dir := t.TempDir()
	ca, id := filepath.Join(dir, "ca"), s.Reach.SSH.IdentityFile
	opensshtest.Keygen(t, ca, "ecdsa", "")
	public, err := os.ReadFile(ca + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.File("user_ca.pub"), public)
	write(t, h.File("authorized_keys"), nil)
	h.Share()
	sign := func(key string, more ...string) {
		t.Helper()
		opensshtest.Tool(t, append(append([]string{"ssh-keygen", "-q", "-s", ca, "-I", "acceptance of " + filepath.Base(key)}, more...), key+".pub")...)
	}
	refused(t, s, ssh.Options{}, "login as "+h.User+" refused")
	sign(id, "-n", h.User, "-V", "-5m:+5m")
	loggedIn(t, h, s, ssh.Options{})

	// Named, with a key of ssh-agent.
	cert := filepath.Join(dir, "named")
	if err := os.Rename(id+"-cert.pub", cert); err != nil {
		t.Fatal(err)
	}
	refused(t, s, ssh.Options{}, "login as "+h.User+" refused")
	s.Reach.SSH.CertificateFiles = []string{cert}
	loggedIn(t, h, s, ssh.Options{})
	socket := agentWith(t, id)
	s.Reach.SSH.IdentityFile = ""
	loggedIn(t, h, s, ssh.Options{AgentSocket: socket})

	// A certificate of ssh-agent itself.
	s.Reach.SSH.CertificateFiles = nil
	refused(t, s, ssh.Options{AgentSocket: socket}, "login as "+h.User+" refused")
	if err := os.Rename(cert, id+"-cert.pub"); err != nil {
		t.Fatal(err)
	}
	loggedIn(t, h, s, ssh.Options{AgentSocket: agentWith(t, id)})

	// The error has the principals, the end of validity and the authority of a certificate.
	s.Reach.SSH.IdentityFile = id
	sign(id, "-n", h.User, "-V", "20200101:20200102")
	refused(t, s, ssh.Options{}, `certificate "acceptance of id"`, "valid until 2020-01-0", opensshtest.Fingerprint(t, ca))
	sign(id, "-n", "another-user")
	refused(t, s, ssh.Options{}, "for another-user")
	if err := os.Remove(id + "-cert.pub"); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other")
	opensshtest.Keygen(t, other, "ed25519", "")
	sign(other, "-n", h.User)
	s.Reach.SSH.CertificateFiles = []string{other + "-cert.pub"}
	refused(t, s, ssh.Options{}, other+"-cert.pub", opensshtest.Fingerprint(t, other), "belongs to no identity")
	s.Reach.SSH.CertificateFiles = []string{other + ".pub"}
	refused(t, s, ssh.Options{}, "not a certificate", "ssh-keygen -s")
	sign(other, "-h", "-n", "gpu-01")
	s.Reach.SSH.CertificateFiles = []string{other + "-cert.pub"}
	refused(t, s, ssh.Options{}, "certificate of a host")
}
