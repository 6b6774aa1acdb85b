package fabric

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	host := g.site.Reach.SSH.FabricHost
	soak := g.site.Fabric.Soak.D()
	rec.Progress("querying the subnet manager and reading error counters")
	if err := g.askSM(ctx, rec); err != nil {
		return err
	}
	if err := g.run(ctx, rec, kindCounters, host, counters, allCounters()...); err != nil {
		return err
	}
	soakCtx, stop := context.WithCancel(ctx)
	defer stop()
	soaked := make(chan error, 1)
	go func() { soaked <- g.deps.Wait(soakCtx, soak) }()

	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(max(1, g.site.Reach.SSH.Concurrency))
	work.Go(func() error { return g.run(workCtx, rec, kindLinks, host, links, "iblinkinfo", "-l") })
	work.Go(func() error { return g.run(workCtx, rec, kindDiag, host, diag, "ibdiagnet") })
	for _, n := range g.site.Inventory.Nodes {
		work.Go(func() error { return g.run(workCtx, rec, kindPorts, n.Name, ports, "ibstat") })
		work.Go(func() error {
			return g.run(workCtx, rec, kindVerbs, n.Name, details, verbsCommand(g.site.Fabric.HCAs)...)
		})
	}
	if err := work.Wait(); err != nil {
		stop()
		<-soaked
		return err
	}
	rec.Progress("soaking for %s", soak)
	if err := <-soaked; err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if err := g.run(ctx, rec, kindCounters, host, counters, allCounters()...); err != nil {
		return err
	}
	return g.askSM(ctx, rec)
}

func (g *Gate) askSM(ctx context.Context, rec check.Recorder) error {
	for _, host := range g.smHosts() {
		if err := g.run(ctx, rec, kindSM, host, subnetManager, "sminfo"); err != nil {
			return err
		}
	}
	return nil
}

// allCounters lists every nonzero counter: a host's threshold file would hide growth below
// its thresholds.
func allCounters() []string { return []string{"ibqueryerrors", "--threshold-file", "/dev/null"} }

// run records one command's output with its figures or error. Its error is the recorder's.
func (g *Gate) run(ctx context.Context, rec check.Recorder, kind, host string, parse parser, argv ...string) error {
	line := strings.Join(argv, " ")
	attempt := check.Observer{Recorder: rec, Clock: g.deps.Clock}.Begin(kind, host, line)
	out, err := g.deps.Hosts.Run(ctx, host, argv...)
	if err != nil {
		return attempt.Record(nil, err)
	}
	raw := out.Stdout
	if len(out.Stderr) > 0 {
		raw = slices.Concat(out.Stdout, []byte("\n[stderr]\n"), out.Stderr)
	}
	figures, err := parse(out)
	if err != nil {
		err = fmt.Errorf("cannot read the output of %s on %s (exit code %d): %w", line, host, out.Exit, err)
	}
	return attempt.Raw(raw).Exit(out.Exit).Record(figures, err)
}
