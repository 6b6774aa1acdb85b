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
	"github.com/firstlight/firstlight/internal/world"
)

// PoolEnv names the directory of the pool of labs that all test packages of a run borrow
// from (internal/suite/run makes it). In it: the binary firstlight; owner, a FIFO that is
// open for writing for as long as the run lives; home, the home of the labs. Without a
// pool each test that needs a lab starts its own.
const PoolEnv = "FIRSTLIGHT_TEST_POOL"

// The files of a pool.
const (
	PoolBinary = "firstlight"
	PoolOwner  = "owner"
	PoolHome   = "home"
	// PoolEndToEnd has the homes of end-to-end tests.
	PoolEndToEnd = "e2e"
)

// poolSize is how many labs of one shape a pool has at most: two cores do not carry more.
const poolSize = 2

// pooled is a lab of the pool while a test has it.
type pooled struct {
	name, dir string
	handle    *lab.Handle
	lock      *flock.Flock
	// retired: what the test leaves behind disturbs others.
	retired bool
}

// borrow takes a lab of the pool until the test ends; nil where there is no pool, or
// none of the pool's shapes fits.
func borrow(t *testing.T, spec world.Spec, extras []string) *pooled {
	t.Helper()
	pool := os.Getenv(PoolEnv)
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

// claim locks a lab of the shape, the first that is free.
func claim(t *testing.T, home, shape string) (name string, lock *flock.Flock) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(home, "labs"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := poll.Until(t.Context(), 100*time.Millisecond, "another test package to return a lab", func(context.Context) error {
		for i := 1; i <= poolSize; i++ {
			name = shape + "-" + strconv.Itoa(i)
			lock = flock.New(filepath.Join(home, name+".lock"))
			ok, err := lock.TryLock()
			if ok || err != nil {
				return poll.Stop(err)
			}
		}
		return fmt.Errorf("%d labs are in use", poolSize)
	})
	if err != nil {
		t.Fatal(err)
	}
	return name, lock
}

// lend notes that a test has the lab. One that another test had, which could not give it
// back (its process was killed, or timed out), is ended: nothing is known of its state.
func (p *pooled) lend(t *testing.T) error {
	t.Helper()
	if _, err := os.Stat(p.note()); err == nil {
		if err := p.end(t.Context()); err != nil {
			return err
		}
	}
	return os.WriteFile(p.note(), []byte(t.Name()+"\n"), 0o600)
}

// note is the file that is there while a test has the lab.
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
		// The FIFO has no writer but the run itself: the labs end with it.
		// Opening does not wait for one: where the run is dead, the lab ends at once.
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

// giveBack makes the lab as it was: without faults, and with nothing of any run. One
// that a test has failed on, or that cannot be made so, is ended: the next gets a new one.
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
			t.Errorf("the lab could not be given back: %v", err)
		} else {
			clean = true
		}
	}
	if !clean {
		if err := p.end(ctx); err != nil {
			t.Error(err)
			return // its note stays: the next test ends it
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
	left, err := guest.Leftovers(ctx)
	if err != nil {
		return err
	}
	runs := map[string]bool{}
	for _, o := range left {
		runs[o.RunID] = true
	}
	for run := range runs {
		if err := guest.Cleanup(ctx, run); err != nil {
			return err
		}
	}
	if left, err = guest.Leftovers(ctx); err == nil && len(left) > 0 {
		err = fmt.Errorf("left in the cluster: %+v", left)
	}
	return err
}
