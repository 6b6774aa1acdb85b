// Package labtest provides labs for tests: a control plane of the upstream programs with a
// simulated cluster, its kubeconfig and its site file. It borrows a lab of the run's pool
// (suite.PoolEnv) or starts one in the test's process. Only tests import it.
package labtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
)

// Lab is a running lab.
type Lab struct {
	handle  *lab.Handle
	pooled  *pooled
	Cluster *kube.Cluster
	Site    *site.Site
	Profile *profile.Profile
}

// Start returns a lab with at least these extras for exclusive use until the test ends.
func Start(t *testing.T, spec world.Spec, extras ...string) *Lab {
	t.Helper()
	if p := borrow(t, spec, extras); p != nil {
		l := &Lab{handle: p.handle, pooled: p}
		l.open(t)
		return l
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	dir := t.TempDir()
	const name = "conformance-test"
	go func() {
		ended <- embedded.Supervise(ctx, embedded.Options{
			Name: name, Dir: dir, Spec: spec, With: extras,
			Firstlight: func(ctx context.Context) (string, error) { return program(ctx, dir) },
			Log:        slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	l := &Lab{}
	polltest.UntilNil(t, "the lab to answer", func() (err error) {
		select {
		case err := <-ended:
			ended <- err
			t.Fatal(errors.Join(errors.New("the lab stopped"), err))
		default:
		}
		l.handle, err = lab.AttachDir(t.Context(), name, dir)
		return err
	})
	if err := l.handle.WaitReady(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	l.open(t)
	return l
}

// Retire prevents reuse of the lab by other tests, for changes that outlast the test, such as
// series in Prometheus. It does nothing outside a pool.
func (l *Lab) Retire() {
	if l.pooled != nil {
		l.pooled.retired = true
	}
}

func (l *Lab) open(t *testing.T) {
	t.Helper()
	var err error
	if l.Site, err = site.Load(filepath.Join(l.handle.Dir, embedded.SiteFile)); err != nil {
		t.Fatal(err)
	}
	if l.Profile, err = profile.Load(l.Site.Profile); err != nil {
		t.Fatal(err)
	}
	if l.Cluster, err = kube.Open(l.Site.Reach.Kubernetes.Kubeconfig, ""); err != nil {
		t.Fatal(err)
	}
}

// Open returns the cluster; it has the signature of a check's dependencies.
func (l *Lab) Open(context.Context) (*kube.Cluster, error) { return l.Cluster, nil }

// RequireClean fails the test if an object has the run's label.
func (l *Lab) RequireClean(t *testing.T, run string) {
	t.Helper()
	remaining, err := kube.Guest{Cluster: l.Cluster}.LeftOf(t.Context(), run)
	if err != nil || len(remaining) > 0 {
		t.Errorf("objects of run %s remain: %+v, %v", run, remaining, err)
	}
}

// Recorder keeps observations in memory.
type Recorder struct {
	T *testing.T

	mu  sync.Mutex
	obs []check.Observation
}

var _ check.Recorder = (*Recorder)(nil)

// Record implements check.Recorder.
func (r *Recorder) Record(o check.Observation) (check.Observation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.ID = fmt.Sprintf("%04d-%s", len(r.obs)+1, o.Kind)
	r.obs = append(r.obs, o)
	return o, nil
}

// Progress implements check.Recorder.
func (r *Recorder) Progress(format string, args ...any) {
	if r.T != nil {
		r.T.Logf(format, args...)
	}
}

// Observations returns the recorded observations in order.
func (r *Recorder) Observations() []check.Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]check.Observation(nil), r.obs...)
}

// Kill kills a program of the lab, which restarts it, and returns a description of it.
func (l *Lab) Kill(ctx context.Context, program string) (string, error) {
	id, err := l.handle.Kill(ctx, program)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("program %s, process %d", program, id.PID), nil
}
