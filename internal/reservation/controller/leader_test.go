package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func leaderConfig(t *testing.T) *rest.Config {
	t.Helper()
	return shared.Store(t).Config
}

func TestOneLeadsAtATime(t *testing.T) {
	c := leaderConfig(t)
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
	err := RunAsLeader(t.Context(), leaderConfig(t), LeaderOptions{Namespace: "kube-public", Identity: "a", LeaseDuration: 2 * time.Second}, func(context.Context) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// Work ends before another controller may lead.
func TestLost(t *testing.T) {
	c := rest.CopyConfig(leaderConfig(t))
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
