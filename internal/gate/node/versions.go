package node

import (
	"cmp"
	"context"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Versions observes drivers and firmware of the hosts by the commands of the gate that show them, under
// the gate's conditions: a comparison with an accepted run needs no program that the gate did not need.
type Versions struct{ gate *Gate }

// NewVersions returns the versions of a site's nodes.
func NewVersions(s *site.Site, p *profile.Profile, deps Deps) *Versions {
	return &Versions{gate: New(s, p, deps)}
}

// commands are those of the gate that Inventory reads, each once.
func (v *Versions) commands() []command {
	return slices.DeleteFunc(v.gate.commands(), func(c command) bool { return c.kind != kindBefore && c.kind != kindHCAs })
}

// Describe lists the commands of Observe.
func (v *Versions) Describe() []string { return v.gate.lines(v.commands()) }

// Observe runs the commands on every host. Its error is the recorder's or the context's.
func (v *Versions) Observe(ctx context.Context, rec check.Recorder) error {
	if v.gate.deps.Hosts == nil {
		return errNoHosts
	}
	return v.gate.observeHosts(ctx, rec, v.commands(), podFigures{})
}

// Require requires one observation with figures of each command on each host, and returns their IDs.
func (v *Versions) Require(b *check.Builder, obs []check.Observation, remedy string) []string {
	var ids []string
	for _, host := range v.gate.Nodes() {
		for _, c := range v.commands() {
			var o check.Observation
			var ok bool
			if c.kind == kindHCAs {
				_, o, ok = check.Require[hcaFigures](b, obs, c.kind, host, host, remedy)
			} else {
				var f smiFigures
				f, o, ok = check.Require[smiFigures](b, obs, c.kind, host, host, remedy)
				if ok && f.Log == nil {
					b.Unobserved(o.ID, host, remedy, "could not be observed: %s", cmp.Or(f.Trouble.NVML, c.kind+noDocument))
					ok = false
				}
			}
			if ok {
				ids = append(ids, o.ID)
			}
		}
	}
	return ids
}
