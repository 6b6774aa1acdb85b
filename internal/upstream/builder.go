package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
)

// Builder builds the pinned programs or finds them in its cache.
type Builder struct {
	// CacheDir is the cache directory; empty: $FIRSTLIGHT_CACHE, or firstlight in the user's cache
	// directory.
	CacheDir string
	// Go is the go command; empty: the one in PATH.
	Go string
	// Clock defaults to the real clock.
	Clock clock.WithTicker

	// toolchain is the Go version and its target platform; empty without Go.
	toolchain string
}

// ErrNoGo is returned if programs are missing and no go command exists.
var ErrNoGo = errors.New("no go command found: the pinned upstream programs are built from source with it; " +
	"install Go 1.26 or newer (https://go.dev/dl) and put it in PATH, or import programs that were built elsewhere " +
	"(firstlight lab programs import FILE)")

// Ensure returns the programs of the given program or group names and builds missing ones. It
// calls events, which may be nil, sequentially.
func (b Builder) Ensure(ctx context.Context, names []string, events func(Event)) (Programs, error) {
	programs, err := b.Begin(ctx, names, events)
	if err != nil {
		return Programs{}, err
	}
	err = programs.Wait(ctx)
	programs.Ended()
	return programs, err
}

// Begin is Ensure without waiting: each program is available as soon as it is built, in table
// order (Programs.Path). The builds end with ctx.
func (b Builder) Begin(ctx context.Context, names []string, events func(Event)) (Programs, error) {
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
	b, err = b.withDefaults(ctx)
	if err != nil {
		return Programs{}, err
	}
	programs := Programs{files: map[string]*file{}, ended: make(chan struct{})}
	var cached []builtProgram
	var missing []batch
	for _, g := range t.Groups {
		found, err := b.find(g)
		if err != nil {
			return Programs{}, err
		}
		for _, p := range g.Programs {
			programs.files[p.Name] = newFile()
			if path := found[p.Name]; path != "" {
				programs.files[p.Name].cached = true
				cached = append(cached, builtProgram{p.Name, path})
				continue
			}
			events(Event{Program: p.Name, State: Queued})
		}
		uncached := g.without(found)
		if len(uncached.Programs) == 0 {
			continue
		}
		if b.Go == "" {
			return Programs{}, ErrNoGo
		}
		missing = append(missing, batches(uncached)...)
	}
	go func() {
		defer close(programs.ended)
		programs.verify(cached, events)
		for i, m := range missing {
			if err := b.build(ctx, m, programs, events); err != nil {
				for _, rest := range missing[i:] {
					programs.fail(rest.programs, err)
				}
				return
			}
		}
	}()
	return programs, nil
}

// builtProgram is a program in the cache.
type builtProgram struct{ name, path string }

// verify compares programs with their digests and makes the unchanged ones available. The programs
// of a lab without extras are 526 MB and take 0.45 s of CPU time with SHA-256 instructions, so
// results are not cached.
func (p Programs) verify(programs []builtProgram, events func(Event)) {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	var one sync.Mutex // serializes calls of events
	for _, c := range programs {
		all.Go(func() error {
			path, err := c.path, verify(c.path)
			e := Event{Program: c.name, State: Cached}
			if err != nil {
				path, err = "", fmt.Errorf("start %s: %w", c.name, err)
				e.State, e.Detail = Failed, err.Error()
			}
			one.Lock()
			events(e)
			one.Unlock()
			p.files[c.name].finish(path, err)
			return nil // Path returns the error
		})
	}
	_ = all.Wait()
}

func (b Builder) withDefaults(ctx context.Context) (Builder, error) {
	b.Clock = cmp.Or[clock.WithTicker](b.Clock, clock.RealClock{})
	if b.Go == "" {
		path, err := exec.LookPath("go")
		if err != nil && !errors.Is(err, exec.ErrNotFound) {
			return b, fmt.Errorf("find the go command: %w", err)
		}
		b.Go = path // empty: imported programs can still be used
	}
	if b.Go != "" {
		var err error
		if b.toolchain, err = toolchain(ctx, b.Go); err != nil {
			return b, err
		}
	}
	b.CacheDir = cmp.Or(b.CacheDir, os.Getenv("FIRSTLIGHT_CACHE"))
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

// find returns the files of those programs of a group that are built, by this Go or elsewhere
// (imported).
func (b Builder) find(g group) (map[string]string, error) {
	dirs, err := b.imported(g)
	if err != nil {
		return nil, err
	}
	if b.Go != "" {
		own, err := b.dir(g)
		if err != nil {
			return nil, err
		}
		dirs = append([]string{own}, dirs...)
	}
	found := map[string]string{}
	for _, p := range g.Programs {
		for _, dir := range dirs {
			if path := filepath.Join(dir, p.Name); found[p.Name] == "" && usable(path) {
				found[p.Name] = path
			}
		}
	}
	return found, nil
}

// dir is the directory of a group's programs built by this Go.
func (b Builder) dir(g group) (string, error) {
	k, err := g.key()
	if err != nil {
		return "", err
	}
	return filepath.Join(b.root(), g.Name+"-"+k+"-"+short(b.toolchain)), nil
}

// root is the directory of all built programs.
func (b Builder) root() string { return filepath.Join(b.CacheDir, "upstream") }

// usable reports whether a program and its digest file exist; it does not compare them.
func usable(path string) bool { return runnable(path) && recorded(path) != "" }

// runnable reports whether an executable file exists.
func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Mode()&0o100 != 0
}
