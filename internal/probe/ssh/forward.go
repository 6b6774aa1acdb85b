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

var (
	// ErrNotConnected is in the error of Dial if the host permits the connection and could not open it: nothing
	// listens there, or it does not answer.
	ErrNotConnected = errors.New("the host could not connect")
	// ErrLost is in the error of a forwarded connection whose SSH connection has ended.
	ErrLost = errors.New("the SSH connection is lost")
)

// Dial opens a TCP connection from a host to an address, as ssh -W does. It stays open until it is closed, or
// the pool is; ctx limits its opening, which needs no session. The site's timeout does not apply to it.
func (p *Pool) Dial(ctx context.Context, host, address string) (net.Conn, error) {
	c, err := p.connection(host)
	if err != nil {
		return nil, err
	}
	release := sync.OnceFunc(p.use(c))
	for {
		client, isNew, err := p.client(ctx, c, host)
		if err != nil {
			release()
			return nil, err
		}
		conn, err := p.dialFrom(ctx, client, address)
		if err == nil {
			return &forwarded{Conn: conn, client: client, drop: func() { c.drop(client) }, limit: p.connectTimeout, release: release}, nil
		}
		refused, isRefused := errors.AsType[*ssh.OpenChannelError](err)
		switch {
		case isRefused && refused.Reason == ssh.ConnectionFailed:
			err = fmt.Errorf("%w to %s: %w", ErrNotConnected, address, err)
		case isRefused || ctx.Err() != nil: // the connection is alive, or may be, and others use it
			err = fmt.Errorf("connect from %s to %s: %w", host, address, err)
		default:
			c.drop(client)
			if !isNew {
				continue
			}
			err = c.unreachable(host, err)
		}
		release()
		return nil, err
	}
}

// client is the connection to a host; isNew: it was dialled.
func (p *Pool) client(ctx context.Context, c *connection, host string) (client *ssh.Client, isNew bool, err error) {
	if err := c.lock(ctx); err != nil {
		return nil, false, err
	}
	defer c.unlock()
	if client := c.current(); client != nil {
		return client, false, nil
	}
	client, err = p.connectTo(ctx, c, host)
	return client, true, err
}

func (p *Pool) dialFrom(ctx context.Context, client *ssh.Client, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.connectTimeout)
	defer cancel()
	return client.DialContext(ctx, "tcp", address)
}

// forwarded keeps the SSH connection in use until it is closed.
type forwarded struct {
	net.Conn
	client *ssh.Client
	// drop ends an SSH connection that does not answer within limit.
	drop    func()
	limit   time.Duration
	release func()

	mu      sync.Mutex
	reading int
	closed  bool
	// hanging drops the SSH connection unless every read ends, as the answer to a close ends them.
	hanging *time.Timer
}

func (f *forwarded) Read(b []byte) (int, error) {
	f.begin()
	n, err := f.Conn.Read(b)
	f.end()
	return n, f.cause(err)
}

func (f *forwarded) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reading++
	f.hurry()
}

// hurry limits reads of a closed connection.
func (f *forwarded) hurry() {
	if f.closed && f.reading > 0 && f.hanging == nil {
		f.hanging = time.AfterFunc(f.limit, f.drop)
	}
}

func (f *forwarded) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reading--
	if f.reading == 0 && f.hanging != nil {
		f.hanging.Stop()
	}
}

func (f *forwarded) Write(b []byte) (int, error) {
	n, err := f.Conn.Write(b)
	return n, f.cause(err)
}

// Close ends the reads of the connection as soon as the host answers, and at the latest after the limit.
func (f *forwarded) Close() error {
	defer f.release()
	f.mu.Lock()
	f.closed = true
	f.hurry()
	f.mu.Unlock()
	return f.Conn.Close()
}

// cause is ErrLost for an error that the end of the SSH connection caused: a request that every server answers has
// no answer then.
func (f *forwarded) cause(err error) error {
	if err == nil {
		return nil
	}
	hanging := time.AfterFunc(f.limit, f.drop)
	defer hanging.Stop()
	if _, _, lost := f.client.SendRequest("keepalive@openssh.com", true, nil); lost != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}
