package ssh_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/ssh/opensshtest"
	"github.com/firstlight/firstlight/internal/site"
)

// trust replaces the known hosts of a site.
func trust(t *testing.T, s *site.Site, lines ...string) {
	t.Helper()
	write(t, s.Reach.SSH.KnownHostsFile, []byte(strings.Join(lines, "")))
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOpenSSHChangedHostKey(t *testing.T) {
	t.Parallel()
	h, s := opensshSite(t)
	address, known := s.Inventory.Nodes[0].Address, s.Reach.SSH.KnownHostsFile
	trust(t, s, "# the hosts\n\n", h.Known(address))
	loggedIn(t, h, s, ssh.Options{})
	before, after := h.Renew("ed25519")
	refused(t, s, ssh.Options{}, "has changed", opensshtest.Bracketed(t, address), known+":3", before, after, "ssh-keygen -R")
	_, err := whoami(t, s, ssh.Options{})
	if u, ok := errors.AsType[*ssh.UnreachableError](err); !ok || !strings.Contains(u.Remedy(), "knownHostsFile") {
		t.Errorf("%v", err)
	}

	// A key of another type is a change, too.
	h.Renew("rsa")
	refused(t, s, ssh.Options{}, "has changed", before, "rsa-sha2-512")

	trust(t, s)
	_, rsa := opensshtest.Fingerprint(t, h.File("host_key")), opensshtest.Fingerprint(t, h.File("host_key"))
	refused(t, s, ssh.Options{}, "is not in "+known, rsa, "administrator")

	trust(t, s, h.Known(address))
	loggedIn(t, h, s, ssh.Options{})
	opensshtest.Tool(t, "ssh-keygen", "-q", "-H", "-f", known)
	if !strings.HasPrefix(text(t, known), "|1|") {
		t.Fatal("ssh-keygen -H has not hashed the name")
	}
	loggedIn(t, h, s, ssh.Options{})
}

func TestOpenSSHHostCertificate(t *testing.T) {
	t.Parallel()
	h, s := opensshSite(t, "HostCertificate /dev/null")
	address := s.Inventory.Nodes[0].Address
	config := text(t, h.File("sshd_config"))
	write(t, h.File("sshd_config"), []byte(strings.Replace(config, "HostCertificate /dev/null", "HostCertificate "+h.File("host_key-cert.pub"), 1)))
	dir := t.TempDir()
	ca, other := filepath.Join(dir, "ca"), filepath.Join(dir, "other")
	opensshtest.Keygen(t, ca, "rsa", "") // another type than that of the host key
	opensshtest.Keygen(t, other, "ed25519", "")
	sign := func(ca string, more ...string) {
		t.Helper()
		opensshtest.Tool(t, append(append([]string{"ssh-keygen", "-q", "-h", "-s", ca, "-I", "gpu-01"}, more...), h.File("host_key.pub"))...)
		h.Share()
	}
	authority := func(pattern, ca string) string { return "@cert-authority " + pattern + " " + text(t, ca+".pub") }
	pattern := "[127.0.0.*]:" + portOf(t, address)

	sign(ca, "-n", "127.0.0.1")
	trust(t, s, authority(pattern, ca))
	loggedIn(t, h, s, ssh.Options{})
	trust(t, s, authority("127.0.0.*", ca)) // as for ssh, for every port
	loggedIn(t, h, s, ssh.Options{})

	trust(t, s, authority(pattern, other))
	refused(t, s, ssh.Options{}, "host certificate of", opensshtest.Fingerprint(t, ca), "no authorities")
	trust(t, s, authority("[10.0.0.*]:22", ca))
	refused(t, s, ssh.Options{}, opensshtest.Bracketed(t, address))

	sign(ca, "-n", "gpu-02")
	trust(t, s, authority(pattern, ca))
	refused(t, s, ssh.Options{}, "host certificate of", `"127.0.0.1" not in the set of valid principals`)
	sign(ca, "-n", "127.0.0.1", "-V", "20200101:20200102")
	refused(t, s, ssh.Options{}, "host certificate of", "expired")

	// A host without a certificate is not let through for an authority's sake.
	if err := os.Remove(h.File("host_key-cert.pub")); err != nil {
		t.Fatal(err)
	}
	write(t, h.File("sshd_config"), []byte(strings.Replace(config, "HostCertificate /dev/null", "", 1)))
	h.Share()
	refused(t, s, ssh.Options{}, "certificate authority", opensshtest.Fingerprint(t, ca), "host offers")
	trust(t, s, authority(pattern, ca), h.Known(address))
	loggedIn(t, h, s, ssh.Options{})
}

func TestOpenSSHRevokedHostKey(t *testing.T) {
	t.Parallel()
	h, s := opensshSite(t)
	address, known := s.Inventory.Nodes[0].Address, s.Reach.SSH.KnownHostsFile
	fingerprint := opensshtest.Fingerprint(t, h.File("host_key"))
	trust(t, s, h.Known(address), "@revoked * "+text(t, h.File("host_key.pub")))
	refused(t, s, ssh.Options{}, "is revoked", fingerprint, known+":2", "ssh-keygen -A")
	trust(t, s, "@revoked * "+text(t, h.File("host_key.pub")))
	refused(t, s, ssh.Options{}, "is revoked", known+":1")

	// The authority is revoked.
	ca := filepath.Join(t.TempDir(), "ca")
	opensshtest.Keygen(t, ca, "ed25519", "")
	opensshtest.Tool(t, "ssh-keygen", "-q", "-h", "-s", ca, "-I", "gpu-01", "-n", "127.0.0.1", h.File("host_key.pub"))
	write(t, h.File("sshd_config"), []byte(text(t, h.File("sshd_config"))+"HostCertificate "+h.File("host_key-cert.pub")+"\n"))
	h.Share()
	authority := "@cert-authority [127.0.0.1]:" + portOf(t, address) + " " + text(t, ca+".pub")
	trust(t, s, authority)
	loggedIn(t, h, s, ssh.Options{})
	trust(t, s, authority, "@revoked * "+text(t, ca+".pub"))
	refused(t, s, ssh.Options{}, "is revoked", opensshtest.Fingerprint(t, ca), known+":2")
}
