package roce

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/probe/roce"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	ports := make([][]port, len(g.site.Inventory.Nodes))
	rec.Progress("reading the ports of %d hosts", len(ports))
	if err := onhost.Each(ctx, g.site, func(ctx context.Context, i int, host string) (err error) {
		ports[i], err = g.host(ctx, rec, host)
		return err
	}); err != nil {
		return err
	}
	soak := g.site.Fabric.Soak.D()
	rec.Progress("soaking for %s", soak)
	if err := g.deps.Wait(ctx, soak); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	return onhost.Each(ctx, g.site, func(ctx context.Context, i int, host string) error {
		if len(ports[i]) == 0 {
			return nil
		}
		_, err := g.deps.Run(ctx, rec, kindCounters, host, countersCommand(ports[i]), counters)
		return err
	})
}

// host observes a host and reads its counters for the first time. It returns the ports with a network
// device.
func (g *Gate) host(ctx context.Context, rec check.Recorder, host string) ([]port, error) {
	hcas := g.site.Fabric.HCAs
	found, err := g.deps.Run(ctx, rec, kindDevices, host, devicesCommand(hcas), devices)
	if err != nil {
		return nil, err
	}
	if _, err := g.deps.Run(ctx, rec, kindLinks, host, linksCommand(), links); err != nil {
		return nil, err
	}
	if _, err := g.deps.Run(ctx, rec, kindVerbs, host, verbsCommand(hcas), verbs); err != nil {
		return nil, err
	}
	var ports []port
	known, _ := found.([]roce.Device)
	for _, d := range known {
		if name := netdevOf(d); name != "" && slices.Contains(hcas, d.Name) {
			ports = append(ports, port{d.Name, name})
		}
	}
	if len(ports) == 0 {
		return nil, nil // the judge reports the devices
	}
	if g.classified() {
		nvidia, err := g.deps.Hosts.Run(ctx, host, hostcommand.Installed("mlnx_qos")...)
		if _, err := g.deps.Run(ctx, rec, kindQoS, host, qosCommand(ports, err == nil && nvidia.Exit == 0), qos); err != nil {
			return nil, err
		}
	}
	_, err = g.deps.Run(ctx, rec, kindCounters, host, countersCommand(ports), counters)
	return ports, err
}
