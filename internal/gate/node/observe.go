package node

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// Observe implements check.Check: as many hosts concurrently as the site allows logins. On a Slurm cluster none of the nodes may run jobs. The
// diagnostic is not started on a host whose GPUs are in use.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	if g.deps.Hosts == nil {
		return errNoHosts
	}
	if g.site.OnSlurm() {
		if free, err := g.observeJobs(ctx, rec); err != nil || !free {
			return err
		}
	}
	pods, err := g.observePods(ctx, rec)
	if err != nil {
		return err
	}
	return g.observeHosts(ctx, rec, g.commands(), pods)
}

// errHung is the error of a command that does not end: the judge recognises its text.
var errHung = fmt.Errorf("did not end within %s", commandWithin)

var errNoHosts = errors.New("observe nodes: Deps.Hosts must be set")

// observeHosts runs commands on every host, several hosts concurrently.
func (g *Gate) observeHosts(ctx context.Context, rec check.Recorder, commands []command, pods podFigures) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(g.concurrency())
	for _, n := range g.site.Inventory.Nodes {
		work.Go(func() error { return g.observeHost(ctx, rec, n.Name, commands, pods) })
	}
	return work.Wait()
}

// observeHost runs commands on one host; pods are those at the start of the gate. Its error is the recorder's or the
// context's.
func (g *Gate) observeHost(ctx context.Context, rec check.Recorder, host string, commands []command, pods podFigures) error {
	used, hung := false, false
	var before smiFigures // zero without output
	for _, c := range commands {
		if c.kind == kindDiag && (!hung || !c.usesDriver()) {
			held, err := g.observePodsOf(ctx, rec, host, pods)
			if err != nil {
				return err
			}
			used = g.used(before, held)
		}
		if used && ofDiagnostic(c.kind) || hung && c.usesDriver() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("observe %s: %w", host, err)
		}
		rec.Progress("%s: %s", host, ssh.Quote(g.argv(c)))
		run := g.run
		if c.kind == kindDiag {
			run = g.underLoad
		}
		r, err := run(ctx, rec, host, c)
		if err != nil {
			return err
		}
		if r.unreachable {
			return nil // the other commands would time out too
		}
		hung = hung || r.hung && c.usesDriver()
		if c.kind == kindBefore {
			before, _ = r.figures.(smiFigures)
		}
	}
	return nil
}

// ofDiagnostic reports whether a kind is of the diagnostic, or is compared with that before it.
func ofDiagnostic(kind string) bool {
	return kind == kindDiag || kind == kindAfter || kind == kindErrorsAfter
}

// ran is what Observe needs of a command that has run.
type ran struct {
	// figures is nil without an output that can be read.
	figures     any
	unreachable bool
	// hung: it did not end in time.
	hung bool
}

// commandWithin limits a command other than the diagnostic: nvidia-smi takes up to half a minute where it initialises
// the GPUs of a host without persistence mode, and never ends where the driver hangs.
const commandWithin = 2 * time.Minute

// run records one command's output with its figures or error.
func (g *Gate) run(ctx context.Context, rec check.Recorder, host string, c command) (ran, error) {
	argv := g.argv(c)
	line := ssh.Quote(argv)
	attempt := g.observer(rec).Begin(c.kind, host, line)
	limited := ssh.Within(ctx, commandWithin)
	out, err := g.deps.Hosts.Run(limited, host, argv...)
	attempt = attempt.Raw(onhost.Raw(out)).From(out.Origin)
	// A dial that times out, as that of the API server for a pod, is a DeadlineExceeded too.
	ranOut := out.Took >= ssh.Limit(limited, cmp.Or(g.site.Reach.SSH.Timeout.D(), commandWithin))-time.Second // Took begins after the timer
	if errors.Is(err, context.DeadlineExceeded) && ranOut && ctx.Err() == nil && !ssh.Loads(ctx) && !errors.Is(err, ssh.ErrUnreachable) {
		return ran{hung: true}, attempt.Record(nil, fmt.Errorf("%s %w: %w", line, errHung, err))
	}
	if err != nil {
		return ran{unreachable: errors.Is(err, ssh.ErrUnreachable)}, attempt.Record(nil, err)
	}
	figures, err := c.parse(out)
	if facts, ok := figures.(hostFigures); ok && len(facts.Host.GPUs) == 0 && g.site.Reach.GPUTools != site.ToolsOnHost {
		figures, attempt = g.topology(limited, host, facts, out, attempt)
	}
	if err != nil {
		err = fmt.Errorf("%s exited %d: %w", line, out.Exit, err)
		if stderr, _, _ := bytes.Cut(bytes.TrimSpace(out.Stderr), []byte("\n")); len(stderr) > 0 {
			err = fmt.Errorf("%w; stderr: %.200q", err, stderr)
		}
	}
	return ran{figures: figures}, attempt.Exit(out.Exit).Record(figures, err)
}

// topology completes the facts of a host that has no nvidia-smi. Without a matrix the judge reports
// the missing GPUs.
func (g *Gate) topology(ctx context.Context, host string, facts hostFigures, of ssh.Output, attempt check.Attempt) (hostFigures, check.Attempt) {
	argv := nvidia.TopologyCommand()
	out, err := g.deps.Hosts.Run(ctx, host, argv...)
	if err != nil {
		return facts, attempt
	}
	if gpus, err := nvidia.ParseTopology(out.Stdout); err == nil {
		facts.Host.GPUs = gpus
	}
	return facts, attempt.Raw(append(onhost.Raw(of), onhost.Raw(out)...)).From(of.Origin + "; " + ssh.Quote(argv) + ": " + out.Origin)
}

func (g *Gate) observer(rec check.Recorder) check.Observer {
	return check.Observer{Recorder: rec, Clock: g.deps.Clock}
}
