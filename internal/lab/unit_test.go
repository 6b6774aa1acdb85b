package lab

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/upstream"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"lab": true, "a": true, "a-1": true, strings.Repeat("a", 32): true,
		"": false, "A": false, "-a": false, "a-": false, "a/b": false, "..": false, strings.Repeat("a", 33): false,
	} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

func TestHome(t *testing.T) {
	for name, tc := range map[string]struct{ firstlight, xdg, home, want string }{
		"own":     {"/f", "/x", "/h", "/f/labs/lab"},
		"xdg":     {"", "/x", "/h", "/x/firstlight/labs/lab"},
		"not xdg": {"", "relative", "/h", "/h/.local/state/firstlight/labs/lab"},
		"home":    {"", "", "/h", "/h/.local/state/firstlight/labs/lab"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("FIRSTLIGHT_HOME", tc.firstlight)
			t.Setenv("XDG_STATE_HOME", tc.xdg)
			t.Setenv("HOME", tc.home)
			if got, err := DirOf("lab"); err != nil || got != tc.want {
				t.Errorf("DirOf = %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	precious := filepath.Join(dir, "data")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := New(Options{Name: "x", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.sup.Close()
	if err := l.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "is not a lab's") {
		t.Errorf("start in a directory of another program: %v", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("it was deleted: %v", err)
	}
}

func TestNetworksDoNotOverlap(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 20 {
		n, err := claimNetwork(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		defer n.close()
		if seen[n.subnet] {
			t.Errorf("subnet %s was claimed twice", n.subnet)
		}
		seen[n.subnet] = true
		addr := hostPort(n.address(), n.ports.Etcd)
		if tryListen(addr) == nil {
			t.Errorf("%s is claimed and can be bound", addr)
		}
		n.release(t.Context(), portsOf(n.ports, component.Etcd)...)
		if err := tryListen(addr); err != nil {
			t.Errorf("%s was released: %v", addr, err)
		}
	}
}

// A lab of 1,000 nodes on a busy machine had 7,000 pods to run in five minutes.
func TestTimeoutOfTheStartOfManyHosts(t *testing.T) {
	t.Parallel()
	if small, large := startTimeout(0), startTimeout(1002); small != 5*time.Minute || large != 13*time.Minute+21*time.Second {
		t.Errorf("%s and %s", small, large)
	}
}

// A lab of 1,000 hosts has five consecutive subnets, which no other lab can claim.
func TestALabOfManyHostsHasSeveralSubnets(t *testing.T) {
	t.Parallel()
	n, err := claimNetwork(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	seen := map[string]bool{}
	for i := range 1000 {
		seen[Info{Subnet: n.subnet}.HostAddress(i)] = true
	}
	if len(seen) != 1000 || len(n.guards) != 5 {
		t.Errorf("%d addresses of 1,000 hosts, %d subnets claimed, want 5", len(seen), len(n.guards))
	}
	first, last := Info{Subnet: "127.20.250"}.HostAddress(0), Info{Subnet: "127.20.250"}.HostAddress(999)
	if first != "127.20.250.10" || last != "127.20.254.49" {
		t.Errorf("the hosts are %s to %s", first, last)
	}
	for _, guard := range n.guards {
		if tryListen(guard.Addr().String()) == nil {
			t.Errorf("%s is claimed and can be bound", guard.Addr())
		}
	}
	if _, err := claimNetwork(t.Context(), MaxHosts+1); err == nil || !strings.Contains(err.Error(), "at most 1920, got 1921") {
		t.Errorf("too many hosts: %v", err)
	}
}

// Regression: a released port was in use on a busy machine, because a process that was being
// started had inherited the socket.
func TestReleasedPortIsFreeWhileProcessesStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var starting sync.WaitGroup
	for range 4 {
		starting.Go(func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "true").Run() // only starts a process
			}
		})
	}
	defer starting.Wait()
	defer cancel()
	for range 200 {
		n, err := claimNetwork(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		n.release(ctx, n.ports.Etcd)
		if err := tryListen(hostPort(n.address(), n.ports.Etcd)); err != nil {
			t.Errorf("%s:%d was released: %v", n.address(), n.ports.Etcd, err)
		}
		n.close()
	}
}

func TestStepsRunAfterNeeds(t *testing.T) {
	t.Parallel()
	order := make(chan string, 3)
	do := func(name string, needs ...string) step {
		return step{name: name, needs: needs, run: func(context.Context) error { order <- name; return nil }}
	}
	if err := runSteps(t.Context(), []step{do("c", "b", "a"), do("b", "a"), do("a")}); err != nil {
		t.Fatal(err)
	}
	if got := <-order + <-order + <-order; got != "abc" {
		t.Errorf("ran %s, want abc", got)
	}
	if err := runSteps(t.Context(), []step{do("a", "nothing")}); err == nil {
		t.Error("an unknown need was accepted")
	}
	broken := errors.New("broken")
	err := runSteps(t.Context(), []step{
		{name: "a", run: func(context.Context) error { return broken }},
		do("b", "a"),
	})
	if !errors.Is(err, broken) || len(order) > 0 {
		t.Errorf("after a failed step: %v, %d more ran", err, len(order))
	}
}

func TestStateFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := readState(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no state: %v, want not exist", err)
	}
	want := stateFile{
		Version: stateVersion, ID: "x-1", Name: "x", State: StateReady, Supervisor: process.Identity{PID: 1, Start: 2},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Subnet: "127.1.2", Address: "127.1.2.1", Kubeconfig: "/k",
		Processes: []stateProcess{{Name: "etcd", Identity: process.Identity{PID: 3, Start: 4}}},
	}
	if err := writeState(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := readState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, content := range map[string]string{"cut": `{"version":1,`, "other version": `{"version":2}`, "empty": ""} {
		if err := os.WriteFile(statePath(dir), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readState(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want an error other than ErrNotExist", name, err)
		}
	}
}

func TestDirectoryIsLockedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(dir); !errors.Is(err, ErrRunning) {
		t.Errorf("second lock: %v, want ErrRunning", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

// Every reader gets every event from the first.
func TestJournalReplays(t *testing.T) {
	t.Parallel()
	j := newJournal()
	j.add(Event{Name: "a"})
	events, more, done := j.from(0)
	if len(events) != 1 || done {
		t.Fatalf("%d events, done %v", len(events), done)
	}
	j.add(Event{Name: "b"})
	<-more
	if events, _, _ := j.from(1); len(events) != 1 || events[0].Name != "b" {
		t.Errorf("then %v, want b", events)
	}
	j.close()
	j.add(Event{Name: "c"})
	if events, _, done := j.from(0); len(events) != 2 || !done {
		t.Errorf("at the end %v, done %v", events, done)
	}
}

func TestFailedSpawnReportsCause(t *testing.T) {
	t.Parallel()
	opts := testCommand(t)
	opts.Name, opts.Dir = "broken", t.TempDir()
	opts.Env = []string{superviseEnv + "=simulated compiler error"}
	h, _, err := Spawn(t.Context(), opts)
	if err == nil {
		err = h.WaitReady(t.Context(), nil)
		<-h.exited
	}
	if err == nil || !strings.Contains(err.Error(), "simulated compiler error") {
		t.Errorf("error %v, want the cause", err)
	}
	if err := DownDir(t.Context(), "broken", opts.Dir); err != nil && !errors.Is(err, ErrNotRunning) {
		t.Error(err)
	}
}

// Down ends the state of a lab whose supervisor was killed before it started anything.
func TestDownOfADeadLab(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := ownDir(dir); err != nil {
		t.Fatal(err)
	}
	dead := stateFile{ID: "x-none", Name: "x", Supervisor: process.Identity{PID: os.Getpid(), Start: 1}}
	dead.Processes = []stateProcess{{Name: "etcd", Identity: process.Identity{PID: os.Getpid(), Start: 1}}}
	if err := writeState(dir, dead); err != nil {
		t.Fatal(err)
	}
	if err := DownDir(t.Context(), "x", dir); err != nil { // this process has the recorded PID and lives
		t.Error(err)
	}
	if err := DownDir(t.Context(), "x", dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("then %v, want ErrNotRunning", err)
	}
}

func TestUnknownProgram(t *testing.T) {
	t.Parallel()
	if _, err := (upstream.NewPrograms(nil)).Path(t.Context(), "etcd"); err == nil {
		t.Error("a program that was not built has a path")
	}
}
