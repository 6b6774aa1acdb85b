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

// ErrUnreachable is returned for a failed login.
var ErrUnreachable = errors.New("host unreachable over SSH")

// UnreachableError is a failed login with its host, cause and remedy.
type UnreachableError struct {
	Host, Address string
	Err           error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("host %s (%s) is unreachable over SSH: %v", e.Host, e.Address, e.Err)
}

// Unwrap returns ErrUnreachable and the cause.
func (e *UnreachableError) Unwrap() []error { return []error{ErrUnreachable, e.Err} }

// Remedy is the next action.
func (e *UnreachableError) Remedy() string {
	if _, ok := errors.AsType[*knownhosts.KeyError](e.Err); ok {
		return "compare the host key with knownHostsFile of the site: it is missing there or has changed"
	}
	return "check that the host is powered, on the network and runs sshd, and that address, user and identityFile of the site are correct"
}

// dialTimeout limits TCP connect plus handshake, and the opening of a session.
const dialTimeout = 20 * time.Second

// sessionsPerHost is below the default limit of sshd (MaxSessions 10).
const sessionsPerHost = 8

// Pool is a pool of connections, one per host.
type Pool struct {
	config ssh.ClientConfig
	// authority: known_hosts has a certificate authority.
	authority bool
	addresses map[string]string
	timeout   time.Duration
	slots     chan struct{}

	mu      sync.Mutex
	clients map[string]*connection
	closed  bool
}

// NewPool reads the identity and the known hosts of the site. It does not connect.
func NewPool(s *site.Site) (*Pool, error) {
	reach := s.Reach.SSH
	key, err := os.ReadFile(reach.IdentityFile)
	if err != nil {
		return nil, fmt.Errorf("read SSH identity of the site (reach.ssh.identityFile): %w", err)
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("read SSH identity of the site %s: %w", reach.IdentityFile, err)
	}
	known, err := knownhosts.New(reach.KnownHostsFile)
	if err != nil {
		return nil, fmt.Errorf("read known hosts of the site (reach.ssh.knownHostsFile): %w", err)
	}
	lines, err := os.ReadFile(reach.KnownHostsFile)
	if err != nil {
		return nil, fmt.Errorf("read known hosts of the site (reach.ssh.knownHostsFile): %w", err)
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

// Close closes all connections.
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
