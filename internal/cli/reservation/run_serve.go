package reservation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/controller"
	rsvmetrics "github.com/firstlight/firstlight/internal/reservation/report"
)

// controllerServer serves the metrics, probes and status of a controller.
type controllerServer struct {
	server  *http.Server
	log     *slog.Logger
	leading atomic.Bool
}

// controllerStatus is the response of /status.
type controllerStatus struct {
	Identity string    `json:"identity"`
	Leads    bool      `json:"leads"`
	Now      time.Time `json:"now"`
	// ScheduleProblems are those of the year of the start and the next.
	ScheduleProblems []string `json:"scheduleProblems,omitempty"`
	controller.Status
}

const shutdownTimeout = 5 * time.Second

// serveController listens on the address; with an empty address it does not listen.
func serveController(ctx context.Context, address string, r *running) (*controllerServer, error) {
	c := &controllerServer{log: r.log}
	if address == "" {
		return c, nil
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(rsvmetrics.NewCollector(rsvmetrics.CollectorOptions{Store: r.store, Now: r.clock.Now}), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "firstlight_controller_leads", Help: "1 if this controller is the leader, else 0."}, func() float64 {
			if c.leading.Load() {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "firstlight_controller_schedule_problems", Help: "Number of rules that the schedule breaks in the year of the start and the next."},
			func() float64 { return float64(len(r.problems)) }))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, req *http.Request) {
		if _, err := r.store.ListManualHandOvers(req.Context()); err != nil {
			http.Error(w, "store unavailable", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		status := controllerStatus{Identity: r.identity, Leads: c.leading.Load(), Now: r.clock.Now().UTC(), ScheduleProblems: r.problems, Status: r.Status()}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(status) // the client disconnected
	})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	c.server = cmdutil.NewServer(mux)
	go func() {
		if err := c.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.log.Error("metrics server failed", "err", err)
		}
	}()
	r.log.Info("listening", "address", listener.Addr().String())
	return c, nil
}

func (c *controllerServer) leads(yes bool) { c.leading.Store(yes) }

func (c *controllerServer) close() {
	if c.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout) //nolint:forbidigo // the caller's context has ended
	defer cancel()
	if err := c.server.Shutdown(ctx); err != nil {
		c.log.Warn("requests aborted", "err", err)
	}
}
