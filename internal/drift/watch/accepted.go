package watch

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Accepted is what a run has accepted.
type Accepted struct {
	Header
	// Machines are the nodes with their versions, in the order of the inventory.
	Machines []node.Machine
	// Declared are the profiles and images of the site.
	Declared drift.Stack
}

// Accept reads what a run has accepted. The caller has verified its evidence.
func Accept(b *evidence.Bundle) (Accepted, error) {
	if err := drift.Accepted(b); err != nil {
		return Accepted{}, err
	}
	run := b.Header.Run
	m, err := evidence.Stored(b.Dir)
	if err != nil {
		return Accepted{}, fmt.Errorf("read the manifest of run %s: %w", run, err)
	}
	s, p, err := accept.Used(b)
	if err != nil {
		return Accepted{}, err
	}
	out := Accepted{Header: Header{Format: formatVersion, Run: run, Manifest: m.Digest, Site: b.Header.Site, Cluster: b.Header.Cluster}}
	if out.Declared, err = Declared(s, p); err != nil {
		return Accepted{}, err
	}
	machines := map[string]node.Machine{}
	for _, r := range b.Results() {
		if r.Step != node.Name {
			continue
		}
		obs, err := b.Observations(r.Observations)
		if err != nil {
			return Accepted{}, fmt.Errorf("read the observations of run %s: %w", run, err)
		}
		for _, machine := range node.Inventory(obs) {
			machines[machine.Host] = machine
		}
	}
	for _, name := range s.NodeNames() {
		machine, ok := machines[name]
		if !ok || machine.Driver == "" {
			return Accepted{}, fmt.Errorf("run %s has no versions of node %s: a watch needs a run whose gate %s observed every node", run, name, node.Name)
		}
		out.Machines = append(out.Machines, machine)
	}
	return out, nil
}

// Declared are the profiles and images of a site and its groups.
func Declared(s *site.Site, p *profile.Profile) (drift.Stack, error) {
	out := drift.Stack{}
	for i, v := range s.Views(p) {
		of, err := drift.Declared(v.Site, v.Profile)
		if err != nil {
			return nil, err
		}
		for name, values := range of {
			if i > 0 {
				name += " of group " + v.Name
			}
			out[name] = values
		}
	}
	return out, nil
}
