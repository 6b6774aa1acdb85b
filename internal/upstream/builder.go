package upstream

import (
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

// Builder builds the pinned programs, or finds them built.
type Builder struct {
	// CacheDir is where built programs are kept; empty means $FIRSTLIGHT_CACHE,
	// else firstlight in the user's cache directory.
	CacheDir string
	// Go is the go command; empty means the one in PATH.
	Go string
	// Clock is time; nil means the real one.
	Clock clock.WithTicker

	// toolchain names the Go version and the platform that it builds for; empty where
	// there is no Go.
	toolchain string
}

// ErrNoGo says that there is no Go to build with.
var ErrNoGo = errors.New("no go command found: the pinned upstream programs are built from source with it; " +
	"install Go 1.26 or newer (https://go.dev/dl) and put it in PATH, or import programs that were built elsewhere " +
	"(firstlight lab programs import FILE)")

// Ensure returns the programs that are asked for, by their names or by those of
// their groups, building those that are not in the cache. It reports each step to
// events, one call at a time; events may be nil.
func (b Builder) Ensure(ctx context.Context, names []string, events func(Event)) (Programs, error) {
	programs, err := b.Begin(ctx, names, events)
	if err != nil {
		return Programs{}, err
	}
	err = programs.Wait(ctx)
	programs.Ended()
	return programs, err
}

// Begin is Ensure that does not wait: each program can be had as soon as it is
// built, in the order of the table (Programs.Path). The builds end with ctx.
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
	var there []builtProgram
	var missing []batch
	for _, g := range t.Groups {
		found, err := b.find(g)
		if err != nil {
			return Programs{}, err
		}
		for _, p := range g.Programs {
			programs.files[p.Name] = newFile()
			if path := found[p.Name]; path != "" {
				there = append(there, builtProgram{p.Name, path})
				continue
			}
			events(Event{Program: p.Name, State: Queued})
		}
		left := g.without(found)
		if len(left.Programs) == 0 {
			continue
		}
		if b.Go == "" {
			return Programs{}, ErrNoGo
		}
		missing = append(missing, batches(left)...)
	}
	go func() {
		defer close(programs.ended)
		programs.verify(there, events)
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

// builtProgram is a program that was found built.
type builtProgram struct{ name, path string }

// verify holds programs against their digests, and makes each available that is as it was
// built. The programs of a lab without extras are 526 MB, 0.45 s of CPU time with the
// processor's instructions for SHA-256: nothing is remembered from one start to the next.
func (p Programs) verify(programs []builtProgram, events func(Event)) {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	var one sync.Mutex // at a time calls events
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
			return nil // Path has it
		})
	}
	_ = all.Wait()
}

func (b Builder) withDefaults(ctx context.Context) (Builder, error) {
	if b.Clock == nil {
		b.Clock = clock.RealClock{}
	}
	if b.Go == "" {
		path, err := exec.LookPath("go")
		if err != nil && !errors.Is(err, exec.ErrNotFound) {
			return b, fmt.Errorf("find the go command: %w", err)
		}
		b.Go = path // empty: what was imported can still be used
	}
	if b.Go != "" {
		var err error
		if b.toolchain, err = toolchain(ctx, b.Go); err != nil {
			return b, err
		}
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

// find returns the files of those programs of a group that are built already, by
// this Go or elsewhere (imported).
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

// dir is where the programs of a group are, when this Go builds them.
func (b Builder) dir(g group) (string, error) {
	k, err := g.key()
	if err != nil {
		return "", err
	}
	return filepath.Join(b.root(), g.Name+"-"+k+"-"+short(b.toolchain)), nil
}

// root is the directory of all built programs.
func (b Builder) root() string { return filepath.Join(b.CacheDir, "upstream") }

// usable says whether a built program is there with its digest, against which it is not held.
func usable(path string) bool { return runnable(path) && recorded(path) != "" }

// runnable says whether a file is there that can be run.
func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Mode()&0o100 != 0
}
