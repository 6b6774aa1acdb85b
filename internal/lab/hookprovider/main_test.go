package hookprovider

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/world"
)

// superviseEnv makes the test binary a lab's process, and hookEnv a hook, as the
// program is one by its commands.
const (
	superviseEnv = "FIRSTLIGHT_TEST_SUPERVISE"
	hookEnv      = "FIRSTLIGHT_TEST_HOOK"
)

func TestMain(m *testing.M) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch {
	case os.Getenv(superviseEnv) != "":
		os.Exit(superviseMain(ctx))
	case len(os.Args) == 3 && os.Args[1] == "credential":
		os.Exit(credentialMain(ctx, os.Args[2]))
	case os.Getenv(hookEnv) != "":
		os.Exit(hookMain(ctx))
	}
	os.Exit(m.Run())
}

func superviseMain(ctx context.Context) int {
	flags := flag.NewFlagSet("supervise", flag.ContinueOnError)
	name, dir := flags.String("name", "", ""), flags.String("dir", "", "")
	hardware, nodes := flags.String("hardware", "", ""), flags.Int("nodes", 0, "")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return 2
	}
	spec, err := world.SpecOf(*hardware, *nodes)
	if err == nil {
		err = embedded.Supervise(ctx, embedded.Options{Name: *name, Dir: *dir, Spec: spec})
	}
	return said(err)
}

func said(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func credentialMain(ctx context.Context, name string) int {
	p, err := New(Options{})
	if err != nil {
		return said(err)
	}
	raw, err := p.Credential(ctx, name)
	_, _ = os.Stdout.Write(raw) // the test reads what comes
	return said(err)
}

func hookMain(ctx context.Context) int {
	p, err := New(options())
	if err != nil {
		return said(err)
	}
	status, err := hook.Serve(ctx, os.Stdin, os.Stdout, p)
	_ = said(err)
	return status
}

func options() Options {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Options{Command: []string{self}, Env: []string{superviseEnv + "=1"}, Credential: []string{self, "credential"}}
}
