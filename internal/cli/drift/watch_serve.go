package drift

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// shutdownTimeout limits the wait for requests at the end.
const shutdownTimeout = 5 * time.Second

// watchServer serves the metrics of a watch.
type watchServer struct {
	server  *http.Server
	address string
	failed  chan error
}

// serveWatch listens on the address; with an empty address it does not listen.
func serveWatch(ctx context.Context, address string, w prometheus.Collector) (*watchServer, error) {
	if address == "" {
		return &watchServer{}, nil
	}
	metrics := prometheus.NewRegistry()
	if err := metrics.Register(w); err != nil {
		return nil, fmt.Errorf("register the metrics of the watch: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	s := &watchServer{server: cmdutil.NewServer(mux), address: listener.Addr().String(), failed: make(chan error, 1)}
	go func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve metrics: %w", err)
		}
	}()
	return s, nil
}

func (s *watchServer) text() string {
	if s.server == nil {
		return ""
	}
	return "; metrics: http://" + s.address + "/metrics"
}

// whileServing runs run until it or the server ends.
func (s *watchServer) whileServing(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	select {
	case err := <-ended:
		return err
	case err := <-s.failed: // never, without a server
		cancel()
		return errors.Join(err, <-ended)
	}
}

func (s *watchServer) close() {
	if s.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout) //nolint:forbidigo // the caller's context has ended
	defer cancel()
	_ = s.server.Shutdown(ctx) // at the end, requests are aborted
}
