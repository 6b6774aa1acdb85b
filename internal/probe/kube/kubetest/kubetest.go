// Package kubetest has clusters for tests: an API server of a handler, and none at all.
package kubetest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Serve is a cluster whose API server answers with JSON as handler does, until the test ends.
func Serve(t *testing.T, handler http.HandlerFunc) *kube.Cluster {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		handler(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return open(t, server.URL)
}

// Unreachable is a cluster whose API server does not answer.
func Unreachable(t *testing.T) *kube.Cluster {
	t.Helper()
	return open(t, "https://127.0.0.1:1")
}

func open(t *testing.T, host string) *kube.Cluster {
	t.Helper()
	cluster, err := kube.New(&rest.Config{Host: host, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}
