package cmdutil

import (
	"net/http"
	"time"
)

// maxInFlight limits concurrent requests: those that collect metrics or read a store.
const maxInFlight = 16

// NewServer is a server of metrics, probes and status, with limits on its clients. /healthz has no limit.
func NewServer(mux http.Handler) *http.Server {
	free := make(chan struct{}, maxInFlight)
	limited := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/healthz" {
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
			default:
				w.Header().Set("Retry-After", "1")
				http.Error(w, "too many requests in flight", http.StatusServiceUnavailable)
				return
			}
		}
		mux.ServeHTTP(w, req)
	})
	return &http.Server{
		Handler: limited, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
}
