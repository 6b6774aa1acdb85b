package ssh_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/ssh/opensshtest"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
)

// A host that accepts a connection and then hangs costs connectTimeout, a command that hangs
// costs timeout, a jump host that hangs costs connectTimeout for the hosts behind it.
func TestOpenSSHHangs(t *testing.T) {
	t.Parallel()
	h, s := opensshSite(t)
	h.Hang.Store(true)
	s.Reach.SSH.ConnectTimeout = site.Duration(300 * time.Millisecond)
	refused(t, s, ssh.Options{}, "unreachable", "no SSH handshake within 300ms")
	h.Hang.Store(false)

	s.Reach.SSH.ConnectTimeout, s.Reach.SSH.Timeout = site.Duration(time.Minute), site.Duration(5*time.Second)
	p, err := ssh.NewPool(t.Context(), s, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // a test's
	began := time.Now()
	pid := filepath.Join(h.Dir, "pid")
	_, err = p.Run(t.Context(), "gpu-01", "sh", "-c", "echo $$ > "+pid+"; exec sleep 600")
	if err == nil || !strings.Contains(err.Error(), "deadline exceeded") || time.Since(began) > time.Minute {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	eventually(t, "the command to end on the host", func() error {
		if _, err := os.Stat("/proc/" + strings.TrimSpace(text(t, pid))); err == nil {
			return errors.New("it runs")
		}
		return nil
	})
	if out, err := p.Run(t.Context(), "gpu-01", "echo", "again"); err != nil || string(out.Stdout) != "again\n" {
		t.Errorf("after a command that hung: %q, %v", out.Stdout, err)
	}

	b := newBehind(t)
	b.first.Hang.Store(true)
	b.site.Reach.SSH.ConnectTimeout = site.Duration(300 * time.Millisecond)
	refused(t, b.site, ssh.Options{}, "jump host 127.0.0.3", "jump host 127.0.0.2", "no SSH handshake within 300ms")
}

// A thousand hosts, each a server on an address of its own, some of which hang: every
// other one is reached, with never more connections than the site allows, and in bounded time.
func TestOpenSSHThousandHosts(t *testing.T) {
	t.Parallel()
	suite.Live(t)
	const hanging, limit = 8, 16
	hosts := suite.Pick(250, 1000, 1000)
	h := opensshtest.Start(t)
	silent := opensshtest.Silent(t)
	dir := t.TempDir()
	s := &site.Site{Reach: site.Reach{SSH: site.SSH{
		User: h.User, IdentityFile: filepath.Join(dir, "id"), KnownHostsFile: filepath.Join(dir, "known_hosts"), Concurrency: limit,
		ConnectTimeout: site.Duration(20 * time.Second), Timeout: site.Duration(time.Minute),
	}}}
	opensshtest.Keygen(t, s.Reach.SSH.IdentityFile, "ed25519", "")
	h.Allow(s.Reach.SSH.IdentityFile + ".pub")
	var known strings.Builder
	ports := map[string]bool{}
	for i := range hosts {
		server := h
		if i%(hosts/hanging) == 3 {
			server = silent
		}
		address := server.Listen(fmt.Sprintf("127.91.%d.%d:0", i/250, i%250+1))
		ports[hexPort(t, address)] = true
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%04d", i), Address: address})
		known.WriteString(h.Known(address))
	}
	trust(t, s, known.String())
	before := runtime.NumGoroutine()
	p, err := ssh.NewPool(t.Context(), s, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	most := make(chan int, 1)
	go func() { most <- mostConnections(done, ports) }()
	began := time.Now()
	var reached, unreachable atomic.Int32
	var wg sync.WaitGroup
	for _, n := range s.Inventory.Nodes {
		wg.Go(func() {
			out, err := p.Run(t.Context(), n.Name, "echo", n.Name)
			switch {
			case err == nil && string(out.Stdout) == n.Name+"\n":
				reached.Add(1)
			case errors.Is(err, ssh.ErrUnreachable) && strings.Contains(err.Error(), "no SSH handshake within"):
				unreachable.Add(1)
			default:
				t.Errorf("%s: %q, %v", n.Name, out.Stdout, err)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	close(done)
	if r, u := int(reached.Load()), int(unreachable.Load()); r != hosts-hanging || u != hanging {
		t.Errorf("%d hosts reached, %d not, want %d and %d", r, u, hosts-hanging, hanging)
	}
	if n := <-most; n > limit || n < limit/2 {
		t.Errorf("%d connections at once, want at most %d, and not one after the other", n, limit)
	} else {
		t.Logf("%d hosts in %s, at most %d connections at once", hosts, took, n)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	h.Stop()
	silent.Stop()
	eventually(t, "the goroutines of the pool to end", func() error {
		if n := runtime.NumGoroutine(); n > before {
			return fmt.Errorf("%d goroutines, %d before", n, before)
		}
		return nil
	})
}

// hexPort is the address as /proc/net/tcp has a peer: in hexadecimal, the bytes reversed.
func hexPort(t *testing.T, address string) string {
	t.Helper()
	tcp, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	ip := tcp.IP.To4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", ip[3], ip[2], ip[1], ip[0], tcp.Port)
}

// mostConnections is the largest number of established connections to peers at one time, until
// done. The kernel's list is not of one instant: a connection in two successive lists existed at
// the time between them.
func mostConnections(done <-chan struct{}, peers map[string]bool) int {
	most := 0
	var before map[string]bool
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return most
		case <-tick.C:
		}
		now, n := connections(peers), 0
		for c := range now {
			if before[c] {
				n++
			}
		}
		most, before = max(most, n), now
	}
}

// connections are the established connections of this process to peers. The kernel's list also has those that the
// process has closed and a child still holds that has not yet executed its program: the test starts a server a connection.
func connections(peers map[string]bool) map[string]bool {
	out := map[string]bool{}
	file, err := os.Open("/proc/net/tcp")
	if err != nil {
		return out
	}
	defer file.Close()
	open := sockets()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
		const established = "01"
		if f := strings.Fields(lines.Text()); len(f) > 9 && peers[f[2]] && f[3] == established && open["socket:["+f[9]+"]"] {
			out[f[1]+" "+f[2]] = true
		}
	}
	return out
}

// sockets are the open files of this process, as /proc names them.
func sockets() map[string]bool {
	out := map[string]bool{}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return out
	}
	for _, f := range files {
		if name, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil {
			out[name] = true
		}
	}
	return out
}
