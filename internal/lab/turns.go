package lab

import (
	"io"
	"net"
	"sync"
	"time"
)

// turns leads each connection to the next of several addresses, as a Service does.
type turns struct {
	listener  net.Listener
	addresses []string
	wg        sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool
}

// dialWithin bounds the connection to an address.
const dialWithin = 10 * time.Second

func takeTurns(l net.Listener, addresses ...string) *turns {
	t := &turns{listener: l, addresses: addresses, open: map[net.Conn]bool{}}
	t.wg.Go(t.serve)
	return t
}

// serve takes connections until the listener is closed.
func (t *turns) serve() {
	for i := 0; ; i++ {
		conn, err := t.listener.Accept()
		if err != nil {
			return
		}
		address := t.addresses[i%len(t.addresses)]
		t.wg.Go(func() { t.lead(conn, address) })
	}
}

// lead passes a connection on until either side ends it.
func (t *turns) lead(conn net.Conn, address string) {
	defer t.forget(conn)
	to, err := net.DialTimeout("tcp", address, dialWithin) //nolint:noctx // bounded, and its end is the listener's
	if err != nil {
		return // the client's connection ends
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
	_, _ = io.Copy(to, conn) // likewise
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

// close ends it with its connections; none is fine.
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
