package controller

import (
	"context"
	"encoding/json"
	"errors"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

func storeConfig(t *testing.T) *rest.Config {
	t.Helper()
	return shared.Store(t).Config
}

func TestOneLeadsAtATime(t *testing.T) {
	c := storeConfig(t)
	first, stop := context.WithCancel(t.Context())
	leads, ended := make(chan string, 8), make(chan error, 2)
	lead := func(ctx context.Context, who string) {
		ended <- RunAsLeader(ctx, c, LeaderOptions{Namespace: "default", Identity: who, LeaseDuration: 2 * time.Second}, func(ctx context.Context) error {
			leads <- who
			<-ctx.Done()
			leads <- "no more " + who
			return nil
		})
	}
	go lead(first, "a")
	if got := <-leads; got != "a" {
		t.Fatal(got)
	}
	second, end := context.WithCancel(t.Context())
	defer end()
	go lead(second, "b")
	err := RunAsLeader(t.Context(), c, LeaderOptions{Namespace: "default", Identity: "c", LeaseDuration: 2 * time.Second, WaitTimeout: time.Second}, func(context.Context) error {
		t.Error("two lead")
		return nil
	})
	if !errors.Is(err, ErrNotLeader) || !strings.Contains(err.Error(), ": a") {
		t.Errorf("without leadership the error is %v", err)
	}
	stop()
	if got := <-leads; got != "no more a" {
		t.Errorf("%s before a has ended", got)
	}
	if got := <-leads; got != "b" {
		t.Error(got)
	}
	if err := <-ended; err != nil {
		t.Errorf("after cancellation: %v", err)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWorkThatFails(t *testing.T) {
	broken := errors.New("broken")
	err := RunAsLeader(t.Context(), storeConfig(t), LeaderOptions{Namespace: "kube-public", Identity: "a", LeaseDuration: 2 * time.Second}, func(context.Context) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// Work ends before another controller may lead.
func TestLost(t *testing.T) {
	c := rest.CopyConfig(storeConfig(t))
	away := make(chan struct{})
	c.Wrap(func(rt http) http { return cut{rt, away} })
	err := RunAsLeader(t.Context(), c, LeaderOptions{Namespace: "kube-system", Identity: "a", LeaseDuration: 2 * time.Second}, func(ctx context.Context) error {
		close(away)
		<-ctx.Done()
		return nil
	})
	if !errors.Is(err, ErrLeadershipLost) {
		t.Errorf("%v", err)
	}
}

// A controller that stops has ended its work before another leads.
func TestNoOtherLeadsBeforeTheWorkOfAStoppedOneHasEnded(t *testing.T) {
	const lease = 5 * time.Second // on a busy machine a renewal can take seconds
	s := newLeases(t)
	ctx, stop := context.WithCancel(t.Context())
	stopped, ended, leads := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		_ = RunAsLeader(ctx, s.config, LeaderOptions{Namespace: "default", Identity: "a", LeaseDuration: lease}, func(ctx context.Context) error {
			stop()
			<-ctx.Done()
			close(stopped)
			select {
			case <-leads:
				t.Error("b leads while a works")
			case <-time.After(3 * lease / 2):
			}
			close(ended)
			return nil
		})
	})
	<-stopped
	next, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	err := RunAsLeader(next, s.config, LeaderOptions{Namespace: "default", Identity: "b", LeaseDuration: lease}, func(context.Context) error {
		close(leads)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	<-ended
}

// leases is an API server with Leases; hang may make it not answer.
type leases struct {
	config *rest.Config
	hang   atomic.Bool

	mu   sync.Mutex
	held map[string]any
}

func newLeases(t *testing.T) *leases {
	l := &leases{}
	over := make(chan struct{})
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, req *nethttp.Request) {
		if req.ProtoMajor != 1 {
			t.Errorf("a request by %s: its connection outlives a timeout", req.Proto)
		}
		if l.hang.CompareAndSwap(true, false) {
			<-over
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if req.Method == nethttp.MethodGet && l.held == nil {
			w.WriteHeader(nethttp.StatusNotFound)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: nethttp.StatusNotFound})
			return
		}
		if req.Method != nethttp.MethodGet {
			l.held = nil
			if err := json.NewDecoder(req.Body).Decode(&l.held); err != nil {
				t.Error(err)
			}
		}
		_ = json.NewEncoder(w).Encode(l.held)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(func() { close(over); server.Close() })
	l.config = &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	return l
}

// One request that hangs does not lose the leadership, and with it the work of hours.
func TestHungRequestDoesNotLoseTheLeadership(t *testing.T) {
	s := newLeases(t)
	err := RunAsLeader(t.Context(), s.config, LeaderOptions{Namespace: "default", Identity: "a", LeaseDuration: 6 * time.Second}, func(ctx context.Context) error {
		s.hang.Store(true)
		select {
		case <-ctx.Done():
			return ErrLeadershipLost
		case <-time.After(7 * time.Second):
			return nil
		}
	})
	if err != nil || s.hang.Load() {
		t.Errorf("%v", err)
	}
}
