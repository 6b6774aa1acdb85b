package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

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
	if _, ok := errors.AsType[*HostKeyError](e.Err); ok {
		return "compare the host key with knownHostsFile of the site: it is missing there or has changed"
	}
	return "check that the host is powered, on the network and runs sshd, and that address, user and identityFile of the site are correct"
}

// sessionsPerHost is below the default limit of sshd (MaxSessions 10).
const sessionsPerHost = 8

// Options are what a site file cannot have.
type Options struct {
	// AgentSocket is the socket of ssh-agent (SSH_AUTH_SOCK); empty: none.
	AgentSocket string
	// Passphrase asks for the passphrase of a private key on the terminal; nil without one.
	Passphrase func(ctx context.Context, file string) ([]byte, error)
}

// Pool is a pool of connections: at most one per host, and at most Concurrency of the site to
// all hosts. A jump host has one connection in addition.
type Pool struct {
	hosts                   map[string]*hop
	timeout, connectTimeout time.Duration
	// slots are of the hosts with commands: see enter.
	slots chan struct{}

	mu      sync.Mutex
	clients map[string]*connection
	jumps   map[*hop]*connection
	// open are the connections of hosts that have a client or dial one, the least recently used first.
	open   []*connection
	closed bool
}

// NewPool reads the SSH configuration, identities and known hosts of the site. It connects to
// ssh-agent at most, and may ask for passphrases.
func NewPool(ctx context.Context, s *site.Site, o Options) (*Pool, error) {
	r, err := newRouter(s.Reach.SSH, o)
	if err != nil {
		return nil, err
	}
	hosts, err := r.hosts(s)
	if err != nil {
		return nil, err
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	return &Pool{
		hosts: hosts, timeout: s.Reach.SSH.Timeout.D(),
		connectTimeout: cmp.Or(s.Reach.SSH.ConnectTimeout.D(), site.DefaultSSHConnectTimeout),
		slots:          make(chan struct{}, max(1, s.Reach.SSH.Concurrency)),
		clients:        map[string]*connection{}, jumps: map[*hop]*connection{},
	}, nil
}

// CheckConfig resolves every host of the site with its SSH configuration, without reading keys.
func CheckConfig(s *site.Site) error {
	if s.Reach.SSH.ConfigFile == "" {
		return nil
	}
	r, err := newRouter(s.Reach.SSH, Options{})
	if err != nil {
		return err
	}
	_, err = r.hosts(s)
	return err
}

// Close closes all connections.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for _, c := range slices.Concat(slices.Collect(maps.Values(p.clients)), slices.Collect(maps.Values(p.jumps))) {
		if err := c.close(); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) {
			errs = append(errs, fmt.Errorf("close the connection to %s: %w", c.to.address, err))
		}
	}
	p.clients, p.jumps, p.open = map[string]*connection{}, map[*hop]*connection{}, nil
	return errors.Join(errs...)
}
