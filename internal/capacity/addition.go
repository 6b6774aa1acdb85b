package capacity

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// InputFile is the Addition in the evidence of a run.
const InputFile = "addition.json"

// formatVersion is the schema version of an Addition.
const formatVersion = 1

// Base is the accepted run that nodes are added to.
type Base struct {
	// Run is its ID, Manifest the digest of its files.
	Run      string    `json:"run"`
	Manifest string    `json:"manifest"`
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

	figures *profile.Profile
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
	var drivers []string
	if h.AddedTo != "" {
		earlier, err := Parse(b.Inputs[InputFile])
		if err != nil {
			return Base{}, fmt.Errorf("read the nodes of run %s: %w", h.Run, err)
		}
		s, drivers = earlier.SiteOf(s), append(drivers, earlier.To.Driver)
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
			return Base{}, fmt.Errorf("read the drivers of run %s: %w", h.Run, err)
		}
		for _, m := range node.Inventory(obs) {
			if slices.Contains(out.Nodes, m.Host) {
				drivers = append(drivers, m.Driver)
			}
		}
	}
	if slices.Sort(drivers); len(slices.Compact(drivers)) == 1 {
		out.Driver = drivers[0]
	}
	return out, nil
}

// Fresh refuses a base that is older than a duration, or of the future.
func (b Base) Fresh(now time.Time, most time.Duration) error {
	switch age := now.Sub(b.Accepted).Round(time.Minute); {
	case age < 0:
		return fmt.Errorf("run %s is of %s, which is in the future: correct the clock", b.Run, b.Accepted.UTC().Format(time.RFC3339))
	case age > most:
		return fmt.Errorf("run %s is of %s, %s ago, the limit is %s: accept the cluster again, or state the age with --max-age", b.Run, b.Accepted.UTC().Format(time.RFC3339), age, most)
	}
	return nil
}

// Of refuses another cluster than the base's, and another kind of hardware.
func (b Base) Of(cluster string, simulated evidence.Hardware) error {
	switch {
	case b.Cluster == "" || b.Cluster != cluster:
		return fmt.Errorf("run %s is of cluster %q, this is cluster %q (UID of namespace kube-system): name an accepted run of this cluster with --to", b.Run, b.Cluster, cluster)
	case b.Simulated != simulated:
		return fmt.Errorf("simulated is %s in run %s, and %s in this cluster: nodes are added to a run of the same hardware", b.Simulated, b.Run, simulated)
	}
	return nil
}

// Addition is which nodes a run adds to which accepted run.
type Addition struct {
	Format int         `json:"format"`
	To     Base        `json:"to"`
	Nodes  []site.Node `json:"nodes"`
	// NotCordoned is why the new nodes need no cordon; empty: they must be cordoned.
	NotCordoned string `json:"notCordoned,omitempty"`
}

// Add decides what is added to the base. The error has all problems of the file and the site.
func (b Base) Add(s *site.Site, p *profile.Profile, f File) (Addition, error) {
	problems := f.against(s, b.Nodes)
	var errs []error
	if err := supported(s); err != nil {
		errs = append(errs, err)
	}
	if s.Name != b.Site {
		errs = append(errs, fmt.Errorf("run %s is of site %s, this is site %s: name a run of this site with --to", b.Run, b.Site, s.Name))
	}
	if !sameFigures(b.figures, p) {
		errs = append(errs, fmt.Errorf("run %s was judged by other figures of profile %s: accept the cluster with these first", b.Run, b.Profile))
	}
	added := f.names()
	var missing, unknown []string
	for _, n := range b.Nodes {
		if !slices.Contains(s.NodeNames(), n) {
			missing = append(missing, n)
		}
	}
	for _, n := range s.NodeNames() {
		if !slices.Contains(slices.Concat(b.Nodes, b.LeftOut, added), n) {
			unknown = append(unknown, n)
		}
	}
	if len(missing) > 0 {
		errs = append(errs, fmt.Errorf("run %s accepted %s, missing in inventory.nodes of the site: add them again, or accept the cluster without them first", b.Run, check.JoinNames(missing, 10)))
	}
	if len(unknown) > 0 {
		errs = append(errs, fmt.Errorf("%s in inventory.nodes of the site, not accepted by run %s: list them in the file of new nodes", check.JoinNames(unknown, 10), b.Run))
	}
	if err := problems.Err(); err != nil {
		errs = append(errs, err)
	}
	return Addition{Format: formatVersion, To: b, Nodes: f.nodes(), NotCordoned: f.NotCordoned}, errors.Join(errs...)
}

// Planned is the addition to a site whose other nodes count as accepted, to describe its plan.
func Planned(s *site.Site, f File) (Addition, error) {
	accepted := slices.DeleteFunc(s.NodeNames(), func(n string) bool { return slices.Contains(f.names(), n) })
	to := Base{Site: s.Name, Nodes: accepted}
	return Addition{Format: formatVersion, To: to, Nodes: f.nodes(), NotCordoned: f.NotCordoned}, errors.Join(supported(s), f.against(s, accepted).Err())
}

