package opensshtest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Renew gives the server another host key, and returns the fingerprints of the old and the new one.
func (s *Server) Renew(kind string) (before, after string) {
	s.t.Helper()
	before = Fingerprint(s.t, s.File("host_key"))
	for _, name := range []string{"host_key", "host_key.pub"} {
		if err := os.Remove(s.File(name)); err != nil {
			s.t.Fatal(err)
		}
	}
	Keygen(s.t, s.File("host_key"), kind, "")
	s.Share()
	return before, Fingerprint(s.t, s.File("host_key"))
}

// Fingerprint is the SHA256 fingerprint of a key file, by ssh-keygen.
func Fingerprint(t *testing.T, file string) string {
	t.Helper()
	return strings.Fields(Tool(t, "ssh-keygen", "-l", "-f", file))[1]
}

// Bracketed is an address as known_hosts has it.
func Bracketed(t *testing.T, address string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return "[" + host + "]:" + port
}

// Keygen makes a key with ssh-keygen.
func Keygen(t *testing.T, file, kind, passphrase string) {
	t.Helper()
	Tool(t, "ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", filepath.Base(file), "-f", file)
}

// Tool runs a program of OpenSSH and returns its output.
func Tool(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}
