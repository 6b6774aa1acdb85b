package upstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/utils/clock"
)

// Builder builds the pinned programs, or finds them built.
type Builder struct {
	// CacheDir is where built programs are kept; empty means $FIRSTLIGHT_CACHE,
	// else firstlight in the user's cache directory.
	CacheDir string
	// Go is the go command; empty means the one in PATH.
	Go string
	// Clock is time; nil means the real one.
	Clock clock.PassiveClock
}

// ErrNoGo says that there is no Go to build with.
var ErrNoGo = errors.New("no go command found: the pinned upstream programs are built from source with it; " +
	"install Go 1.26 or newer (https://go.dev/dl) and put it in PATH")

// Ensure returns the programs that are asked for, by their names or by those of
// their groups, building those that are not in the cache. It tells each step to
// events, from one goroutine; events may be nil.
func (b Builder) Ensure(ctx context.Context, names []string, events func(Event)) (Programs, error) {
	if events == nil {
		events = func(Event) {}
	}
	t, err := loadTable()
	if err != nil {
		return Programs{}, err
	}
	if t, err = t.only(names); err != nil {
		return Programs{}, err
	}
	b, err = b.withDefaults()
	if err != nil {
		return Programs{}, err
	}
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return Programs{}, err
	}
	for _, g := range t.Groups {
		for _, p := range g.Programs {
			events(Event{Program: p.Name, State: Queued})
		}
	}
	paths := map[string]string{}
	for _, g := range t.Groups {
		for _, p := range g.Programs {
			path, err := b.ensure(ctx, toolchain, g, p, events)
			if err != nil {
				events(Event{Program: p.Name, State: Failed, Detail: err.Error()})
				return Programs{}, err
			}
			paths[p.Name] = path
		}
	}
	return NewPrograms(paths), nil
}

func (b Builder) withDefaults() (Builder, error) {
	if b.Clock == nil {
		b.Clock = clock.RealClock{}
	}
	if b.Go == "" {
		path, err := exec.LookPath("go")
		if err != nil {
			return b, ErrNoGo
		}
		b.Go = path
	}
	if b.CacheDir == "" {
		b.CacheDir = os.Getenv("FIRSTLIGHT_CACHE")
	}
	if b.CacheDir == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return b, fmt.Errorf("find the cache directory: %w (set FIRSTLIGHT_CACHE)", err)
		}
		b.CacheDir = filepath.Join(dir, "firstlight")
	}
	dir, err := filepath.Abs(b.CacheDir)
	if err != nil {
		return b, fmt.Errorf("find the cache directory: %w", err)
	}
	b.CacheDir = dir
	return b, nil
}

// ensure returns the file of one program.
func (b Builder) ensure(ctx context.Context, toolchain string, g group, p program, events func(Event)) (string, error) {
	flags, err := g.flags(p)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.CacheDir, "upstream", g.Name+"-"+key(g, flags, toolchain))
	path := filepath.Join(dir, p.Name)
	if usable(path) {
		events(Event{Program: p.Name, State: Cached})
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("build %s: make cache directory: %w", p.Name, err)
	}
	begin := b.Clock.Now()
	unlock, err := lock(ctx, dir+".lock", func() {
		events(Event{Program: p.Name, State: Building, Elapsed: b.Clock.Since(begin), Detail: "waiting for another firstlight that builds it"})
	})
	if err != nil {
		return "", fmt.Errorf("build %s: %w", p.Name, err)
	}
	defer unlock()
	if usable(path) { // the other one built it
		events(Event{Program: p.Name, State: Cached, Elapsed: b.Clock.Since(begin)})
		return path, nil
	}
	job := build{builder: b, group: g, program: p, flags: flags, begin: begin, events: events}
	if err := job.run(ctx, path); err != nil {
		return "", err
	}
	return path, nil
}

// usable says whether a built program is there.
func usable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Mode()&0o100 != 0
}
