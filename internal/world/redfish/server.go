package redfish

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// User is the only account.
const User = "firstlight"

// Options configure a server.
type Options struct {
	// Dir receives the CA certificate and the password.
	Dir string
	// Address is ip:port; empty: a free port of 127.0.0.1.
	Address string
}

// Server is the running controller.
type Server struct {
	URL, User, PasswordFile, CAFile string

	http *http.Server
	wg   sync.WaitGroup
}

// Start serves the world's racks until Stop.
func Start(ctx context.Context, w *world.World, o Options) (*Server, error) {
	s := &Server{User: User, PasswordFile: filepath.Join(o.Dir, "redfish-password"), CAFile: filepath.Join(o.Dir, "redfish-ca.crt")}
	o.Address = cmp.Or(o.Address, "127.0.0.1:0")
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("start Redfish: %w", err)
	}
	password := rand.Text()
	if err := os.WriteFile(s.PasswordFile, []byte(password+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("start Redfish: write password: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("start Redfish: %w", err)
	}
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(errors.New("start Redfish: not a TCP address"), l.Close())
	}
	cert, err := certificates(s.CAFile, tcp.IP, w.Recent().Now)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start Redfish: %w", err), l.Close())
	}
	s.URL = "https://" + l.Addr().String()
	s.http = &http.Server{
		Handler:           &handler{world: w, password: password, sessions: map[string]string{}},
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: time.Minute,
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	s.wg.Go(func() { _ = s.http.ServeTLS(l, "", "") }) // ends with ErrServerClosed
	return s, nil
}

// Stop closes the listener and ends all connections.
func (s *Server) Stop() {
	_ = s.http.Close() // the listener is already closed
	s.wg.Wait()
}
