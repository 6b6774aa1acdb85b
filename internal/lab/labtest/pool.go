package labtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// Files of a pool, the directory in suite.PoolEnv that internal/suite/run creates. PoolOwner is a
// FIFO that is open for writing while the run lives, PoolHome the labs' home. Without a pool each
// test starts its own lab.
const (
	PoolBinary = "firstlight"
	PoolOwner  = "owner"
	PoolHome   = "home"
	// PoolEndToEnd has the homes of end-to-end tests.
	PoolEndToEnd = "e2e"
)

// poolSize is the maximum number of labs of one shape. A start takes 6 s of CPU time, and an idle lab a
// share of a core: for every change a test waits for the lab instead.
func poolSize() int { return suite.Pick(1, 2, 2) }

// pooled is a borrowed lab.
type pooled struct {
	name, dir string
	handle    *lab.Handle
	lock      *flock.Flock
	// retired: other tests must not use the lab.
	retired bool
}

// borrow takes a lab of the pool until the test ends. It returns nil without a pool or a fitting
// shape.
func borrow(t *testing.T, spec world.Spec, extras []string) *pooled {
	t.Helper()
	pool := os.Getenv(suite.PoolEnv)
	if pool == "" {
		return nil
	}
	usual, err := world.SpecOf(spec.Hardware, len(spec.GPUNodes))
	if err != nil || !reflect.DeepEqual(usual, spec) {
		return nil
	}
	shape := fmt.Sprintf("%s-%d", spec.Hardware, len(spec.GPUNodes))
	name, lock := claim(t, filepath.Join(pool, PoolHome), shape)
	p := &pooled{name: name, dir: filepath.Join(pool, PoolHome, "labs", name), lock: lock}
	t.Cleanup(func() { p.giveBack(t) })
	if err := p.lend(t); err != nil {
		t.Fatal(err)
	}
	p.handle, err = p.attachOrStart(t, pool, spec, extras)
	if err != nil {
		p.retired = true
		t.Fatal(err)
	}
	return p
}

// claim locks the first free lab of the shape.
func claim(t *testing.T, home, shape string) (name string, lock *flock.Flock) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(home, "labs"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := poll.Until(t.Context(), 100*time.Millisecond, "another test package to return a lab", func(context.Context) error {
		for i := 1; i <= poolSize(); i++ {
			name = shape + "-" + strconv.Itoa(i)
			lock = flock.New(filepath.Join(home, name+".lock"))
			ok, err := lock.TryLock()
			if ok || err != nil {
				return poll.Stop(err)
			}
		}
		return fmt.Errorf("%d labs are in use", poolSize())
	})
	if err != nil {
		t.Fatal(err)
	}
	return name, lock
}

// lend marks the lab as borrowed. A lab that a killed test did not return is stopped, because its
// state is unknown.
func (p *pooled) lend(t *testing.T) error {
	t.Helper()
	if _, err := os.Stat(p.note()); err == nil {
		if err := p.end(t.Context()); err != nil {
			return err
		}
	}
	return os.WriteFile(p.note(), []byte(t.Name()+"\n"), 0o600)
}

// note is the file that marks the lab as borrowed.
func (p *pooled) note() string {
	return filepath.Join(filepath.Dir(filepath.Dir(p.dir)), p.name+".lent")
}

func (p *pooled) end(ctx context.Context) error {
	if err := lab.DownDir(ctx, p.name, p.dir); !errors.Is(err, lab.ErrNotRunning) {
		return err
	}
	return nil
}

func (p *pooled) attachOrStart(t *testing.T, pool string, spec world.Spec, extras []string) (*lab.Handle, error) {
	t.Helper()
	ctx, name, dir := t.Context(), p.name, p.dir
	h, err := lab.AttachDir(ctx, name, dir)
	if errors.Is(err, lab.ErrNotRunning) {
		// Only the run writes to the FIFO, so the labs end with it. Opening does not block; if the
		// run is dead, the lab stops at once.
		owner, openErr := os.OpenFile(filepath.Join(pool, PoolOwner), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if openErr != nil {
			return nil, openErr
		}
		defer owner.Close()
		args := []string{"--nodes=" + strconv.Itoa(len(spec.GPUNodes)), "--hardware=" + spec.Hardware}
		if len(extras) > 0 {
			args = append(args, "--with="+strings.Join(extras, ","))
		}
		h, _, err = lab.Spawn(ctx, lab.SpawnOptions{
			Name: name, Dir: dir, OwnerFile: owner, Args: args,
			Command: []string{filepath.Join(pool, PoolBinary), "lab", "supervise"},
		})
	}
	if err != nil {
		return nil, err
	}
	if err := h.WaitReady(ctx, nil); err != nil {
		return h, err
	}
	return h, h.Ensure(ctx, extras, nil)
}

// giveBack removes faults and objects of runs. A lab of a failed test, or one that cannot be
// cleaned, is stopped.
func (p *pooled) giveBack(t *testing.T) {
	t.Helper()
	defer func() {
		if err := p.lock.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	defer cancel()
	clean := false
	if !p.retired && !t.Failed() && p.handle != nil {
		if err := p.reset(ctx); err != nil {
			t.Errorf("cannot return the lab: %v", err)
		} else {
			clean = true
		}
	}
	if !clean {
		if err := p.end(ctx); err != nil {
			t.Error(err)
			return // its note remains: the next test stops it
		}
	}
	if err := os.Remove(p.note()); err != nil {
		t.Error(err)
	}
}

func (p *pooled) reset(ctx context.Context) error {
	resp, err := p.handle.Do(ctx, http.MethodDelete, "/world/faults", nil)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	cluster, err := kube.Open(filepath.Join(p.handle.Dir, "kubeconfig.yaml"), "")
	if err != nil {
		return err
	}
	guest := kube.Guest{Cluster: cluster}
	remaining, err := guest.Leftovers(ctx)
	if err != nil {
		return err
	}
	runs := map[string]bool{}
	for _, o := range remaining {
		runs[o.RunID] = true
	}
	for run := range runs {
		if err := guest.Cleanup(ctx, run); err != nil {
			return err
		}
	}
	if remaining, err = guest.Leftovers(ctx); err == nil && len(remaining) > 0 {
		err = fmt.Errorf("objects remain in the cluster: %+v", remaining)
	}
	return err
}
