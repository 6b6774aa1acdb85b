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

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/broker"
)

// killTimeout is the time between SIGTERM and SIGKILL.
const killTimeout = 10 * time.Second

// killAfter returns the time between SIGTERM and SIGKILL. It is less than the third of a renewal
// interval that is left when the renewals of a lease fail: then the lease can be given to another.
func killAfter(grants []broker.Grant) time.Duration {
	after := killTimeout
	for _, g := range grants {
		if p := g.RenewInterval.Duration; p > 0 {
			after = min(after, p/4)
		}
	}
	return after
}

const releaseTimeout = 30 * time.Second

// runUnderLease renews the leases while a command runs, and releases them when it has ended.
// It renews them until the end of the command, also after its SIGTERM.
func runUnderLease(ctx context.Context, s cmdutil.Streams, r *reservations, grants []broker.Grant, argv []string) error {
	renewing, stopRenewing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRenewing()
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var renewal sync.WaitGroup
	var lost error
	renewal.Go(func() {
		notified := map[string]bool{}
		lost = r.KeepAlive(renewing, grants, func(g broker.Grant) {
			if n := g.Notice; n != nil && !notified[g.Reservation] {
				notified[g.Reservation] = true
				fmt.Fprintf(s.Err, "%s asks for the release of %s by %s: %s\n", n.By, g.Reservation, n.At.UTC().Format(time.RFC3339), n.Reason)
			}
		})
		if lost != nil {
			stop(lost)
		}
	})
	err := runCommand(running, s, grants, argv)
	stopRenewing()
	renewal.Wait()
	if lost != nil {
		return cmdutil.Unobserved(fmt.Errorf("the command was stopped: %w", errors.Join(lost, withoutExitCode(err))))
	}
	return errors.Join(err, releaseAll(ctx, r, grants, "the command has ended"))
}

// withoutExitCode drops the exit code of a stopped command.
func withoutExitCode(err error) error {
	if _, ok := errors.AsType[*cmdutil.ExitError](err); ok {
		return nil
	}
	return err
}

func runCommand(ctx context.Context, s cmdutil.Streams, grants []broker.Grant, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	cmd.Env = append(os.Environ(), leaseEnv(grants)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killAfter(grants)
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the rest of its process group, if any
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return &cmdutil.ExitError{Code: exit.ExitCode()}
	case errors.As(err, &exit):
		return &cmdutil.ExitError{Code: cmdutil.ExitUnobserved, Err: fmt.Errorf("%s: %w", argv[0], err)}
	default:
		return cmdutil.UsageErrorf("run %s: %w", argv[0], err)
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	var errs []error
	for _, g := range grants {
		errs = append(errs, r.Release(ctx, g.Reservation, g.Token, why))
	}
	return cmdutil.Unobserved(errors.Join(errs...))
}
