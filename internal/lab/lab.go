package lab

import (
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

// Options say what lab to run.
type Options struct {
	// Name and Dir identify the lab; an empty Dir means the usual one of the name.
	Name, Dir string
	// Purpose is what the lab is for; only one for everything has extras.
	Purpose component.Purpose
	// Profiling makes the components of a lab for scheduling serve profiles.
	Profiling bool
	// With are the extras that the lab starts with; see component.Extras.
	With []string
	// Programs brings the upstream programs of these names, which may still be being
	// built: each is waited for when it is to be started. Progress goes to Lab.Tell.
	// Without it, those that are missing are built first.
	Programs func(ctx context.Context, names []string) (upstream.Programs, error)
	// NetworkReady, if set, is called as soon as the lab's addresses are known,
	// before and while anything is built or started. Info has no RestConfig yet.
	NetworkReady func(ctx context.Context, info Info) error
	// WorldReady, if set, is called when the API server answers and knows the
	// kinds of kwok, while the rest still starts; the lab is ready when it returned.
	WorldReady func(ctx context.Context, info Info) error
	// Log takes what a person debugging the lab wants to read; nil: nothing.
	Log *slog.Logger
	// Events takes what a person waiting for the lab wants to see; nil: nothing.
	// It is called from many goroutines and must not block.
	Events func(Event)
	// StartTimeout bounds Start, programs not counted (5 minutes: a busy
	// machine can take twenty times as long as an idle one).
	StartTimeout time.Duration
	// Clock is time; nil means the real one.
	Clock clock.Clock
}

// Lab is one running control plane.
type Lab struct {
	opts Options
	id   string
	net  *network
	sup  *process.Supervisor

	// changing serializes what restarts components; gaining holds one token, of
	// whoever adds extras.
	changing sync.Mutex
	gaining  chan struct{}
	// up is closed when the lab is ready, stopping when it is told to end.
	up, stopping chan struct{}
	stopOnce     sync.Once
	// building ends the builds of programs that the lab has not got yet.
	building   context.CancelFunc
	background sync.WaitGroup

	mu       sync.Mutex
	conf     component.Config
	programs upstream.Programs
	rest     *rest.Config
	started  time.Time
	ready    time.Time
	// launched are the components as they were last started, by name.
	launched map[string]component.Component
	// stopBackground ends the goroutines of background.
	stopBackground context.CancelFunc
	// shared leads to both Prometheus, where there are two.
	shared *turns
}

// New makes a lab that Start starts.
func New(opts Options) (*Lab, error) {
	if opts.Name == "" {
		opts.Name = DefaultName
	}
	if err := CheckName(opts.Name); err != nil {
		return nil, err
	}
	if opts.Programs == nil {
		opts.Programs = func(ctx context.Context, names []string) (upstream.Programs, error) {
			return upstream.Builder{}.Ensure(ctx, names, nil)
		}
	}
	if err := component.CheckExtras(opts.With); err != nil {
		return nil, fmt.Errorf("make lab: %w", err)
	}
	if !opts.Purpose.Extendable() && len(opts.With) > 0 {
		return nil, fmt.Errorf("make lab: one for %s has no extras, and %v was asked for", opts.Purpose, opts.With)
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
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Events == nil {
		opts.Events = func(Event) {}
	}
	if opts.StartTimeout == 0 {
		opts.StartTimeout = 5 * time.Minute
	}
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("make lab: %w", err)
	}
	l := &Lab{
		opts: opts, id: opts.Name + "-" + hex.EncodeToString(id),
		gaining: make(chan struct{}, 1), up: make(chan struct{}), stopping: make(chan struct{}),
		launched: map[string]component.Component{}, building: func() {}, stopBackground: func() {},
	}
	l.sup = process.New(process.Options{Clock: opts.Clock, Notify: l.componentChanged})
	return l, nil
}

// ID is the lab's own mark: every process of it has it in its environment, as Marker.
func (l *Lab) ID() string { return l.id }

// RestConfig reaches the API server as the lab's administrator; nil until Start has
// made the certificates.
func (l *Lab) RestConfig() *rest.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rest == nil {
		return nil
	}
	return rest.CopyConfig(l.rest)
}

// Marker is the environment variable that a lab's processes carry.
const Marker = "FIRSTLIGHT_LAB"

// Stop ends every component in reverse order, each with its grace period, and
// gives the lab's addresses back. It is right after a failed Start, too.
func (l *Lab) Stop(context.Context) error {
	l.stopOnce.Do(func() { close(l.stopping) })
	l.event(Event{Kind: KindStopping})
	l.sup.Close()
	l.share(nil)
	l.mu.Lock()
	net, programs, stopBuilding, stopBackground := l.net, l.programs, l.building, l.stopBackground
	l.mu.Unlock()
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

// discard deletes what only a running lab needs. Logs stay: they say why it ended.
func (l *Lab) discard() error {
	return discardIn(l.opts.Dir)
}

func discardIn(dir string) error {
	var errs []error
	for _, part := range []string{
		"data", "pki", "conf", "kubeconfig", "tmp", "kubeconfig.yaml",
		"world", "site.yaml", // what the world that was built on it keeps there
	} {
		if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
			errs = append(errs, fmt.Errorf("clean the lab's directory: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Tell adds an event to the lab's own, such as the progress of a build.
func (l *Lab) Tell(e Event) { l.event(e) }
