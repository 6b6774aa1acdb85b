package cmdutil

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Clients could hold connections and requests of the controller without bound.
func TestControllerLimitsItsClients(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	server := NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/metrics" {
			asked <- struct{}{}
			<-answer
		}
	}))
	if server.ReadHeaderTimeout == 0 || server.ReadTimeout == 0 || server.WriteTimeout == 0 || server.IdleTimeout == 0 {
		t.Errorf("missing timeouts: %+v", server)
	}
	get := func(path string) int {
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	done := make(chan int)
	for range maxInFlight {
		go func() { done <- get("/metrics") }()
		<-asked
	}
	if code := get("/metrics"); code != http.StatusServiceUnavailable {
		t.Errorf("with %d requests in flight another gets %d", maxInFlight, code)
	}
	if code := get("/healthz"); code != http.StatusOK {
		t.Errorf("with %d requests in flight the kubelet's probe gets %d", maxInFlight, code)
	}
	close(answer)
	for range maxInFlight {
		if code := <-done; code != http.StatusOK {
			t.Errorf("a request in flight gets %d", code)
		}
	}
	go func() { <-asked }()
	if code := get("/metrics"); code != http.StatusOK {
		t.Errorf("afterwards a request gets %d", code)
	}
}
