package lab

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/upstream"
)

const pollInterval = 50 * time.Millisecond

// Options configure a lab.
type Options struct {
	// Name and Dir identify the lab; an empty Dir is the default directory of the name.
	Name, Dir string
	// Purpose selects the components; only a lab for everything can have extras.
	Purpose component.Purpose
	// Profiling enables the profiling endpoints of a lab for scheduling.
	Profiling bool
	// GPUStack manages the GPUs of a lab for everything.
	GPUStack GPUStack
	// With lists the initial extras; see component.Extras.
	With []string
	// Hosts is the number of addresses that the world's hosts need, at most MaxHosts.
	Hosts int
	// Programs returns the named upstream programs. It may return while they are being built; each
	// is awaited before its start. nil builds missing programs first.
	Programs func(ctx context.Context, names []string) (upstream.Programs, error)
	// NetworkReady, if set, is called when the lab's addresses are known, before programs are
	// built or started. Info has no RestConfig yet.
	NetworkReady func(ctx context.Context, info Info) error
	// WorldReady, if set, is called when the API server serves kwok's kinds, while other
	// components start. WorldSettled, if set, is called after it, when the components of the GPU
	// stack are ready. The lab is ready after both have returned.
	WorldReady   func(ctx context.Context, info Info) error
	WorldSettled func(ctx context.Context) error
	// RayReady, if set, is called when the world is settled and the extra ray serves: it creates the RayCluster.
	RayReady func(ctx context.Context) error
	// Log is for debugging; nil discards it.
	Log *slog.Logger
	// Events receives the progress of the lab. It is called concurrently and must not block.
	Events func(Event)
	// StartTimeout bounds each step of Start, without builds. Default 5 minutes, and half a second for each
	// host: a busy machine can take twenty times as long as an idle one.
	StartTimeout time.Duration
	// Clock defaults to the real clock.
	Clock clock.Clock
}

// Lab is one running control plane.
type Lab struct {
	opts Options
	id   string
	net  *network
	sup  *process.Supervisor

	// changing serializes changes of faults and the start of extras, which must not run with
	// earlier faults; adding serializes additions of extras. Each has one token; see takeTurn.
	changing, adding chan struct{}
	// rulesUnread: Prometheus has not read the rules since they changed; guarded by changing.
	rulesUnread bool
	// unsettled has the changes of faults that failed, by name; guarded by changing.
	unsettled map[string]bool
	// up is closed when the lab is ready, stopping when it is asked to stop.
	up, stopping chan struct{}
	stopOnce     sync.Once
	// building cancels builds of programs.
	building   context.CancelFunc
	background sync.WaitGroup

	mu       sync.Mutex
	conf     component.Config
	programs upstream.Programs
	rest     *rest.Config
	started  time.Time
	ready    time.Time
	// launched has the components as last started, by name.
	launched map[string]component.Component
	// stopBackground cancels background.
	stopBackground context.CancelFunc
	// shared is the address of both Prometheus replicas, if there are two.
	shared *turns
	// discovery forwards Prometheus' connections to the API server.
	discovery *turns
}

// New returns a lab; Start starts it.
func New(opts Options) (*Lab, error) {
	opts.Name = cmp.Or(opts.Name, DefaultName)
	if err := CheckName(opts.Name); err != nil {
		return nil, err
	}
	if opts.Programs == nil {
		opts.Programs = func(ctx context.Context, names []string) (upstream.Programs, error) {
			return upstream.Builder{}.Ensure(ctx, names, nil)
		}
	}
	if err := errors.Join(component.CheckExtras(opts.With), component.CheckStack(opts.GPUStack.Stack)); err != nil {
		return nil, fmt.Errorf("make lab: %w", err)
	}
	if !opts.Purpose.Extendable() && len(opts.With) > 0 {
		return nil, fmt.Errorf("make lab: a lab for %s has no extras: cannot add %v", opts.Purpose, opts.With)
	}
	opts.With = withoutRepeats(opts.With)
	if opts.Dir == "" {
		dir, err := DirOf(opts.Name)
		if err != nil {
			return nil, err
		}
		opts.Dir = dir
	}
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("make lab: %w", err)
	}
	opts.Dir = dir
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	if opts.Events == nil {
		opts.Events = func(Event) {}
	}
	opts.StartTimeout = cmp.Or(opts.StartTimeout, startTimeout(opts.Hosts))
	opts.Clock = cmp.Or[clock.Clock](opts.Clock, clock.RealClock{})
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("make lab: %w", err)
	}
	l := &Lab{
		opts: opts, id: opts.Name + "-" + hex.EncodeToString(id),
		changing: make(chan struct{}, 1), adding: make(chan struct{}, 1), up: make(chan struct{}), stopping: make(chan struct{}),
		unsettled: map[string]bool{}, launched: map[string]component.Component{}, building: func() {}, stopBackground: func() {},
	}
	l.sup = process.New(process.Options{Clock: opts.Clock, Notify: l.componentChanged})
	return l, nil
}

// RestConfig has the administrator's credentials; nil until Start has created the certificates.
func (l *Lab) RestConfig() *rest.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rest == nil {
		return nil
	}
	return rest.CopyConfig(l.rest)
}

// Marker is the environment variable that identifies a lab's processes.
const Marker = "FIRSTLIGHT_LAB"

// Stop stops every component, each with its grace period, and releases the lab's addresses. Call it
// after a failed Start too.
func (l *Lab) Stop(context.Context) error {
	l.stopOnce.Do(func() { close(l.stopping) })
	l.event(Event{Kind: KindStopping})
	l.sup.Close()
	l.share(nil)
	l.mu.Lock()
	net, programs, stopBuilding, stopBackground, discovery := l.net, l.programs, l.building, l.stopBackground, l.discovery
	l.mu.Unlock()
	discovery.close()
	stopBackground()
	l.background.Wait()
	stopBuilding()
	programs.Ended()
	if net != nil {
		net.close()
	}
	if err := l.discard(); err != nil {
		return err
	}
	l.event(Event{Kind: KindStopped})
	return nil
}

// discard deletes the files of a running lab. Logs are kept.
func (l *Lab) discard() error {
	return discardIn(l.opts.Dir)
}

func discardIn(dir string) error {
	var errs []error
	for _, part := range []string{
		"data", "pki", "conf", "kubeconfig", "tmp", "kubeconfig.yaml",
		"world", "site.yaml", // files of the world
	} {
		if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
			errs = append(errs, fmt.Errorf("clean the lab's directory: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Tell adds an event, such as build progress.
func (l *Lab) Tell(e Event) { l.event(e) }

// startTimeout is the default of StartTimeout: the world's step waits for seven pods of each host, of which
// a busy machine runs some tens a second.
func startTimeout(hosts int) time.Duration {
	return 5*time.Minute + time.Duration(hosts)*time.Second/2
}
