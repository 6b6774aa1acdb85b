package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// connection is the connection to one host. Concurrent callers wait for the same dial.
type connection struct {
	// slots limits the concurrent sessions.
	slots chan struct{}

	dialling sync.Mutex // held during a dial and the opening of a session

	mu     sync.Mutex // never held during I/O
	client *ssh.Client
	closed bool
}

// connection returns the connection of a host.
func (p *Pool) connection(host string) (*connection, string, error) {
	address, ok := p.addresses[host]
	if !ok {
		return nil, "", fmt.Errorf("host %q is not in the site's inventory", host)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, "", errClosed
	}
	c := p.clients[host]
	if c == nil {
		c = &connection{slots: make(chan struct{}, sessionsPerHost)}
		p.clients[host] = c
	}
	return c, address, nil
}

var errClosed = errors.New("the pool of SSH connections is closed")

// session opens a session. It dials if there is no connection or if the connection is broken.
// Pass the client to drop if it stops responding.
func (p *Pool) session(ctx context.Context, c *connection, host, address string) (*ssh.Session, *ssh.Client, error) {
	c.dialling.Lock()
	defer c.dialling.Unlock()
	if client := c.current(); client != nil {
		session, err := open(ctx, client)
		if err == nil {
			return session, client, nil
		}
		if _, refused := errors.AsType[*ssh.OpenChannelError](err); refused || ctx.Err() != nil {
			// The connection is alive and others may be using it.
			return nil, nil, fmt.Errorf("open a session on %s: %w", host, err)
		}
		c.drop(client)
	}
	client, err := p.dial(ctx, address)
	if err != nil {
		return nil, nil, &UnreachableError{Host: host, Address: address, Err: err}
	}
	if !c.take(client) {
		return nil, nil, errors.Join(errClosed, client.Close())
	}
	session, err := open(ctx, client)
	if err != nil {
		c.drop(client)
		return nil, nil, &UnreachableError{Host: host, Address: address, Err: fmt.Errorf("open a session: %w", err)}
	}
	return session, client, nil
}

func (c *connection) current() *ssh.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client
}

// take stores the client; false if the pool was closed.
func (c *connection) take(client *ssh.Client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.client = client
	return true
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

// open opens a session. A host that no longer responds never completes it, so at the deadline
// open closes the client, which ends the request.
func open(ctx context.Context, client *ssh.Client) (*ssh.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
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

func (p *Pool) dial(ctx context.Context, address string) (*ssh.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	// The handshake has no context: a deadline on the connection ends it.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	config := p.config
	if !p.authority {
		config.HostKeyAlgorithms = hostKeyAlgorithms(config.HostKeyCallback, address)
	}
	sc, channels, requests, err := ssh.NewClientConn(conn, address, &config)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no SSH handshake within %s: %w", dialTimeout, ctx.Err())
		}
		return nil, errors.Join(err, ignoreClosed(conn.Close()))
	}
	if !stop() {
		return nil, errors.Join(fmt.Errorf("handshake: %w", ctx.Err()), sc.Close())
	}
	return ssh.NewClient(sc, channels, requests), nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
