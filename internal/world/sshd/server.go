package sshd

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/firstlight/firstlight/internal/world"
)

// relisten is the retry interval for a host's port.
const relisten = time.Second

// User is the only user.
const User = "firstlight"

// Options configure a server.
type Options struct {
	// Dir has the keys and known_hosts.
	Dir string
	// Port of addresses without a port; 0: a free port.
	Port int
	// Forward permits connections from hosts to ports of loopback, which are those of this machine.
	Forward bool
}

// Server has the hosts' SSH servers.
type Server struct {
	// Nodes maps host names to SSH addresses.
	Nodes map[string]string
	// IdentityFile is the private key; KnownHostsFile has the hosts' public keys.
	IdentityFile, KnownHostsFile, User string

	forward bool
	world   *world.World
	client  gossh.PublicKey
	keys    map[string]gossh.Signer
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	mu   sync.Mutex
	live map[string]running
}

// running is one host's server with its listener: a server that is closed before Serve does not
// know its listener.
type running struct {
	server   *ssh.Server
	listener net.Listener
}

func (r running) close() {
	// Errors are only about what is already closed.
	_ = r.listener.Close()
	_ = r.server.Close()
}

// Start opens a server for every host of the world and applies its faults until Stop or the end of
// ctx.
func Start(ctx context.Context, w *world.World, o Options) (*Server, error) {
	s := &Server{
		Nodes: map[string]string{}, User: User, forward: o.Forward, world: w, keys: map[string]gossh.Signer{}, live: map[string]running{},
		IdentityFile: filepath.Join(o.Dir, "id_ed25519"), KnownHostsFile: filepath.Join(o.Dir, "known_hosts"),
	}
	signer, err := loadOrMakeKey(s.IdentityFile, User)
	if err != nil {
		return nil, fmt.Errorf("start SSH servers: %w", err)
	}
	s.client = signer.PublicKey()
	ctx, s.cancel = context.WithCancel(ctx)
	notices, unsubscribe := w.Subscribe()
	var known []byte
	for _, n := range w.Recent().Nodes {
		line, err := s.prepare(ctx, n, o)
		if err != nil {
			unsubscribe()
			s.Stop()
			return nil, fmt.Errorf("start SSH server of %s: %w", n.Name, err)
		}
		known = append(known, line...)
	}
	if err := os.WriteFile(s.KnownHostsFile, known, 0o600); err != nil {
		unsubscribe()
		s.Stop()
		return nil, fmt.Errorf("write known hosts: %w", err)
	}
	s.wg.Go(func() {
		defer unsubscribe()
		s.follow(ctx, notices)
	})
	return s, nil
}

// prepare creates a host's key and listener and returns its known_hosts line.
func (s *Server) prepare(ctx context.Context, n world.Node, o Options) ([]byte, error) {
	key, err := loadOrMakeKey(filepath.Join(o.Dir, "hostkeys", n.Name), n.Name)
	if err != nil {
		return nil, err
	}
	s.keys[n.Name] = key
	address := cmp.Or(n.Address, "127.0.0.1")
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(address, strconv.Itoa(o.Port))
	}
	bound, err := s.listen(ctx, n.Name, address)
	if err != nil {
		return nil, err
	}
	s.Nodes[n.Name] = bound
	return []byte(knownhosts.Line([]string{s.Nodes[n.Name]}, key.PublicKey()) + "\n"), nil
}

// listen opens a host's server and returns its address.
func (s *Server) listen(ctx context.Context, node, address string) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	srv := &ssh.Server{
		Handler: func(sess ssh.Session) { s.session(sess, node) },
		PublicKeyHandler: func(c ssh.Context, key ssh.PublicKey) bool {
			return c.User() == User && ssh.KeysEqual(key, s.client)
		},
	}
	if s.forward {
		srv.ChannelHandlers = map[string]ssh.ChannelHandler{"session": ssh.DefaultSessionHandler, "direct-tcpip": ssh.DirectTCPIPHandler}
		srv.LocalPortForwardingCallback = func(_ ssh.Context, host string, _ uint32) bool { return host == "127.0.0.1" }
	}
	srv.AddHostKey(s.keys[node])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[node] = running{srv, l}
	s.wg.Go(func() { _ = srv.Serve(l) }) // ends with ErrServerClosed
	return l.Addr().String(), nil
}

// follow closes and reopens servers as reachability changes.
func (s *Server) follow(ctx context.Context, notices <-chan struct{}) {
	var retry <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			s.closeAll()
			return
		case <-notices:
		case <-retry:
		}
		retry = nil
		for _, n := range s.world.Recent().Nodes {
			s.mu.Lock()
			open, isOpen := s.live[n.Name]
			if n.Unreachable && isOpen {
				open.close()
				delete(s.live, n.Name)
			}
			s.mu.Unlock()
			if !n.Unreachable && !isOpen {
				if _, err := s.listen(ctx, n.Name, s.Nodes[n.Name]); err != nil {
					retry = time.After(relisten) // another process has the port
				}
			}
		}
	}
}

func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.live {
		r.close()
		delete(s.live, name)
	}
}

// Stop closes every server and waits.
func (s *Server) Stop() {
	s.cancel()
	s.closeAll()
	s.wg.Wait()
}
