package reservation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
)

// stopWithin is how long a command has to end after SIGTERM.
const stopWithin = 10 * time.Second

// releaseWithin bounds a release after everything else has ended.
const releaseWithin = 30 * time.Second

// underLease runs a command while the leases are renewed, and releases them when it
// has ended. The leases are renewed until then, also while the command is stopped.
func underLease(ctx context.Context, s Streams, r *reservations, grants []broker.Grant, argv []string) error {
	keeping, letGo := context.WithCancel(context.WithoutCancel(ctx))
	defer letGo()
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var kept sync.WaitGroup
	var lost error
	kept.Go(func() {
		notified := map[string]bool{}
		lost = r.KeepAlive(keeping, grants, func(g broker.Grant) {
			if n := g.Notice; n != nil && !notified[g.Reservation] {
				notified[g.Reservation] = true
				fmt.Fprintf(s.Err, "%s asks for %s by %s: %s\n", n.By, g.Reservation, n.At.UTC().Format(time.RFC3339), n.Reason)
			}
		})
		if lost != nil {
			stop(lost)
		}
	})
	err := runCommand(running, s, grants, argv)
	letGo()
	kept.Wait()
	if lost != nil {
		return infrastructure(fmt.Errorf("the command was stopped: %w", errors.Join(lost, notItsOwn(err))))
	}
	return errors.Join(err, releaseAll(ctx, r, grants, "its command has ended"))
}

// notItsOwn drops the exit code of a command that was stopped.
func notItsOwn(err error) error {
	if _, ok := errors.AsType[*exitError](err); ok {
		return nil
	}
	return err
}

func runCommand(ctx context.Context, s Streams, grants []broker.Grant, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	cmd.Env = append(os.Environ(), leaseEnv(grants)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopWithin
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left of its group; there may be none
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return &exitError{code: exit.ExitCode()}
	case errors.As(err, &exit):
		return &exitError{code: ExitUnobserved, err: fmt.Errorf("%s: %w", argv[0], err)}
	default:
		return usage("run %s: %w", argv[0], err)
	}
}

func leaseEnv(grants []broker.Grant) []string {
	var names, tokens []string
	for _, g := range grants {
		names = append(names, g.Reservation)
		tokens = append(tokens, strconv.FormatInt(g.Token, 10))
	}
	return []string{
		"FIRSTLIGHT_RESERVATION=" + strings.Join(names, ","),
		"FIRSTLIGHT_LEASE_TOKEN=" + strings.Join(tokens, ","),
		"FIRSTLIGHT_LEASE_HOLDER=" + grants[0].Holder,
	}
}

func releaseAll(ctx context.Context, r *reservations, grants []broker.Grant, why string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	var errs []error
	for _, g := range grants {
		errs = append(errs, r.Release(ctx, g.Reservation, g.Token, why))
	}
	return infrastructure(errors.Join(errs...))
}
