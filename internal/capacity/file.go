package capacity

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// File is the content of a file of new nodes.
type File struct {
	Nodes []Node `yaml:"nodes" need:"true"`
	// NotCordoned is why the new nodes need no cordon; empty: they must be cordoned.
	NotCordoned string `yaml:"notCordoned"`

	at func(path ...string) diag.Pos
}

// Node is a new node, as in a site's inventory.
type Node struct {
	Name    string `yaml:"name" need:"true"`
	Address string `yaml:"address"`
	Rack    string `yaml:"rack"`
}

// ParseFile reads a file's content; name is for messages. The error is a diag.List with every problem.
func ParseFile(name string, data []byte) (File, error) {
	doc, problems := yamlstrict.Parse(name, data)
	if len(problems) > 0 {
		return File{}, problems
	}
	f := File{at: doc.ValueAt}
	problems = doc.Decode(&f)
	names, addresses := map[string]bool{}, map[string]bool{}
	for i, n := range f.Nodes {
		if n.Name == "" {
			continue // a missing key
		}
		if key, problem := site.Node(n).Problem(); problem != "" {
			problems = append(problems, diag.BadValue.At(f.position(i, key), "%s", problem).With("write it as in the inventory of a site"))
		}
		if names[n.Name] {
			problems = append(problems, diag.BadValue.At(f.position(i, "name"), "duplicate node %q", n.Name).With("remove one of them"))
		}
		if n.Address != "" && addresses[n.Address] {
			problems = append(problems, diag.BadValue.At(f.position(i, "address"), "duplicate address %s", n.Address).With("give each node its own"))
		}
		names[n.Name], addresses[n.Address] = true, true
	}
	if err := problems.Err(); err != nil {
		return File{}, err
	}
	return f, nil
}

func (f File) position(node int, key string) diag.Pos {
	return f.at("nodes", strconv.Itoa(node), key)
}

func (f File) nodes() []site.Node {
	out := make([]site.Node, 0, len(f.Nodes))
	for _, n := range f.Nodes {
		out = append(out, site.Node(n))
	}
	return out
}

// MergeInto is a site with the nodes of the file, instead of its own of the same names.
func (f File) MergeInto(s *site.Site) *site.Site { return s.Without(f.names()).With(f.nodes()) }

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
