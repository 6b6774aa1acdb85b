package ssh

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/firstlight/firstlight/internal/site"
)

// ErrUnreachable says that a host could not be logged in to.
var ErrUnreachable = errors.New("host unreachable over SSH")

// UnreachableError says which host, why, and what to do.
type UnreachableError struct {
	Host, Address string
	Err           error
}

// Error ends in the remedy.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("host %s (%s) is unreachable over SSH: %v", e.Host, e.Address, e.Err)
}

// Unwrap gives the cause; errors.Is knows ErrUnreachable too.
func (e *UnreachableError) Unwrap() []error { return []error{ErrUnreachable, e.Err} }

// Remedy says what to do next.
func (e *UnreachableError) Remedy() string {
	if _, ok := errors.AsType[*knownhosts.KeyError](e.Err); ok {
		return "compare the host's key with the site's knownHostsFile: it is missing there or has changed"
	}
	return "check that the host is powered, on the network and runs sshd, and that the site's address, user and identityFile are right"
}

// dialTimeout is for TCP and the handshake together, and for opening a session.
const dialTimeout = 20 * time.Second

// sessionsPerHost stays below sshd's own default (MaxSessions 10), which
// refuses what goes beyond it.
const sessionsPerHost = 8

// Pool holds a connection to each host that was asked for.
type Pool struct {
	config ssh.ClientConfig
	// authority says that known_hosts vouches for certificates, not only for keys.
	authority bool
	addresses map[string]string
	timeout   time.Duration
	slots     chan struct{}

	mu      sync.Mutex
	clients map[string]*connection
	closed  bool
}

// NewPool reads the site's key and known hosts. It connects to nobody yet.
func NewPool(s *site.Site) (*Pool, error) {
	reach := s.Reach.SSH
	key, err := os.ReadFile(reach.IdentityFile)
	if err != nil {
		return nil, fmt.Errorf("read the site's SSH identity (reach.ssh.identityFile): %w", err)
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("read the site's SSH identity %s: %w", reach.IdentityFile, err)
	}
	known, err := knownhosts.New(reach.KnownHostsFile)
	if err != nil {
		return nil, fmt.Errorf("read the site's known hosts (reach.ssh.knownHostsFile): %w", err)
	}
	lines, err := os.ReadFile(reach.KnownHostsFile)
	if err != nil {
		return nil, fmt.Errorf("read the site's known hosts (reach.ssh.knownHostsFile): %w", err)
	}
	p := &Pool{
		config: ssh.ClientConfig{
			User: reach.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
			HostKeyCallback: known, Timeout: dialTimeout,
		},
		authority: bytes.Contains(lines, []byte("@cert-authority")),
		addresses: map[string]string{},
		timeout:   reach.Timeout.D(),
		slots:     make(chan struct{}, max(1, reach.Concurrency)),
		clients:   map[string]*connection{},
	}
	for _, nodes := range [][]site.Node{s.Inventory.Nodes, s.Inventory.SystemNodes} {
		for _, n := range nodes {
			p.addresses[n.Name] = n.Address
			if n.Address == "" {
				p.addresses[n.Name] = net.JoinHostPort(n.Name, "22")
			}
		}
	}
	return p, nil
}

// Close ends every connection.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for host, c := range p.clients {
		if err := c.close(); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) {
			errs = append(errs, fmt.Errorf("close the connection to %s: %w", host, err))
		}
	}
	p.clients = map[string]*connection{}
	return errors.Join(errs...)
}
