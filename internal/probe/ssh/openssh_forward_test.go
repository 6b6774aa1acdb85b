package ssh_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// listener is a program on the host that repeats lines; it returns its address.
func listener(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	return l.Addr().String()
}

func repeats(conn net.Conn, line string) error {
	if _, err := fmt.Fprintln(conn, line); err != nil {
		return err
	}
	if got, err := bufio.NewReader(conn).ReadString('\n'); err != nil || strings.TrimSpace(got) != line {
		return fmt.Errorf("%q: %w", got, err)
	}
	return nil
}

// A port of a host is reached through the connection that its commands use. The connection remains while
// commands on more hosts than the pool has connections end the idle ones.
func TestOpenSSHForward(t *testing.T) {
	t.Parallel()
	s, of := opensshSite(t)
	of.Reach.SSH.Concurrency = 1
	of.Inventory.Nodes = append(of.Inventory.Nodes, site.Node{Name: "gpu-02", Address: of.Inventory.Nodes[0].Address}, site.Node{Name: "gpu-03", Address: of.Inventory.Nodes[0].Address})
	p, err := ssh.NewPool(t.Context(), of, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	address := listener(t)
	for range 3 { // the connection remains for the next attempt
		if _, err := p.Dial(t.Context(), "gpu-01", "127.0.0.1:1"); !errors.Is(err, ssh.ErrNotConnected) || errors.Is(err, ssh.ErrUnreachable) {
			t.Errorf("a port without a listener: %v", err)
		}
	}
	conn, err := p.Dial(t.Context(), "gpu-01", address)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"gpu-02", "gpu-03", "gpu-01"} {
		if _, err := p.Run(t.Context(), host, "true"); err != nil {
			t.Fatal(err)
		}
		if err := repeats(conn, host); err != nil {
			t.Errorf("after a command on %s: %v", host, err)
		}
	}
	if n := s.Accepted.Load(); n != 3 {
		t.Errorf("%d connections, want one a host", n)
	}
	if err := errors.Join(conn.Close(), repeats(conn, "x")); err == nil {
		t.Error("a closed connection answers")
	}

	if _, err := p.Dial(t.Context(), "gpu-09", address); err == nil || errors.Is(err, ssh.ErrNotConnected) {
		t.Errorf("an unknown host: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Dial(t.Context(), "gpu-01", address); err == nil {
		t.Error("a closed pool dials")
	}
}

// A connection that ends with its SSH connection returns ErrLost: nothing is known of the program behind it. The next one
// dials the host again. A Dial that is given up ends no other connection.
func TestOpenSSHForwardLost(t *testing.T) {
	t.Parallel()
	s, of := opensshSite(t)
	p, err := ssh.NewPool(t.Context(), of, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	address := listener(t)
	conn, err := p.Dial(t.Context(), "gpu-01", address)
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := p.Dial(ended, "gpu-01", address); err == nil {
		t.Error("an ended context dials")
	}
	if err := repeats(conn, "after a Dial that was given up"); err != nil {
		t.Error(err)
	}
	s.HangUp()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, ssh.ErrLost) {
		t.Errorf("a lost connection: %v", err)
	}
	again, err := p.Dial(t.Context(), "gpu-01", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(repeats(again, "again"), again.Close(), conn.Close()); err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// A connection of a host that no longer answers ends soon after it is closed: a gate would else wait for TCP to give
// up, a quarter of an hour.
func TestOpenSSHForwardHangs(t *testing.T) {
	t.Parallel()
	s, of := opensshSite(t)
	of.Reach.SSH.ConnectTimeout = site.Duration(20 * time.Second)
	p, err := ssh.NewPool(t.Context(), of, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	conn, err := p.Dial(t.Context(), "gpu-01", listener(t))
	if err != nil {
		t.Fatal(err)
	}
	s.Freeze()
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, ssh.ErrLost) {
		t.Errorf("%v", err)
	}
}

// A host that forbids forwarding has not said that nothing listens.
func TestOpenSSHForwardRefused(t *testing.T) {
	t.Parallel()
	_, of := opensshSite(t, "AllowTcpForwarding no")
	p, err := ssh.NewPool(t.Context(), of, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if _, err := p.Dial(t.Context(), "gpu-01", listener(t)); err == nil || errors.Is(err, ssh.ErrNotConnected) || !strings.Contains(err.Error(), "prohibited") {
		t.Errorf("%v", err)
	}
	if _, err := p.Run(t.Context(), "gpu-01", "true"); err != nil {
		t.Errorf("after it: %v", err)
	}
}
