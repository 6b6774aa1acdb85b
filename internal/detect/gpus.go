package detect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
)

// Labels that describe GPUs.
const (
	productLabel = kube.LabelProduct
	countLabel   = kube.LabelCount
	driverLabel  = "nvidia.com/cuda.driver-version.full"
	presentLabel = "nvidia.com/gpu.present"
	gkeLabel     = "cloud.google.com/gke-accelerator"
)

// machine is a GPU node.
type machine struct {
	node *corev1.Node
	// product is empty where nothing names it; label is where it was seen.
	product, where string
	gpus           int
	// counted is where gpus was seen.
	counted string
	// shared tells that a resource is a part of a GPU: by time slicing, MPS or MIG.
	shared string
	// problems are why devices of its ResourceSlices cannot be claimed as GPUs.
	problems []string
}

// machines are the nodes with GPUs, by name, and the others.
func (s *Snapshot) machines(k names) (gpus []machine, others []*corev1.Node) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if m, ok := s.machine(k, n); ok {
			gpus = append(gpus, m)
		} else {
			others = append(others, n)
		}
	}
	slices.SortFunc(gpus, func(a, b machine) int { return cmp.Compare(a.node.Name, b.node.Name) })
	slices.SortFunc(others, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return gpus, others
}

func (s *Snapshot) machine(k names, n *corev1.Node) (machine, bool) {
	m := machine{node: n}
	dra, _, problems := inventory.GPUsOnNode(s.Slices, n.Name)
	m.problems = problems
	switch {
	case n.Labels[productLabel] != "":
		m.product, m.where = n.Labels[productLabel], "label "+productLabel
	case len(dra) > 0 && dra[0].Product != "":
		m.product, m.where = dra[0].Product, "productName of ResourceSlices of "+inventory.Driver
	}
	labelled, _ := strconv.Atoi(n.Labels[countLabel]) // absent or no number: not known
	divisions := kube.Divisions(n)
	m.shared = describeDivisions(divisions)
	base, _, _ := strings.Cut(m.product, "-SHARED")
	product, _, single := strings.Cut(base, "-MIG-")
	m.product = product
	switch capacity := kube.Count(n.Status.Capacity, kube.GPUResource); {
	case len(divisions) > 0 && labelled > 0 && !single: // with strategy single the label counts MIG devices
		m.gpus, m.counted = labelled, "label "+countLabel
	case len(divisions) > 0:
		m.counted = "number not shown: the node's resources count parts of GPUs"
	case capacity > 0:
		m.gpus, m.counted = capacity, kube.GPUResource+" in status.capacity"
	case len(dra) > 0:
		m.gpus, m.counted = len(dra), "ResourceSlices of "+inventory.Driver
	case labelled > 0:
		m.gpus, m.counted = labelled, "label "+countLabel+"; the node offers none"
	}
	return m, m.gpus > 0 || m.product != "" || len(divisions)+len(problems) > 0 || n.Labels[presentLabel] == "true" || n.Labels[gkeLabel] != "" || k.GPULabel.on(n.Labels) != ""
}

func describeDivisions(divisions []kube.Division) string {
	parts := make([]string, 0, len(divisions))
	for _, d := range divisions {
		parts = append(parts, d.What)
	}
	return strings.Join(parts, "; ")
}

