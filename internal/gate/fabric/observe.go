package fabric

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	host := g.site.Reach.SSH.FabricHost
	soak := g.site.Fabric.Soak.D()
	rec.Progress("querying the subnet manager and reading error counters")
	if err := g.askSM(ctx, rec); err != nil {
		return err
	}
	before, err := g.observe(ctx, rec, kindCounters, kindCounters, host)
	if err != nil {
		return err
	}
	soakCtx, stop := context.WithCancel(ctx)
	defer stop()
	soaked := make(chan error, 1)
	go func() { soaked <- g.deps.Wait(soakCtx, soak) }()

	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(max(1, g.site.Reach.SSH.Concurrency))
	work.Go(func() error { return g.run(workCtx, rec, kindLinks, host) })
	work.Go(func() error { return g.run(workCtx, rec, kindDiag, host) })
	work.Go(func() error { return g.observeDesign(workCtx, rec) })
	for _, n := range g.site.Inventory.Nodes {
		work.Go(func() error { return g.run(workCtx, rec, kindPorts, n.Name) })
		work.Go(func() error { return g.run(workCtx, rec, kindVerbs, n.Name) })
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
	after, err := g.observe(ctx, rec, kindCounters, kindCounters, host)
	if err != nil {
		return err
	}
	if left(before, after) > 0 {
		if _, err := g.observe(ctx, rec, kindLinks, kindLinksAfter, host); err != nil {
			return err
		}
	}
	return g.askSM(ctx, rec)
}

func (g *Gate) askSM(ctx context.Context, rec check.Recorder) error {
	for _, host := range g.asked {
		if err := g.run(ctx, rec, kindSM, host); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gate) run(ctx context.Context, rec check.Recorder, kind, host string) error {
	_, err := g.observe(ctx, rec, kind, kind, host)
	return err
}

// observe records the output of the command of a kind as an observation of kind, with its figures or error, and
// returns the figures. Its error is the recorder's.
func (g *Gate) observe(ctx context.Context, rec check.Recorder, command, kind, host string) (any, error) {
	c := g.commands(g.via[0])[command]
	if c.root {
		c = g.commands(g.viaOf(ctx, host))[command]
	}
	argv := g.argv(c)
	line := strings.Join(argv, " ")
	attempt := check.Observer{Recorder: rec, Clock: g.deps.Clock}.Begin(kind, host, line)
	out, err := g.deps.Hosts.Run(ctx, host, argv...)
	if err != nil {
		return nil, attempt.Record(nil, err)
	}
	figures, err := c.parse(out)
	if err != nil {
		err = fmt.Errorf("cannot read the output of %s on %s (exit code %d): %w", line, host, out.Exit, err)
	}
	return figures, attempt.Raw(onhost.Raw(out)).Exit(out.Exit).Record(figures, err)
}
