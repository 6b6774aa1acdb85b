package efa

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// driverFigures are the version of the kernel module.
type driverFigures struct {
	Version string `json:"version"`
}

func driver(out ssh.Output) (any, error) {
	version := strings.TrimSpace(string(out.Stdout))
	if out.Exit != 0 || version == "" || strings.ContainsAny(version, " \n") {
		return nil, errors.New("the kernel module efa shows no version: it is not loaded, or is that of the kernel itself, which has none")
	}
	return driverFigures{version}, nil
}

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	rec.Progress("reading the adapters of %d hosts", len(g.site.Inventory.Nodes))
	if err := g.each(ctx, rec, kindDevices, kindDriver, kindEndpoints, kindCounters); err != nil {
		return err
	}
	soak := g.site.Fabric.Soak.D()
	rec.Progress("soaking for %s", soak)
	if err := g.deps.Wait(ctx, soak); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	return g.each(ctx, rec, kindCounters)
}

// each observes these kinds on every host.
func (g *Gate) each(ctx context.Context, rec check.Recorder, kinds ...string) error {
	all := commands()
	return onhost.Each(ctx, g.site, func(ctx context.Context, _ int, host string) error {
		for _, kind := range kinds {
			if _, err := g.deps.Run(ctx, rec, kind, host, all[kind].argv, all[kind].parse); err != nil {
				return err
			}
		}
		return nil
	})
}