// dra describes the devices that DRA drivers offer.
func (s *Snapshot) dra() string {
	if why := s.Unread[unreadSlices]; why != "" {
		return "not known: " + why
	}
	drivers := map[string]int{}
	for _, slice := range s.Slices {
		drivers[slice.Driver] += len(slice.Devices)
	}
	if len(drivers) == 0 {
		return "no ResourceSlices"
	}
	var parts []string
	for driver, devices := range drivers {
		parts = append(parts, fmt.Sprintf("%d devices of %s", devices, driver))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ") + " in ResourceSlices"
}

// group are the machines of one product and number of GPUs.
type group struct {
	product, instance string
	// gpus is what most of them have.
	gpus     int
	machines []machine
}

// in reports whether a group has the machine.
func (m machine) in(g group) bool {
	return slices.ContainsFunc(g.machines, func(o machine) bool { return o.node.Name == m.node.Name })
}

// groups are the kinds of GPU nodes, the most common first: of one product, and of machine types with as many GPUs a
// node, such as a3-highgpu-1g and a3-highgpu-8g of Google. A machine with fewer GPUs than most of its type is not
// another kind: it lacks some.
func groups(machines []machine) []group {
	type typed struct{ product, machineType string }
	of := func(m machine) typed {
		return typed{profile.Product(m.product), m.node.Labels[corev1.LabelInstanceTypeStable]}
	}
	counts := map[typed]map[int]int{}
	for _, m := range machines {
		if counts[of(m)] == nil {
			counts[of(m)] = map[int]int{}
		}
		counts[of(m)][m.gpus]++
	}
	usual := func(m machine) int {
		by := counts[of(m)]
		return slices.MaxFunc(slices.Sorted(maps.Keys(by)), func(a, b int) int { return cmp.Or(cmp.Compare(by[a], by[b]), cmp.Compare(a, b)) })
	}
	var out []group
	for _, m := range machines {
		i := slices.IndexFunc(out, func(g group) bool {
			n, others := usual(m), usual(g.machines[0])
			return of(m).product == of(g.machines[0]).product && (n == others || n == 0 || others == 0) // 0: not shown
		})
		if i < 0 {
			out = append(out, group{product: m.product})
			i = len(out) - 1
		}
		out[i].machines = append(out[i].machines, m)
	}
	for i := range out {
		g := &out[i]
		nodes := make([]corev1.Node, 0, len(g.machines))
		byName := map[string]int{}
		for _, m := range g.machines {
			nodes = append(nodes, *m.node)
			byName[m.node.Name] = m.gpus
		}
		common := counted(nodes, func(n *corev1.Node) string { return strconv.Itoa(byName[n.Name]) })[0].text
		g.gpus, _ = strconv.Atoi(common) // it was a number
		g.instance = counted(nodes, func(n *corev1.Node) string { return n.Labels[corev1.LabelInstanceTypeStable] })[0].text
	}
	slices.SortStableFunc(out, func(a, b group) int { return len(b.machines) - len(a.machines) })
	return out
}

// String is the group as messages have it: "4 nodes with 8 x NVIDIA-H100-80GB-HBM3".
func (g group) String() string {
	nodes := "nodes"
	if len(g.machines) == 1 {
		nodes = "node"
	}
	return fmt.Sprintf("%d %s with %d x %s", len(g.machines), nodes, g.gpus, cmp.Or(g.product, "a GPU without a name"))
}

// choice is the profile of a group of nodes.
type choice struct {
	// profile is nil if it is not certain.
	profile *profile.Profile
	// candidates may be right: the certain one alone, none if no profile that ships is known to fit.
	candidates []*profile.Profile
	// proposal is the value in the file.
	proposal value
}

func certain(p *profile.Profile, proposal value) choice {
	return choice{profile: p, candidates: []*profile.Profile{p}, proposal: proposal}
}

// choose is the profile of a group. with are the candidates of the site's profile, whose fabric a group must
// have; none for the site's profile itself.
func (g group) choose(f fabric, with []*profile.Profile) (choice, error) {
	instances, err := profile.Instances()
	if err != nil {
		return choice{}, err
	}
	if instance, ok := instances[g.instance]; ok {
		p, err := profile.Load(instance.Profile)
		if err != nil {
			return choice{}, err
		}
		if problem := g.differs(p); problem != "" {
			return choice{proposal: todo("", "machine type %s has profile %s, and %s", g.instance, p.Name, problem)}, nil
		}
		return certain(p, seen(p.Name, "label %s is %s (%s)", corev1.LabelInstanceTypeStable, g.instance, instance.Source)), nil
	}
	if g.product == "" || g.gpus == 0 {
		return choice{proposal: todo("", "a profile that ships, or the path of a profile file; the cluster does not show the product of the GPUs or their number")}, nil
	}
	all, err := profile.Matching(g.product, g.gpus)
	if err != nil {
		return choice{}, err
	}
	fits := slices.DeleteFunc(slices.Clone(all), func(p *profile.Profile) bool { return !f.allows(p) })
	if same := sharing(fits, with); len(same) > 0 {
		fits = same
	}
	switch {
	case len(fits) == 1 && len(all) == 1:
		return certain(fits[0], seen(fits[0].Name, "%s is %s, %d a node: the only profile that ships for it", g.machines[0].where, g.product, g.gpus)), nil
	case len(fits) > 0:
		return choice{candidates: fits, proposal: todo("", "one of %s: %d x %s a node was seen, %s, and the rate of the fabric is not shown by Kubernetes", list(fits), g.gpus, g.product, f)}, nil
	case len(all) > 0:
		return choice{proposal: todo("", "the path of a profile file: %d x %s a node was seen, %s, and the profiles that ship for these GPUs (%s) are of other fabrics", g.gpus, g.product, f, list(all))}, nil
	default:
		return choice{proposal: todo("", "the path of a profile file: no profile ships for %d x %s a node", g.gpus, g.product)}, nil
	}
}

// differs tells how the group contradicts a profile; empty where it does not.
func (g group) differs(p *profile.Profile) string {
	same := func(of string) bool { return profile.Product(of) == profile.Product(g.product) }
	switch {
	case g.product != "" && !slices.ContainsFunc(p.GPU.Products, same):
		return fmt.Sprintf("the nodes have %s", g.product)
	case g.gpus != 0 && g.gpus != int(p.Node.GPUs.Value):
		return fmt.Sprintf("most nodes have %d GPUs", g.gpus)
	}
	return ""
}

func list(profiles []*profile.Profile) string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
