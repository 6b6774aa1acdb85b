package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"
)

// ErrNotConnected is in the error of Dial if the host permits the connection and could not open it:
// nothing listens there, or it does not answer.
var ErrNotConnected = errors.New("the host could not connect")

// Dial opens a TCP connection from a host to an address, as ssh -W does. It stays open until it is closed, or
// the pool is; ctx limits its opening, which needs no session. The site's timeout does not apply to it.
func (p *Pool) Dial(ctx context.Context, host, address string) (net.Conn, error) {
	c, err := p.connection(host)
	if err != nil {
		return nil, err
	}
	release := p.use(c)
	conn, _, err := open(ctx, p, c, host, "connect to "+address, func(client *ssh.Client) (net.Conn, error) { return client.DialContext(ctx, "tcp", address) })
	if err != nil {
		release()
		if refused, ok := errors.AsType[*ssh.OpenChannelError](err); ok && refused.Reason == ssh.ConnectionFailed {
			err = fmt.Errorf("%w: %w", ErrNotConnected, err)
		}
		return nil, err
	}
	return &forwarded{Conn: conn, release: sync.OnceFunc(release)}, nil
}

// forwarded keeps the SSH connection in use until it is closed.
type forwarded struct {
	net.Conn
	release func()
}

func (f *forwarded) Close() error {
	defer f.release()
	return f.Conn.Close()
}
