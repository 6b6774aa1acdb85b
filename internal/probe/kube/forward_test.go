package kube

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// An API server, or a proxy before it, that speaks no websocket is asked
// again over SPDY; only then is the pod out of reach.
func TestForwardFallsBackToSPDY(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.Header.Get("Upgrade"))
		http.Error(w, "no upgrade here", http.StatusForbidden)
	}))
	defer server.Close()
	cluster, err := New(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := cluster.Forward(t.Context(), "default", "pod", 8000); err == nil {
		t.Error("a refused upgrade opened a port")
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"GET websocket", "POST SPDY/3.1"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}
