package ssh_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/firstlight/firstlight/internal/site"
)

// command is what a test's host makes of one command line; it returns the exit status.
type command func(line string, ch ssh.Channel, closed <-chan struct{}) uint32

// server is a host of a test: real SSH, invented commands.
type server struct {
	t        *testing.T
	listener net.Listener
	config   *ssh.ServerConfig
	command  command
	hostKey  ssh.PublicKey
	// silent makes connections that are accepted from then on answer nothing.
	silent atomic.Bool
	// mute makes every session request go unanswered.
	mute atomic.Bool
	// noTerminal makes requests of a terminal go unanswered.
	noTerminal atomic.Bool

	logins  atomic.Int32
	running atomic.Int32
	most    atomic.Int32

	mu    sync.Mutex
	conns []net.Conn
	wg    sync.WaitGroup
}

func ed25519Key(t *testing.T) (ssh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, pem.EncodeToMemory(block)
}

// newServer starts a host that lets user in, and has an ECDSA key in addition to the
// Ed25519 one, as hosts do.
func newServer(t *testing.T, user ssh.PublicKey, run command) *server {
	t.Helper()
	hostKey, _ := ed25519Key(t)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	second, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(user.Marshal()) {
			return nil, errors.New("unknown user")
		}
		return &ssh.Permissions{}, nil
	}}
	config.AddHostKey(second)
	config.AddHostKey(hostKey)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, listener: listener, config: config, command: run, hostKey: hostKey.PublicKey()}
	s.wg.Go(s.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		s.hangUp()
		s.wg.Wait()
	})
	return s
}

func (s *server) address() string { return s.listener.Addr().String() }

// hangUp ends every connection there is.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
}

func (s *server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		if !s.silent.Load() {
			s.wg.Go(func() { s.serve(conn) })
		}
	}
}

func (s *server) serve(conn net.Conn) {
	sc, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		_ = conn.Close()
		return
	}
	defer sc.Close() //nolint:errcheck // a test's
	s.logins.Add(1)
	s.wg.Go(func() { ssh.DiscardRequests(requests) })
	for nc := range channels {
		if s.mute.Load() {
			continue
		}
		ch, requests, err := nc.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() { s.session(ch, requests) })
	}
}

func (s *server) session(ch ssh.Channel, requests <-chan *ssh.Request) {
	closed := make(chan struct{})
	defer close(closed)
	for r := range requests {
		if r.Type == "pty-req" && s.noTerminal.Load() {
			continue
		}
		if r.Type != "exec" {
			_ = r.Reply(false, nil)
			continue
		}
		var exec struct{ Line string }
		if err := ssh.Unmarshal(r.Payload, &exec); err != nil {
			_ = r.Reply(false, nil)
			continue
		}
		_ = r.Reply(true, nil)
		s.wg.Go(func() {
			n := s.running.Add(1)
			for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
			}
			status := s.command(exec.Line, ch, closed)
			s.running.Add(-1)
			_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			_ = ch.Close()
		})
	}
}

// newSite writes the key and known hosts of a site with the given hosts.
func newSite(t *testing.T, key []byte, hosts map[string]*server) *site.Site {
	t.Helper()
	dir := t.TempDir()
	s := &site.Site{Reach: site.Reach{SSH: site.SSH{
		User: "root", IdentityFile: filepath.Join(dir, "id"), KnownHostsFile: filepath.Join(dir, "known_hosts"),
		Concurrency: 4, ConnectTimeout: site.Duration(site.DefaultSSHConnectTimeout), Timeout: site.Duration(time.Minute),
	}}}
	var known strings.Builder
	for name, h := range hosts {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: name, Address: h.address()})
		known.WriteString(knownhosts.Line([]string{h.address()}, h.hostKey) + "\n")
	}
	write(t, s.Reach.SSH.IdentityFile, key)
	write(t, s.Reach.SSH.KnownHostsFile, []byte(known.String()))
	return s
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
