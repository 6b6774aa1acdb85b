package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/reservation/store"
)

// silent is a proxy that at some time drops the data of its connections without closing them, as a
// load balancer does with a flow that it has forgotten.
type silent struct {
	dropped atomic.Bool
	opened  atomic.Int64
}

func (s *silent) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &flow{Conn: c, silent: s, first: s.opened.Add(1) == 1}, nil
}

// flow is a connection; the first one is dropped.
type flow struct {
	net.Conn
	*silent
	first bool
}

func (f *flow) Write(p []byte) (int, error) {
	if f.first && f.dropped.Load() {
		return len(p), nil
	}
	return f.Conn.Write(p)
}

// A request that times out does not close its HTTP/2 connection, and so later ones time out too.
func TestReconnectAbandonsADeadConnection(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.ProtoMajor != 2 {
			t.Errorf("a request by %s", req.Proto)
		}
		w.Header().Set("Content-Type", "application/json")
		err := json.NewEncoder(w).Encode(&store.Reservation{
			TypeMeta: metav1.TypeMeta{APIVersion: store.GroupVersion.String(), Kind: "Reservation"}, ObjectMeta: metav1.ObjectMeta{Name: "one"},
		})
		if err != nil && !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	s := &silent{}
	k, err := store.NewKube(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, Dial: s.dial})
	if err != nil {
		t.Fatal(err)
	}
	get := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := k.Get(ctx, "one")
		return err
	}
	if err := get(time.Minute); err != nil {
		t.Fatal(err)
	}
	s.dropped.Store(true)
	for range 2 {
		if err := get(time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("over a dead connection: %v", err)
		}
	}
	k.Reconnect()
	// The transport may still pick the connection that is being closed; client-go then tries again
	// after a second.
	if err := get(time.Minute); err != nil {
		t.Errorf("after it was closed: %v", err)
	}
}