// supported refuses sites that nodes cannot be added to.
func supported(s *site.Site) error {
	switch {
	case s.SingleNode():
		return errors.New("spine single-node has no cluster to add nodes to")
	case len(s.Groups) > 0:
		return errors.New("the site has groups of nodes with a profile each, and new nodes are of one profile: add them to inventory and groups, and run firstlight accept")
	}
	return nil
}

// against are the problems of the file with a site and its accepted nodes.
func (f File) against(s *site.Site, accepted []string) diag.List {
	var out diag.List
	for i, n := range f.Nodes {
		has := func(nodes []site.Node, key string, same func(site.Node) bool, what string) {
			for _, other := range nodes {
				if same(other) {
					out = append(out, diag.BadValue.At(f.position(i, key), "%s %s", n.Name, fmt.Sprintf(what, other.Name)).With("remove it from the file, or correct the site"))
				}
			}
		}
		if slices.Contains(accepted, n.Name) {
			out = append(out, diag.BadValue.At(f.position(i, "name"), "%s is an accepted node", n.Name).With("remove it from the file: only new nodes are added"))
		}
		has(s.Inventory.SystemNodes, "name", func(o site.Node) bool { return o.Name == n.Name }, "is the system node %s of the site")
		has(slices.Concat(s.Inventory.Nodes, s.Inventory.SystemNodes), "address", func(o site.Node) bool {
			return n.Address != "" && o.Address == n.Address && o.Name != n.Name
		}, "has the address of %s")
	}
	return out
}

func (f File) names() []string {
	out := make([]string, 0, len(f.Nodes))
	for _, n := range f.Nodes {
		out = append(out, n.Name)
	}
	return out
}

func sameFigures(a, b *profile.Profile) bool {
	one, errOne := json.Marshal(a)
	other, errOther := json.Marshal(b)
	return errOne == nil && errOther == nil && bytes.Equal(one, other)
}

// SiteOf is the site with the accepted and the new nodes, without the nodes that the accepted run left
// out. New nodes must have the driver of the accepted ones.
func (a Addition) SiteOf(s *site.Site) *site.Site {
	others := slices.DeleteFunc(s.NodeNames(), func(n string) bool { return slices.Contains(a.To.Nodes, n) })
	out := s.Without(others).With(a.Nodes)
	out.Inventory.DriverVersion = cmp.Or(s.Inventory.DriverVersion, a.To.Driver)
	return out
}

// Into adds the addition to the options of a run.
func (a Addition) Into(o *accept.Options) error {
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the addition: %w", err)
	}
	o.AddedTo, o.Inputs = a.To.Run, map[string][]byte{InputFile: append(data, '\n')} // a site with groups has other inputs, and is not supported
	return nil
}

// Parse reads the addition of a run's evidence.
func Parse(data []byte) (Addition, error) {
	var a Addition
	if err := strictjson.Unmarshal(bytes.TrimSpace(data), &a); err != nil {
		return Addition{}, fmt.Errorf("invalid %s: %w", InputFile, err)
	}
	switch {
	case a.Format != formatVersion:
		return Addition{}, fmt.Errorf("invalid %s: unsupported schema version %d: want %d", InputFile, a.Format, formatVersion)
	case a.To.Run == "" || a.To.Cluster == "" || len(a.To.Nodes) == 0 || len(a.Nodes) == 0:
		return Addition{}, fmt.Errorf("invalid %s: accepted run, its cluster, its nodes and new nodes are required", InputFile)
	}
	seen := slices.Clone(a.To.Nodes)
	for _, n := range a.Nodes {
		if _, problem := n.Problem(); problem != "" || slices.Contains(seen, n.Name) {
			return Addition{}, fmt.Errorf("invalid %s: new node %q is invalid, accepted or listed twice", InputFile, n.Name)
		}
		seen = append(seen, n.Name)
	}
	return a, nil
}

// Differs are the differences between the addition and the run that has it.
func (a Addition) Differs(h evidence.Header, s *site.Site) []string {
	var out []string
	for _, f := range []struct{ field, run, addition string }{
		{"addedTo", h.AddedTo, a.To.Run}, {"site", h.Site, a.To.Site}, {"profile", h.Profile, a.To.Profile},
	} {
		if f.run != f.addition {
			out = append(out, fmt.Sprintf("run.json says %s %q, %s says %q", f.field, f.run, InputFile, f.addition))
		}
	}
	if h.Cluster != "" { // once the cluster is identified
		if err := a.To.Of(h.Cluster, h.Simulated); err != nil {
			out = append(out, err.Error())
		}
	}
	for _, n := range a.To.Nodes {
		if !slices.Contains(s.NodeNames(), n) {
			out = append(out, fmt.Sprintf("accepted node %s of %s is not in the site", n, InputFile))
		}
	}
	return out
}

// title names the addition in a plan.
func (a Addition) title() string {
	names := make([]string, 0, len(a.Nodes))
	for _, n := range a.Nodes {
		names = append(names, n.Name)
	}
	text := fmt.Sprintf("%s added to %d accepted nodes of %s", check.JoinNames(names, 10), len(a.To.Nodes), a.To.Site)
	if a.To.Run != "" {
		text += " (run " + a.To.Run + ")"
	}
	return text
}
