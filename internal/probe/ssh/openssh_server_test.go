package ssh_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/probe/ssh/opensshtest"
	"github.com/firstlight/firstlight/internal/site"
)

// opensshSite is a server with a host gpu-01, a key that it lets in, and the site.
func opensshSite(t *testing.T, extra ...string) (*opensshtest.Server, *site.Site) {
	t.Helper()
	return siteOf(t, opensshtest.Start(t, extra...))
}

// siteOf is a site with a server as its host gpu-01, and a key that the server lets in.
func siteOf(t *testing.T, s *opensshtest.Server) (*opensshtest.Server, *site.Site) {
	t.Helper()
	address := s.Listen("127.0.0.1:0")
	dir := t.TempDir()
	id, known := filepath.Join(dir, "id"), filepath.Join(dir, "known_hosts")
	opensshtest.Keygen(t, id, "ed25519", "")
	s.Allow(id + ".pub")
	write(t, known, []byte(s.Known(address)))
	return s, &site.Site{
		Reach: site.Reach{SSH: site.SSH{
			User: s.User, IdentityFile: id, KnownHostsFile: known, Concurrency: 4,
			ConnectTimeout: site.Duration(loaded), Timeout: site.Duration(2 * loaded),
		}},
		Inventory: site.Inventory{Nodes: []site.Node{{Name: "gpu-01", Address: address}}},
	}
}

// agentWith starts ssh-agent with keys of files, and returns its socket.
func agentWith(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent") //nolint:usetesting // the path of a socket is limited to 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	cmd := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for _, file := range files {
		eventually(t, "ssh-add "+file, func() error {
			add := exec.CommandContext(t.Context(), "ssh-add", "-q", file)
			add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
			out, err := add.CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	}
	eventually(t, "ssh-agent", func() error {
		_, err := os.Stat(socket)
		return err
	})
	return socket
}

// loaded is a deadline for three logins, one through another, each with a new sshd: with 45 processes
// running on two cores they took 45 s, and failed at 60 s.
const loaded = 4 * time.Minute

func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	deadline := time.Now().Add(2 * loaded)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	err := f()
	for ; err != nil; err = f() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		<-tick.C
	}
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	return port
}
