package ssh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/crypto/ssh"
)

// connection is the connection to one host. Concurrent callers wait for the same dial.
type connection struct {
	to *hop
	// slots limits the concurrent sessions.
	slots chan struct{}
	// entering has a value while a command takes a slot of the pool for the host.
	entering chan struct{}
	// commands is the number of commands that share the host's slot of the pool, guarded by the pool.
	commands int
	// dialling has a value during a dial and the opening of a session.
	dialling chan struct{}
	// users is the number of commands and forwarded connections that use it, guarded by the pool.
	users int

	mu     sync.Mutex // never held during I/O
	client *ssh.Client
	closed bool
}

func newConnection(to *hop) *connection {
	return &connection{to: to, slots: make(chan struct{}, sessionsPerHost), entering: make(chan struct{}, 1), dialling: make(chan struct{}, 1)}
}

var errClosed = errors.New("the pool of SSH connections is closed")

// connection returns the connection of a host.
func (p *Pool) connection(host string) (*connection, error) {
	to, ok := p.hosts[host]
	if !ok {
		return nil, fmt.Errorf("host %q is not in the site's inventory", host)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	c := p.clients[host]
	if c == nil {
		c = newConnection(to)
		p.clients[host] = c
	}
	return c, nil
}

// enter waits until a command may run on a host. The commands of a host share one slot of the pool: short ones in parallel with a long
// one, as the samples of a diagnostic, do not wait for the long ones of other hosts.
func (p *Pool) enter(ctx context.Context, c *connection) (leave func(), err error) {
	if err := wait(ctx, c.slots); err != nil {
		return nil, err
	}
	if err := wait(ctx, c.entering); err != nil {
		<-c.slots
		return nil, err
	}
	defer func() { <-c.entering }()
	p.mu.Lock()
	first := c.commands == 0
	if !first {
		c.commands++
	}
	p.mu.Unlock()
	if first {
		if err := wait(ctx, p.slots); err != nil {
			<-c.slots
			return nil, err
		}
		p.mu.Lock()
		c.commands++
		p.mu.Unlock()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if c.commands--; c.commands == 0 {
			<-p.slots
		}
		<-c.slots
	}, nil
}

// wait takes one of slots.
func wait(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// use counts a command, or a forwarded connection, on a connection until the returned function is called. If the
// pool has as many open connections as slots, it closes the one that was idle longest: there is
// one unless forwarded connections use them, since every host with commands has a slot.
func (p *Pool) use(c *connection) (release func()) {
	p.mu.Lock()
	c.users++
	at := slices.Index(p.open, c)
	if at >= 0 {
		p.open = slices.Delete(p.open, at, at+1)
	}
	var idle *ssh.Client
	if len(p.open) >= cap(p.slots) {
		if i := slices.IndexFunc(p.open, func(c *connection) bool { return c.users == 0 }); i >= 0 {
			idle = p.open[i].take()
			p.open = slices.Delete(p.open, i, i+1)
		}
	}
	p.open = append(p.open, c)
	p.mu.Unlock()
	if idle != nil {
		_ = idle.Close() // nothing uses it
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		c.users--
	}
}

// lock waits until no other caller dials.
func (c *connection) lock(ctx context.Context) error {
	select {
	case c.dialling <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the connection to %s: %w", c.to.address, ctx.Err())
	}
}

func (c *connection) unlock() { <-c.dialling }

// session opens a session. It dials if there is no connection or if the connection is broken.
// Pass the client to drop if it stops responding.
func (p *Pool) session(ctx context.Context, c *connection, host string) (*ssh.Session, *ssh.Client, error) {
	if err := c.lock(ctx); err != nil {
		return nil, nil, err
	}
	defer c.unlock()
	if client := c.current(); client != nil {
		session, err := p.newSession(ctx, client)
		if err == nil {
			return session, client, nil
		}
		if _, refused := errors.AsType[*ssh.OpenChannelError](err); refused || ctx.Err() != nil {
			// The connection is alive and others may be using it.
			return nil, nil, fmt.Errorf("open a session on %s: %w", host, err)
		}
		c.drop(client)
	}
	client, err := p.connectTo(ctx, c, host)
	if err != nil {
		return nil, nil, err
	}
	session, err := p.newSession(ctx, client)
	if err != nil {
		c.drop(client)
		return nil, nil, c.unreachable(host, fmt.Errorf("open a session: %w", err))
	}
	return session, client, nil
}

// connectTo dials. The caller has the lock.
func (p *Pool) connectTo(ctx context.Context, c *connection, host string) (*ssh.Client, error) {
	client, err := p.dial(ctx, c.to)
	if err != nil {
		return nil, c.unreachable(host, err)
	}
	if !c.store(client) {
		return nil, errors.Join(errClosed, client.Close())
	}
	return client, nil
}

func (c *connection) unreachable(host string, err error) error {
	return &UnreachableError{Host: host, Address: c.to.address, Err: err}
}

func (c *connection) current() *ssh.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client
}

// store stores the client; false if the pool was closed.
func (c *connection) store(client *ssh.Client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.client = client
	return true
}

// take removes the client; nil without one.
func (c *connection) take() *ssh.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	client := c.client
	c.client = nil
	return client
}

// drop closes a client that no longer responds; the next session dials.
func (c *connection) drop(client *ssh.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = client.Close() // already broken
	if c.client == client {
		c.client = nil
	}
}

func (c *connection) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.client == nil {
		return nil
	}
	err := c.client.Close()
	c.client = nil
	return err
}

// newSession opens a session. A host that no longer responds never completes it, so at the deadline
// it closes the client, which ends the request.
func (p *Pool) newSession(ctx context.Context, client *ssh.Client) (*ssh.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, p.connectTimeout)
	defer cancel()
	type result struct {
		session *ssh.Session
		err     error
	}
	opened := make(chan result, 1)
	go func() {
		session, err := client.NewSession()
		opened <- result{session, err}
	}()
	select {
	case r := <-opened:
		return r.session, r.err
	case <-ctx.Done():
		_ = client.Close() // the request cannot be cancelled
		if r := <-opened; r.session != nil {
			_ = r.session.Close()
		}
		return nil, fmt.Errorf("no response: %w", ctx.Err())
	}
}
