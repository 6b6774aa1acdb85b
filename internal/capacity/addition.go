package capacity

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// InputFile is the Addition in the evidence of a run.
const InputFile = "addition.json"

// formatVersion is the schema version of an Addition.
const formatVersion = 1

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
	if err := b.oneDriver(); err != nil {
		errs = append(errs, err)
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
		errs = append(errs, fmt.Errorf("run %s accepted %s, missing in inventory.nodes of the site: add them to it, or accept the cluster without them first", b.Run, check.JoinNames(missing, 10)))
	}
	if len(unknown) > 0 {
		errs = append(errs, fmt.Errorf("%s in inventory.nodes of the site, not accepted by run %s: list them in the file of new nodes", check.JoinNames(unknown, 10), b.Run))
	}
	if err := problems.Err(); err != nil {
		errs = append(errs, err)
	}
	a := Addition{Format: formatVersion, To: b, Nodes: f.nodes(), NotCordoned: f.NotCordoned}
	if len(errs) == 0 {
		errs = append(errs, a.paired(s, p))
	}
	return a, errors.Join(errs...)
}

// paired refuses new nodes without an accepted node to be paired with.
func (a Addition) paired(s *site.Site, p *profile.Profile) error {
	if !p.MultiNodeNVLink() {
		return nil
	}
	alone := collective.NewPairs(a.SiteOf(s), p, collective.Deps{}, a.To.Nodes).Unpaired()
	if len(alone) == 0 {
		return nil
	}
	return fmt.Errorf("%s cannot be compared with an accepted node: NVLink connects the nodes of a rack (profile %s), "+
		"and the rack of a new node in the file has no accepted node in inventory.nodes of the site; correct the racks, or accept the cluster with a new rack by firstlight accept",
		check.JoinNames(alone, 10), p.Name)
}

// Planned is the addition to a site whose other nodes count as accepted, to describe its plan.
func Planned(s *site.Site, p *profile.Profile, f File) (Addition, error) {
	accepted := slices.DeleteFunc(s.NodeNames(), func(n string) bool { return slices.Contains(f.names(), n) })
	a := Addition{Format: formatVersion, To: Base{Site: s.Name, Nodes: accepted}, Nodes: f.nodes(), NotCordoned: f.NotCordoned}
	if err := errors.Join(supported(s), f.against(s, accepted).Err()); err != nil {
		return a, err
	}
	return a, a.paired(s, p)
}

// supported refuses sites that nodes cannot be added to.
func supported(s *site.Site) error {
	switch {
	case s.SingleNode():
		return errors.New("spine single-node has no cluster to add nodes to")
	case s.OnSlurm():
		return errors.New("nodes cannot be added behind a cordon with spine slurm: add them to the inventory, and run firstlight accept")
	case s.OnRay():
		return errors.New("nodes cannot be added behind a cordon with spine ray: add them to the inventory and to the worker group, and run firstlight accept")
	case len(s.Groups) > 0:
		return errors.New("the site has groups of nodes with a profile each, and new nodes are of one profile: add them to inventory and groups, and run firstlight accept")
	}
	return nil
}

func sameFigures(a, b *profile.Profile) bool {
	one, errOne := json.Marshal(a)
	other, errOther := json.Marshal(b)
	return errors.Join(errOne, errOther) == nil && bytes.Equal(one, other)
}

// SiteOf is the site with the accepted and the new nodes, without the nodes that the accepted run left
// out. New nodes must have the driver of the accepted ones; Components are compared by gate node.
func (a Addition) SiteOf(s *site.Site) *site.Site {
	others := slices.DeleteFunc(s.NodeNames(), func(n string) bool { return slices.Contains(a.To.Nodes, n) })
	out := s.Without(others).With(a.Nodes)
	out.Inventory.DriverVersion = cmp.Or(s.Inventory.DriverVersion, a.To.Driver)
	return out
}

// adds reports whether a node is a new one.
func (a Addition) adds(node string) bool {
	return slices.ContainsFunc(a.Nodes, func(n site.Node) bool { return n.Name == node })
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
	case a.To.Driver == "" || len(a.To.Components) == 0:
		return Addition{}, fmt.Errorf("invalid %s: driver and components of the accepted nodes are required", InputFile)
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
		if err := a.To.RequireCluster(h.Cluster, h.Simulated); err != nil {
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
