package lab

import (
	"io"
	"net"
	"sync"
	"time"
)

// turns forwards connections to several addresses in turn, as a Service does.
type turns struct {
	listener  net.Listener
	addresses []string
	wg        sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool
}

const dialTimeout = 10 * time.Second

func takeTurns(l net.Listener, addresses ...string) *turns {
	t := &turns{listener: l, addresses: addresses, open: map[net.Conn]bool{}}
	t.wg.Go(t.serve)
	return t
}

// serve accepts connections until the listener is closed.
func (t *turns) serve() {
	for i := 0; ; i++ {
		conn, err := t.listener.Accept()
		if err != nil {
			return
		}
		address := t.addresses[i%len(t.addresses)]
		t.wg.Go(func() { t.forward(conn, address) })
	}
}

// forward copies a connection in both directions until either side closes.
func (t *turns) forward(conn net.Conn, address string) {
	defer t.forget(conn)
	to, err := net.DialTimeout("tcp", address, dialTimeout) //nolint:noctx // bounded; ends with the listener
	if err != nil {
		return // the client's connection is closed
	}
	defer t.forget(to)
	if !t.keep(conn) || !t.keep(to) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, to) // ends with either side
		_ = conn.Close()
	})
	_, _ = io.Copy(to, conn)
	_ = to.Close()
	back.Wait()
}

func (t *turns) keep(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[c] = true
	return !t.closed
}

func (t *turns) forget(c net.Conn) {
	_ = c.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, c)
}

// close ends the listener and its connections; t may be nil.
func (t *turns) close() {
	if t == nil {
		return
	}
	_ = t.listener.Close()
	t.mu.Lock()
	t.closed = true
	for c := range t.open {
		_ = c.Close()
	}
	t.mu.Unlock()
	t.wg.Wait()
}
