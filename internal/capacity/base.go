package capacity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/profile"
)

// Base is the accepted run that nodes are added to.
type Base struct {
	// Run is its ID, Manifest the digest of its files.
	Run      string `json:"run"`
	Manifest string `json:"manifest"`
	// Accepted is when the whole cluster was accepted: that of the first run of a chain of additions.
	Accepted time.Time `json:"accepted"`
	Site     string    `json:"site"`
	Profile  string    `json:"profile"`
	// Cluster is the UID of the cluster's namespace kube-system.
	Cluster   string            `json:"cluster"`
	Simulated evidence.Hardware `json:"simulated"`
	// Nodes are the accepted nodes, LeftOut those that the run left out.
	Nodes   []string `json:"nodes"`
	LeftOut []string `json:"leftOut,omitempty"`
	// Driver is the version that all accepted nodes had; empty if it is unknown.
	Driver string `json:"driver,omitempty"`
	// Components are the versions of the accepted nodes, that new ones must have.
	Components node.Components `json:"components"`

	figures *profile.Profile
	// drivers are those of the accepted nodes, each once; an empty one is unknown.
	drivers []string
}

// BaseOf reads what a run accepted. The caller has verified its evidence.
func BaseOf(b *evidence.Bundle) (Base, error) {
	h := b.Header
	if v := b.Verdict(); !b.Finished || h.Only != "" || len(h.Command) < 2 || h.Command[1] != "accept" || v != check.Passed && v != check.Partial {
		return Base{}, fmt.Errorf("run %s is not an accepted run: nodes are added to a finished firstlight accept of the whole playbook, or with --add, with verdict passed or partial", h.Run)
	}
	s, p, err := accept.Used(b)
	if err != nil {
		return Base{}, err
	}
	m, err := evidence.Stored(b.Dir)
	if err != nil {
		return Base{}, fmt.Errorf("read the manifest of run %s: %w", h.Run, err)
	}
	out := Base{Run: h.Run, Manifest: m.Digest, Accepted: h.Created, Site: h.Site, Profile: h.Profile, Cluster: h.Cluster, Simulated: h.Simulated, figures: p}
	out.Components = node.Components{}
	known := map[string]bool{} // nodes with a driver in the evidence
	if h.AddedTo != "" {
		earlier, err := Parse(b.Inputs[InputFile])
		if err != nil {
			return Base{}, fmt.Errorf("read the nodes of run %s: %w", h.Run, err)
		}
		if earlier.To.Accepted.Before(out.Accepted) {
			out.Accepted = earlier.To.Accepted
		}
		s = earlier.SiteOf(s)
		out.LeftOut = slices.DeleteFunc(earlier.To.LeftOut, earlier.adds)
		out.inherit(earlier.To, known)
	}
	for _, r := range b.Results() {
		out.LeftOut = append(out.LeftOut, r.LeftOut...)
	}
	out.Nodes = slices.DeleteFunc(s.NodeNames(), func(n string) bool { return slices.Contains(out.LeftOut, n) })
	for _, r := range b.Results() {
		if r.Step != node.Name {
			continue
		}
		obs, err := b.Observations(r.Observations)
		if err != nil {
			return Base{}, fmt.Errorf("read the versions of run %s: %w", h.Run, err)
		}
		for _, m := range node.Inventory(obs) {
			if slices.Contains(out.Nodes, m.Host) {
				out.drivers, known[m.Host] = append(out.drivers, m.Driver), true
				for component, versions := range m.Components() {
					out.Components.Add(component, versions...)
				}
			}
		}
	}
	if slices.ContainsFunc(out.Nodes, func(n string) bool { return !known[n] }) {
		out.drivers = append(out.drivers, "")
	}
	slices.Sort(out.drivers)
	if out.drivers = slices.Compact(out.drivers); len(out.drivers) == 1 {
		out.Driver = out.drivers[0]
	}
	return out, nil
}

// inherit takes over the versions of an earlier base, whose nodes are known by them.
func (b *Base) inherit(earlier Base, known map[string]bool) {
	b.drivers = append(b.drivers, earlier.Driver)
	for component, versions := range earlier.Components {
		b.Components.Add(component, versions...)
	}
	for _, n := range earlier.Nodes {
		known[n] = true
	}
}

// oneDriver refuses a base without one driver: new nodes would be compared with each other only.
func (b Base) oneDriver() error {
	if b.Driver != "" {
		return nil
	}
	found := make([]string, 0, len(b.drivers))
	for _, d := range b.drivers {
		found = append(found, cmp.Or(d, "unknown"))
	}
	return fmt.Errorf("the accepted nodes of run %s have not one driver (%s): new nodes could not be compared with them; accept the cluster again", b.Run, strings.Join(found, ", "))
}

// Fresh refuses a base that is older than a duration, or of the future.
func (b Base) Fresh(now time.Time, most time.Duration) error {
	switch age := now.Sub(b.Accepted).Round(time.Minute); {
	case age < 0:
		return fmt.Errorf("the whole acceptance of run %s is of %s, which is in the future: correct the clock", b.Run, b.Accepted.UTC().Format(time.RFC3339))
	case age > most:
		return fmt.Errorf("the whole acceptance of run %s is of %s, %s ago, the limit is %s: accept the cluster again, or state the age with --max-age", b.Run, b.Accepted.UTC().Format(time.RFC3339), age, most)
	}
	return nil
}

// RequireCluster refuses another cluster than the base's, and another kind of hardware.
func (b Base) RequireCluster(cluster string, simulated evidence.Hardware) error {
	switch {
	case b.Cluster == "" || b.Cluster != cluster:
		return fmt.Errorf("run %s is of cluster %q, this is cluster %q (UID of namespace kube-system): name an accepted run of this cluster with --to", b.Run, b.Cluster, cluster)
	case b.Simulated != simulated:
		return fmt.Errorf("simulated is %s in run %s, and %s in this cluster: nodes are added to a run of the same hardware", b.Simulated, b.Run, simulated)
	}
	return nil
}
