package lab

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/suite"
)

func tryListen(addr string) error {
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		return err
	}
	return l.Close()
}

// spawn runs a lab in another process and waits until it is ready.
func spawn(t *testing.T, name string, owned bool, args ...string) (*Handle, *Owner, Status) {
	t.Helper()
	opts := testCommand(t)
	opts.Args = args
	opts.Name, opts.Dir, opts.Owned = name, filepath.Join(t.TempDir(), strings.Repeat("long", 25), name), owned
	h, owner, err := Spawn(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := DownDir(context.WithoutCancel(t.Context()), name, opts.Dir); err != nil && !errors.Is(err, ErrNotRunning) {
			t.Error(err)
		}
		<-h.exited
	})
	if err := h.WaitReady(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	st, err := h.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h, owner, st
}

// awaitGone waits until all processes of a lab have ended.
func awaitGone(t *testing.T, h *Handle, st Status) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	err := poll.Until(ctx, pollInterval, "the lab's processes to end", func(context.Context) error {
		for _, p := range append(pids(st), h.Supervisor) {
			if err := requireExited(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	requireGone(t, st.Info.ID)
	requirePortsFree(t, st, 7+len(st.Info.With)) // of extras, only Karpenter is used here
}

// For every change, the labs of the suite's pool run side by side, and internal/e2e kills the owner of
// one.
func TestTwoLabsSideBySide(t *testing.T) {
	suite.Require(t, suite.All)
	needPrograms(t)
	var handles [2]*Handle
	var owners [2]*Owner
	var status [2]Status
	// Start them one after the other; both run at the same time afterwards.
	handles[0], owners[0], status[0] = spawn(t, "one", true, "--with=karpenter")
	handles[1], owners[1], status[1] = spawn(t, "two", false)
	status[1] = addKarpenter(t, handles[1])
	if a, b := status[0].Info, status[1].Info; a.Subnet == b.Subnet || a.ID == b.ID || a.Dir == b.Dir {
		t.Errorf("the labs share something: %+v, %+v", a, b)
	}
	if _, err := AttachDir(t.Context(), "one", handles[0].Dir); err != nil {
		t.Error(err)
	}
	again := testCommand(t)
	again.Name, again.Dir = "one", handles[0].Dir
	if _, _, err := Spawn(t.Context(), again); !errors.Is(err, ErrRunning) {
		t.Errorf("second start of the lab: %v, want ErrRunning", err)
	}
	if owners[1] != nil {
		t.Error("a lab that is not owned has an owner")
	}

	if err := owners[0].Close(); err != nil { // as the kernel does when the owner dies
		t.Fatal(err)
	}
	awaitGone(t, handles[0], status[0])
	if _, err := AttachDir(t.Context(), "one", handles[0].Dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a lab without its owner: %v, want ErrNotRunning", err)
	}
	if st, err := handles[1].Status(t.Context()); err != nil || st.State != StateReady {
		t.Errorf("the other lab is %s, %v", st.State, err)
	}

	var kinds []Kind
	var group errgroup.Group
	group.Go(func() error {
		return handles[1].Events(t.Context(), func(e Event) bool { kinds = append(kinds, e.Kind); return true })
	})
	if err := DownDir(t.Context(), "two", handles[1].Dir); err != nil {
		t.Error(err)
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	if len(kinds) == 0 || kinds[len(kinds)-1] != KindStopped {
		t.Errorf("events ended with %v, want stopped", kinds)
	}
	awaitGone(t, handles[1], status[1])
}

// addKarpenter adds Karpenter to a lab in another process, as lab up --with does.
func addKarpenter(t *testing.T, h *Handle) Status {
	t.Helper()
	if err := h.Ensure(t.Context(), []string{"carpenter"}, nil); err == nil || !strings.Contains(err.Error(), "karpenter, kai") {
		t.Errorf("unknown extra: %v, want the valid names", err)
	}
	var last Event
	if err := h.Ensure(t.Context(), []string{"karpenter"}, func(e Event) { last = e }); err != nil {
		t.Fatal(err)
	}
	if last.Kind != KindExtra || last.Name != "karpenter" {
		t.Errorf("the last event is %+v, want KindExtra", last)
	}
	st, err := h.Status(t.Context())
	if err != nil || strings.Join(st.Info.With, " ") != "karpenter" || st.State != StateReady {
		t.Fatalf("the lab is %s with %v, %v; want it ready with karpenter", st.State, st.Info.With, err)
	}
	return st
}

func TestNoProcessSurvivesSupervisor(t *testing.T) {
	needPrograms(t)
	h, _, st := spawn(t, "victim", false)
	if err := syscall.Kill(h.Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, h, st)
	if _, err := AttachDir(t.Context(), "victim", h.Dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a lab with a dead supervisor: %v, want ErrNotRunning", err)
	}
	if err := DownDir(t.Context(), "victim", h.Dir); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"lab.json", socketName, "pki", "kubeconfig.yaml", "data"} {
		if _, err := os.Stat(filepath.Join(h.Dir, part)); err == nil {
			t.Errorf("%s exists", part)
		}
	}
	if err := DownDir(t.Context(), "victim", h.Dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("down twice: %v, want ErrNotRunning", err)
	}
}
