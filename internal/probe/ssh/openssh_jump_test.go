package ssh_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/ssh/opensshtest"
	"github.com/firstlight/firstlight/internal/site"
)

// behind is a host that is reached through two jump hosts by an SSH configuration.
type behind struct {
	first, second, target *opensshtest.Server
	site                  *site.Site
	dir                   string
	config                string
}

// newBehind starts the servers. Each jump host has a key of its own.
func newBehind(t *testing.T, extra ...string) *behind {
	t.Helper()
	b := &behind{dir: t.TempDir(), first: opensshtest.Start(t), second: opensshtest.Start(t, extra...), target: opensshtest.Start(t)}
	var known []string
	var addresses []string
	for i, s := range []*opensshtest.Server{b.first, b.second, b.target} {
		address := s.Listen(fmt.Sprintf("127.0.0.%d:0", i+2))
		addresses = append(addresses, portOf(t, address))
		id := filepath.Join(b.dir, fmt.Sprintf("id-%d", i))
		opensshtest.Keygen(t, id, "ed25519", "")
		s.Allow(id + ".pub")
		known = append(known, s.Known(address))
	}
	write(t, filepath.Join(b.dir, "known"), []byte(strings.Join(known, "")))
	b.config = fmt.Sprintf(`
Host first
  HostName 127.0.0.2
  Port %[1]s
  IdentityFile %[5]s/id-0
Host second
  HostName 127.0.0.3
  Port %[2]s
  IdentityFile %[5]s/id-1
Host gpu-*
  HostName 127.0.0.4
  Port %[3]s
  ProxyJump first,second
  IdentityFile %[5]s/id-2
Host *
  User %[4]s
  IdentitiesOnly yes
  UserKnownHostsFile %[5]s/known
  GlobalKnownHostsFile none
  StrictHostKeyChecking no
`, addresses[0], addresses[1], addresses[2], b.first.User, b.dir)
	b.site = &site.Site{
		Reach: site.Reach{SSH: site.SSH{
			ConfigFile: filepath.Join(b.dir, "config"), Concurrency: 4,
			ConnectTimeout: site.Duration(loaded), Timeout: site.Duration(2 * loaded),
		}},
		Inventory: site.Inventory{Nodes: []site.Node{{Name: "gpu-01"}, {Name: "gpu-02"}, {Name: "gpu-03"}}},
	}
	b.write(t, b.config)
	return b
}

func (b *behind) write(t *testing.T, config string) {
	t.Helper()
	write(t, b.site.Reach.SSH.ConfigFile, []byte(config))
}

func TestOpenSSHProxyJump(t *testing.T) {
	t.Parallel()
	b := newBehind(t)
	p, err := ssh.NewPool(t.Context(), b.site, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, n := range b.site.Inventory.Nodes {
		wg.Go(func() {
			out, err := p.Run(t.Context(), n.Name, "sh", "-c", "echo $SSH_CONNECTION")
			if err != nil {
				t.Error(err)
				return
			}
			// The peer of the host is the second jump host, which connects from its own sshd.
			if got := string(out.Stdout); !strings.Contains(got, "127.0.0.4 ") {
				t.Errorf("%s: connection %s", n.Name, got)
			}
		})
	}
	wg.Wait()
	// The hosts share the connections to the jump hosts.
	if f, s, h := b.first.Accepted.Load(), b.second.Accepted.Load(), b.target.Accepted.Load(); f != 1 || s != 1 || h != 3 {
		t.Errorf("%d, %d and %d connections, want 1, 1 and 3", f, s, h)
	}

	// A jump host that ends the connection is dialled again.
	b.first.HangUp()
	eventually(t, "a command after a lost jump host", func() error {
		_, err := p.Run(t.Context(), "gpu-01", "true")
		return err
	})
	if n := b.first.Accepted.Load(); n < 2 {
		t.Errorf("%d connections to the first jump host after it ended one", n)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}

	// Without the jump hosts the target is dialled, which shows that they were used.
	b.first.Accepted.Store(0)
	b.write(t, strings.Replace(b.config, "ProxyJump first,second", "ProxyJump none", 1))
	loggedIn(t, b.target, b.site, ssh.Options{})
	if n := b.first.Accepted.Load(); n != 0 {
		t.Errorf("%d connections to a jump host that is not used", n)
	}

	// The first jump host is reached as its own block says.
	b.write(t, strings.Replace(strings.Replace(b.config, "Host second\n", "Host second\n  ProxyJump first\n", 1), "first,second", "second", 1))
	loggedIn(t, b.target, b.site, ssh.Options{})
	if n := b.first.Accepted.Load(); n != 1 {
		t.Errorf("%d connections to the jump host of a jump host, want 1", n)
	}
}

func TestOpenSSHProxyJumpFails(t *testing.T) {
	t.Parallel()
	b := newBehind(t, "AllowTcpForwarding no")
	refused(t, b.site, ssh.Options{}, "through jump host 127.0.0.3", "prohibited")

	b.write(t, strings.Replace(b.config, "first,second", "first", 1))
	loggedIn(t, b.target, b.site, ssh.Options{})
	before, after := b.first.Renew("ed25519")
	refused(t, b.site, ssh.Options{}, "jump host 127.0.0.2", "has changed", before, after)

	// An invalid configuration is an error before a connection is opened.
	for _, tt := range []struct{ old, with, want string }{
		{"Host first\n", "Host first\n  ProxyJump gpu-01\n", "loop"},
		{"Host first\n", "Host first\n  ProxyCommand nc %h %p\n", "ProxyCommand is not supported"},
		{"  User ", "  ServerAliveInterval 1 #", "no user to log in to"},
		{"Host *\n", "Match exec \"true\"\n", "Match Exec is not supported"},
		{"/id-2", "/gone", "gone: no such file"},
	} {
		config := strings.Replace(b.config, tt.old, tt.with, 1)
		if config == b.config {
			t.Fatalf("%q is not in the configuration", tt.old)
		}
		b.write(t, config)
		refused(t, b.site, ssh.Options{}, tt.want)
		if err := ssh.CheckConfig(b.site); (err == nil) != (tt.old == "/id-2") {
			t.Errorf("%s: checked: %v", tt.with, err)
		}
	}
}

// The keys of the site are used instead of those of the configuration, as ssh -l and -i are.
func TestOpenSSHSiteBeforeConfig(t *testing.T) {
	t.Parallel()
	b := newBehind(t)
	b.write(t, strings.Replace(strings.Replace(b.config, "  ProxyJump first,second\n", "  ProxyJump second\n  User of-file\n", 1), "/id-2", "/gone", 1))
	refused(t, b.site, ssh.Options{}, "gone")
	b.site.Reach.SSH.User = b.target.User
	b.site.Reach.SSH.IdentityFile = filepath.Join(b.dir, "id-2")
	loggedIn(t, b.target, b.site, ssh.Options{})
	b.site.Reach.SSH.KnownHostsFile = filepath.Join(b.dir, "empty")
	if err := os.WriteFile(b.site.Reach.SSH.KnownHostsFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, b.site, ssh.Options{}, "jump host 127.0.0.3", "is not in "+b.site.Reach.SSH.KnownHostsFile)
}
