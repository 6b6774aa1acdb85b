package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// Observe implements check.Check: all hosts side by side, one fewer at a time than
// the site allows logins: that one looks at GPUs beside the diagnostics.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	if g.deps.Hosts == nil {
		return errors.New("the node gate was made without hosts to observe")
	}
	nodes := g.site.Inventory.Nodes
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(g.concurrency())
	for _, n := range nodes {
		work.Go(func() error { return g.observeHost(ctx, rec, n.Name) })
	}
	return work.Wait() //nolint:wrapcheck // wrapped where it happened
}

// observeHost runs every command on one host; its error is the recorder's or
// the context's.
func (g *Gate) observeHost(ctx context.Context, rec check.Recorder, host string) error {
	for _, c := range g.commands() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("observe %s: %w", host, err)
		}
		rec.Progress("%s: %s", host, ssh.Quote(c.argv))
		run := g.run
		if c.kind == kindDiag {
			run = g.underLoad
		}
		unreachable, err := run(ctx, rec, host, c)
		if err != nil {
			return err
		}
		if unreachable {
			return nil // the rest would wait for the same silence
		}
	}
	return nil
}

// run records one command's output and figures, or why there are none.
func (g *Gate) run(ctx context.Context, rec check.Recorder, host string, c command) (unreachable bool, err error) {
	o := check.Observation{Kind: c.kind, Target: host, Command: ssh.Quote(c.argv), At: g.deps.Now()}
	out, runErr := g.deps.Hosts.Run(ctx, host, c.argv...)
	o.Took = g.deps.Now().Sub(o.At)
	if runErr != nil {
		unreachable = errors.Is(runErr, ssh.ErrUnreachable)
		o.Err = runErr.Error()
		o.Raw = raw(out)
	} else if o, err = withOutput(o, out, c); err != nil {
		return false, err
	}
	if _, err := rec.Record(o); err != nil {
		return false, fmt.Errorf("record %s of %s: %w", c.kind, host, err)
	}
	return unreachable, nil
}

func withOutput(o check.Observation, out ssh.Output, c command) (check.Observation, error) {
	o.Raw, o.Exit = raw(out), &out.Exit
	figures, err := c.parse(out)
	if err != nil {
		o.Err = fmt.Sprintf("%s exited %d: %v", o.Command, out.Exit, err)
		if said := bytes.TrimSpace(out.Stderr); len(said) > 0 {
			line, _, _ := bytes.Cut(said, []byte("\n"))
			o.Err += fmt.Sprintf("; it said %.200q", line)
		}
		return o, nil
	}
	return o.WithFigures(figures) //nolint:wrapcheck // names the observation
}

// raw is both streams as they came.
func raw(out ssh.Output) []byte {
	if len(out.Stderr) == 0 {
		return out.Stdout
	}
	return append(append(append([]byte(nil), out.Stdout...), "\n[stderr]\n"...), out.Stderr...)
}
