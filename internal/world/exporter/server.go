package exporter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// Port is dcgm-exporter's default port.
const Port = 9400

// Interval is dcgm-exporter's nominal sampling interval. The simulated readings are never older
// than the scrape.
const Interval = time.Second

// Options configure a server.
type Options struct {
	// Port on each node's address; 0: the default.
	Port int
	Log  *slog.Logger
}

// Exporters are the servers of all GPU nodes.
type Exporters struct {
	world *world.World
	port  int
	log   *slog.Logger

	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	stopped bool
	servers map[string]*server // open servers by node
}

// Start listens on every GPU node's address and follows the world until Stop.
func Start(ctx context.Context, w *world.World, opts Options) (*Exporters, error) {
	opts.Port = cmp.Or(opts.Port, Port)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(ctx)
	e := &Exporters{world: w, port: opts.Port, log: opts.Log, cancel: cancel, done: make(chan struct{}), servers: map[string]*server{}}
	notices, unsubscribe := w.Subscribe()
	if err := e.reconcile(ctx); err != nil {
		unsubscribe()
		cancel()
		e.closeAll()
		return nil, fmt.Errorf("start exporters: %w", err)
	}
	go func() {
		defer close(e.done)
		defer unsubscribe()
		e.follow(ctx, notices)
	}()
	return e, nil
}

// Stop closes every listener and waits.
func (e *Exporters) Stop() {
	e.cancel()
	<-e.done
}

// follow opens and closes listeners as faults change, and retries ports that are in use.
func (e *Exporters) follow(ctx context.Context, notices <-chan struct{}) {
	defer e.closeAll()
	retry := time.NewTicker(time.Second)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-notices:
		case <-retry.C:
		}
		if err := e.reconcile(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("exporter", "err", err)
		}
	}
}

// Settle applies the world's current state to the listeners.
func (e *Exporters) Settle(ctx context.Context) error {
	if err := e.reconcile(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("settle exporters: %w", err)
	}
	return nil
}

func (e *Exporters) reconcile(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return nil
	}
	var errs []error
	for _, n := range e.world.Recent().GPUNodes() {
		up := !n.Exporter.Down && n.NVMLError == ""
		have := e.servers[n.Name]
		switch {
		case up && have == nil:
			s, err := e.listen(ctx, n)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			e.servers[n.Name] = s
		case !up && have != nil:
			have.close()
			delete(e.servers, n.Name)
		}
	}
	return errors.Join(errs...)
}

func (e *Exporters) closeAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	for _, s := range e.servers {
		s.close()
	}
	clear(e.servers)
}

// server is one node's exporter.
type server struct {
	world *world.World
	node  string
	http  *http.Server
	done  chan struct{}

	mu     sync.Mutex
	since  time.Time // of reading
	frozen []byte
}

func (e *Exporters) listen(ctx context.Context, n world.Node) (*server, error) {
	host, _, err := net.SplitHostPort(n.Address)
	if err != nil {
		host = n.Address
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(e.port)))
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", n.Name, err)
	}
	s := &server{world: e.world, node: n.Name, done: make(chan struct{})}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			e.log.Warn("exporter", "node", n.Name, "err", err)
		}
	}()
	return s, nil
}

func (s *server) close() {
	_ = s.http.Close() // cuts scrapes off, as a dead exporter does
	<-s.done
}

func (s *server) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/metrics":
		body, ok := s.body()
		if !ok {
			http.Error(rw, "unknown node", http.StatusInternalServerError)
			return
		}
		rw.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = rw.Write(body) // the scraper's loss
	case "/health":
		_, _ = rw.Write([]byte("OK"))
	default:
		http.NotFound(rw, req)
	}
}

// ahead is how far a frozen reading is ahead of the scrape that freezes it. When a target's
// samples change to explicit timestamps, Prometheus ends the series at the time of the scrape, and
// only newer samples are stored.
const ahead = 10 * time.Millisecond

// body is the node's exposition. A stale exporter repeats one reading.
func (s *server) body() ([]byte, bool) {
	state := s.world.Recent()
	n, ok := state.Node(s.node)
	if !ok {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	since := n.Exporter.StaleSince
	if since.IsZero() {
		s.since, s.frozen = time.Time{}, nil
		at := time.Time{}
		if n.Exporter.Ahead != 0 {
			at = state.Now.Add(n.Exporter.Ahead)
		}
		return Expose(state, n, at), true
	}
	if s.frozen == nil || !s.since.Equal(since) {
		s.since, s.frozen = since, Expose(state, n, state.Now.Add(ahead))
	}
	return s.frozen, true
}
