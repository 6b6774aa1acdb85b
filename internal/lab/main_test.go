package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/upstream"
)

// superviseEnv makes the test binary act as "firstlight lab supervise".
const superviseEnv = "FIRSTLIGHT_TEST_SUPERVISE"

func TestMain(m *testing.M) {
	if os.Getenv(superviseEnv) != "" {
		os.Exit(superviseMain())
	}
	os.Exit(m.Run())
}

func superviseMain() int {
	flags := flag.NewFlagSet("supervise", flag.ContinueOnError)
	name, dir := flags.String("name", "", ""), flags.String("dir", "", "")
	ownerFD := flags.Int("owner-fd", 0, "")
	with := flags.String("with", "", "")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	opts := SuperviseOptions{Options: Options{
		Name: *name, Dir: *dir,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}}
	if *with != "" {
		opts.With = strings.Split(*with, ",")
	}
	if *ownerFD != 0 {
		opts.Owner = OwnerPipe(*ownerFD)
	}
	if text := os.Getenv(superviseEnv); text != "1" { // the error to simulate
		opts.Programs = func(context.Context, []string) (upstream.Programs, error) {
			return upstream.Programs{}, errors.New(text)
		}
	}
	if err := Supervise(ctx, opts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// testCommand runs this test binary as a supervisor.
func testCommand(t *testing.T) SpawnOptions {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return SpawnOptions{Command: []string{self}, Env: []string{superviseEnv + "=1"}}
}

// needPrograms builds missing upstream programs once, before any deadline starts.
func needPrograms(t *testing.T) {
	t.Helper()
	suite.Live(t)
	if err := built(); err != nil {
		t.Fatal(err)
	}
}

// built builds all programs, including those of extras.
var built = sync.OnceValue(func() error {
	_, err := upstream.Builder{}.Ensure(context.Background(), namesOf(component.All(component.Config{With: component.Extras()})), nil)
	return err
})

type eventLog struct{ *journal }

func newEventLog() eventLog { return eventLog{newJournal()} }

func (l eventLog) await(t *testing.T, what string, is func(Event) bool) Event {
	t.Helper()
	for n := 0; ; {
		events, more, _ := l.from(n)
		for _, e := range events {
			if is(e) {
				return e
			}
		}
		n += len(events)
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatalf("no event: %s", what)
		}
	}
}

// requireGone fails the test if a process of the lab is alive.
func requireGone(t *testing.T, id string) {
	t.Helper()
	left, err := markedProcesses(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range left {
		name, _ := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/comm")
		t.Errorf("process %d (%s) of the lab is alive", p.PID, name)
	}
}

// requirePortsFree fails the test if a port of the lab is in use.
func requirePortsFree(t *testing.T, st Status, components int) {
	t.Helper()
	if len(st.Components) != components {
		t.Errorf("the lab had %d components, want %d", len(st.Components), components)
	}
	for _, c := range st.Components {
		if err := tryListen(c.Address); err != nil {
			t.Errorf("the port of %s is in use: %v", c.Name, err)
		}
	}
}

func pids(st Status) []process.Identity {
	var all []process.Identity
	for _, c := range st.Components {
		all = append(all, c.Identity)
	}
	return all
}
