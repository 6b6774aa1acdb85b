package ssh

import (
	"context"
	"net"
	"os"
	"testing"
	"time"
)

// slowToClose is a connection whose first Close has ended its reads and not yet returned; a further
// Close returns at once, as that of a socket does.
type slowToClose struct {
	net.Conn
	closing, closed chan struct{}
	// returned: login has returned.
	returned chan struct{}
	early    bool
}

func (c *slowToClose) Close() error {
	select {
	case <-c.closing:
		return net.ErrClosed
	default:
	}
	close(c.closing)
	defer close(c.closed)
	err := c.Conn.Close()
	select {
	case <-c.returned:
		c.early = true
	case <-time.After(200 * time.Millisecond):
	}
	return err
}

// A login that timed out returned while its connection was still open: the pool had one connection
// more than the site allows.
func TestTimedOutLoginHasClosedItsConnection(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	defer far.Close()
	conn := &slowToClose{Conn: near, closing: make(chan struct{}), closed: make(chan struct{}), returned: make(chan struct{})}
	known := &knownHosts{files: []string{os.DevNull}}
	if err := known.load(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := (&Pool{connectTimeout: time.Minute}).login(ctx, conn, &hop{lookup: "127.0.0.1:22", user: "admin", known: known}); err == nil {
		t.Error("a handshake without an answer succeeded")
	}
	close(conn.returned)
	<-conn.closed
	if conn.early {
		t.Error("login returned before its connection was closed")
	}
}
