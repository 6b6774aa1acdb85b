package reservation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/proctree"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// runUnderLease renews the leases while a command runs, and releases them when it has ended. If
// processes of the command may still run, an operator must free the reservations.
// It renews them until the end of the command, also after its SIGTERM.
func runUnderLease(ctx context.Context, s cmdutil.Streams, r *reservations, grants []broker.Grant, argv []string) error {
	notified := map[string]bool{}
	err := r.Hold(ctx, grants, func(g broker.Grant) {
		if n := g.Notice; n != nil && !notified[g.Reservation] {
			notified[g.Reservation] = true
			fmt.Fprintf(s.Err, "%s asks for the release of %s by %s: %s\n", n.By, g.Reservation, n.At.UTC().Format(time.RFC3339), n.Reason)
		}
	}, func(ctx context.Context) error { return runCommand(ctx, s, grants, argv) })
	if lost, ok := errors.AsType[*broker.LostError](err); ok {
		stopped := fmt.Errorf("the command was stopped: %w", errors.Join(lost.Cause, withoutExitCode(lost.Work)))
		return cmdutil.Unobserved(errors.Join(stopped, r.quarantineIfLeft(ctx, grants, lost.Work)))
	}
	if _, left := errors.AsType[*proctree.LeftError](err); left { // no other holder may start while they run
		return errors.Join(err, cmdutil.Unobserved(r.quarantine(ctx, grants, err.Error())))
	}
	return errors.Join(err, cmdutil.Unobserved(r.ReleaseAll(ctx, grants, "the command has ended")))
}

// quarantine ends the leases of a command whose processes may still run, and says how to free the reservations.
func (r *reservations) quarantine(ctx context.Context, grants []broker.Grant, reason string) error {
	if err := r.QuarantineAll(ctx, grants, reason); err != nil {
		return err
	}
	return fmt.Errorf("%s waits for an operator: when the processes have ended, run firstlight reservation clean NAME --why REASON", broker.JoinNames(grants))
}

// quarantineIfLeft ends the leases of a stopped command, as far as they last, if its processes may still run.
func (r *reservations) quarantineIfLeft(ctx context.Context, grants []broker.Grant, work error) error {
	if _, left := errors.AsType[*proctree.LeftError](work); !left {
		return nil
	}
	var errs []error
	for _, g := range grants {
		if err := r.quarantine(ctx, []broker.Grant{g}, work.Error()); !broker.IsLost(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// withoutExitCode drops how a stopped command ended, but not that its processes may still run.
func withoutExitCode(err error) error {
	e, ok := errors.AsType[*cmdutil.ExitError](err)
	if !ok {
		return err
	}
	if _, left := errors.AsType[*proctree.LeftError](e.Err); left {
		return e.Err
	}
	return nil
}

func runCommand(ctx context.Context, s cmdutil.Streams, grants []broker.Grant, argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // proctree.Run has the context
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	cmd.Env = append(os.Environ(), leaseEnv(grants)...)
	err := proctree.Run(ctx, cmd, lease.MaxStopTime)
	var exit *exec.ExitError
	var left *proctree.LeftError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // a child that kept its output open was killed
		return nil
	case errors.As(err, &left):
		return &cmdutil.ExitError{Code: cmdutil.ExitUnobserved, Err: fmt.Errorf("%s: %w", argv[0], err)}
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
