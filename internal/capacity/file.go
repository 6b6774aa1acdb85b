package capacity

import (
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

// Over is a site with the nodes of the file, instead of its own of the same names.
func (f File) Over(s *site.Site) *site.Site { return s.Without(f.names()).With(f.nodes()) }
