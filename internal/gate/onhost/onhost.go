// Package onhost runs the commands of gates on the hosts of a site, and records their outputs.
package onhost

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// Hosts runs commands on the site's hosts.
type Hosts interface {
	Run(ctx context.Context, host string, argv ...string) (ssh.Output, error)
}

// Deps are the dependencies of a gate's Observe. They are zero for a gate that only judges.
type Deps struct {
	Hosts Hosts
	// Clock defaults to the real clock.
	Clock clock.PassiveClock
	// Wait waits for d or the end of ctx; defaults to a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// WithDefaults has a clock and Wait.
func (d Deps) WithDefaults() Deps {
	d.Clock = cmp.Or[clock.PassiveClock](d.Clock, clock.RealClock{})
	if d.Wait == nil {
		d.Wait = func(ctx context.Context, d time.Duration) error {
			if poll.Sleep(ctx, d) != nil {
				return ctx.Err()
			}
			return nil
		}
	}
	return d
}

// Parser returns the figures of a command's output.
type Parser func(ssh.Output) (any, error)

// Run records one command's output with its figures or error, and returns the figures; nil with an
// error of the command or of its output. Its own error is the recorder's.
func (d Deps) Run(ctx context.Context, rec check.Recorder, kind, host string, argv []string, parse Parser) (any, error) {
	attempt := check.Observer{Recorder: rec, Clock: d.Clock}.Begin(kind, host, strings.Join(argv, " "))
	out, err := d.Hosts.Run(ctx, host, argv...)
	if err != nil {
		return nil, attempt.Record(nil, err)
	}
	figures, err := parse(out)
	if err != nil {
		figures, err = nil, fmt.Errorf("cannot read the %s of %s (exit code %d): %w", kind, host, out.Exit, err)
	}
	return figures, attempt.Raw(Raw(out)).Exit(out.Exit).Record(figures, err)
}

// Raw is an output as it is stored: stdout, and what the command wrote to stderr.
func Raw(out ssh.Output) []byte {
	if len(out.Stderr) == 0 {
		return out.Stdout
	}
	return slices.Concat(out.Stdout, []byte("\n[stderr]\n"), out.Stderr)
}

// Each calls f with each GPU node of the site and its index, as many at a time as the site allows.
func Each(ctx context.Context, s *site.Site, f func(ctx context.Context, i int, host string) error) error {
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(max(1, s.Reach.SSH.Concurrency))
	for i, host := range s.NodeNames() {
		work.Go(func() error { return f(workCtx, i, host) })
	}
	return work.Wait()
}
