package detect

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Result is the file with what a person reads about it.
type Result struct {
	File []byte
	// GPUNodes is how many nodes with GPUs are in it, TODOs how many lines site check refuses.
	GPUNodes, TODOs int
}

// File writes the site file of a cluster.
func File(s *Snapshot) (Result, error) {
	k, err := known()
	if err != nil {
		return Result{}, err
	}
	example, err := site.Parse("the example", site.Example())
	if err != nil {
		return Result{}, fmt.Errorf("read the example: %w", err)
	}
	machines, others := s.machines(k)
	found := groups(machines)
	all, err := s.kinds(k, found)
	if err != nil {
		return Result{}, err
	}
	main, chosen := all.main, all.main.profile
	spines, err := s.distributions()
	if err != nil {
		return Result{}, err
	}
	p := &page{}
	s.head(k, p, found, main.network, spines)
	p.set(0, "name", s.name())
	p.set(0, "spine", spines.spine())
	all.sites(p)
	p.set(0, "profile", main.proposal)
	facility(p, all)
	inventoryBlock(k, p, found, machines, others)
	all.block(p)
	s.reach(p, main.machines)
	fabricBlock(p, chosen, main.network, main.group)
	p.gap()
	s.gpustack(k, p, machines)
	p.gap()
	s.telemetry(p)
	workloads(k, p, example, machines)
	autoscale(k, p, machines)
	notApplicable(p, chosen, len(machines))
	return Result{File: []byte(p.b.String()), GPUNodes: len(machines), TODOs: p.todos}, nil
}

// head explains the file and describes the cluster.
func (s *Snapshot) head(k names, p *page, kinds []group, network fabric, of distributions) {
	p.note(0, "A firstlight site, written by firstlight site detect from what the cluster shows.")
	p.note(0, "Each value has a comment: seen (where), default (a choice of firstlight), or TODO. firstlight site check FILE")
	p.note(0, "refuses the file while a comment begins with TODO: enter the value, or confirm it, then delete the comment.")
	p.note(0, "")
	of.describe(p)
	p.note(0, "machines: %s", s.clouds(k))
	for _, g := range kinds {
		p.note(0, "GPUs: %s (%s, %s)", g, cmp.Or(g.machines[0].where, "no label names the product"), cmp.Or(g.machines[0].counted, "no count"))
	}
	if types := describe(counted(s.Nodes, func(n *corev1.Node) string { return cmp.Or(n.Labels[corev1.LabelInstanceTypeStable], "none") })); types != "" {
		p.note(0, "machine types: %s (label %s)", types, corev1.LabelInstanceTypeStable)
	}
	p.note(0, "network: %s", network)
	p.note(0, "DRA: %s", s.dra())
	p.note(0, "taints of GPU nodes: %s", taints(k, kinds))
	if plugins := s.plugins(k); len(plugins) > 0 {
		p.note(0, "device plugins: %s", strings.Join(plugins, ", "))
	}
	fmt.Fprintln(&p.b, "apiVersion: firstlight/v1")
	fmt.Fprintln(&p.b, "kind: Site")
}

// taints describes the taints of GPU nodes that keep pods away.
func taints(k names, kinds []group) string {
	var nodes []corev1.Node
	for _, g := range kinds {
		for _, m := range g.machines {
			nodes = append(nodes, *m.node)
		}
	}
	if len(nodes) == 0 {
		return "none"
	}
	return describe(counted(nodes, func(n *corev1.Node) string {
		var of []string
		for _, t := range keepsAway(k, n) {
			of = append(of, t.ToString())
		}
		return cmp.Or(strings.Join(of, " and "), "no taint")
	}))
}

// keepsAway are the taints of a node that a person has set: not those of its state.
func keepsAway(k names, n *corev1.Node) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectPreferNoSchedule || k.ofState(t)
	})
}

func facility(p *page, all kinds) {
	p.gap()
	p.note(0, "Nothing of the facility is in Kubernetes.")
	p.key(0, "facility")
	p.key(2, "signOff")
	p.set(4, "by", todo("", "the person who attests that the facility is ready"))
	p.set(4, "role", todo("", "their role, such as facility manager"))
	p.set(4, "reference", todo("", "the document of the sign-off"))
	p.set(4, "at", todo("", "its date, such as 2026-11-01"))
	p.set(4, "expires", todo("", "the date until which it holds"))
	for _, budget := range []struct {
		key, what, unit string
		of              func(profile.Node) profile.Figure
	}{
		{"power", "the power that the room provides", "kW", func(n profile.Node) profile.Figure { return n.Power }},
		{"cooling", "the heat that the room removes", "kW", func(n profile.Node) profile.Figure { return n.Heat }},
		{"weight", "the weight that the floor carries", "kg", func(n profile.Node) profile.Figure { return n.Weight }},
	} {
		demand := "the demand depends on the profile"
		switch nodes, sum, known := all.demand(budget.of); {
		case known && len(all.groups) > 0:
			demand = fmt.Sprintf("%d nodes demand %g %s by their profiles", nodes, sum, budget.unit)
		case known:
			demand = fmt.Sprintf("%d nodes of the profile demand %g %s", nodes, sum, budget.unit)
		}
		p.key(2, budget.key)
		p.set(4, "provided", todo("0 "+budget.unit, "%s; %s", budget.what, demand))
	}
	p.note(2, "redfish: controllers to read power from; firstlight site init has an example")
}

// sshPort is the default port of SSH.
const sshPort = "22"

func inventoryBlock(k names, p *page, found []group, machines []machine, others []*corev1.Node) {
	p.gap()
	p.key(0, "inventory")
	if len(machines) == 0 {
		p.set(2, "nodes", todo([]string{}, "the GPU nodes: no node offers or names a GPU"))
	} else {
		p.todo(2, "check the SSH addresses below: Kubernetes shows the InternalIP of a node, not its port; 22 is the default of SSH")
		p.key(2, "nodes")
		for _, m := range machines {
			p.set(4, "-", entry(m.node, m.describe(k, found)))
		}
	}
	if len(others) > 0 {
		p.key(2, "systemNodes")
		for _, n := range others {
			p.set(4, "-", entry(n, "no GPU"+state(k, n)))
		}
	}
	for _, m := range machines {
		if m.shared != "" {
			p.todo(2, "GPUs of %s are divided (%s): gates and conformance need whole GPUs; gate gpustack alone accepts MIG devices, as gpustack.mig", m.node.Name, m.shared)
		}
	}
	if len(machines) > 0 {
		driver(p, machines)
	}
}

// describe is what of a machine a reader of the inventory has to know.
func (m machine) describe(k names, found []group) string {
	text := fmt.Sprintf("%d x %s (%s)", m.gpus, cmp.Or(m.product, "a GPU without a name"), cmp.Or(m.counted, "no count"))
	if i := slices.IndexFunc(found, m.in); i >= 0 && m.gpus != found[i].gpus {
		text += fmt.Sprintf("; most nodes have %d", found[i].gpus)
	}
	if len(m.problems) > 0 {
		text += "; " + strings.Join(m.problems, ", ")
	}
	return text + state(k, m.node)
}

// state is what keeps a node from taking pods.
func state(k names, n *corev1.Node) string {
	var out strings.Builder
	if !kube.Ready(n) {
		out.WriteString("; not Ready")
	}
	if n.Spec.Unschedulable {
		out.WriteString("; cordoned")
	}
	for _, t := range n.Spec.Taints {
		if k.ofState(t) && t.Key != corev1.TaintNodeUnschedulable {
			out.WriteString("; has the taint " + t.ToString())
		}
	}
	if _, known := n.Status.Allocatable[kube.GPUResource]; known {
		if has, of := kube.Count(n.Status.Allocatable, kube.GPUResource), kube.Count(n.Status.Capacity, kube.GPUResource); has < of {
			_, _ = fmt.Fprintf(&out, "; %d of %d %s allocatable", has, of, kube.GPUResource)
		}
	}
	return out.String()
}

// rackLabels are the labels that name a node's rack.
var rackLabels = []string{"topology.kubernetes.io/rack", "node.coreweave.cloud/rack", "topology.rack", "rack"}

// entry is a node of the inventory.
func entry(n *corev1.Node, what string) value {
	fields := []string{"name: " + scalar(n.Name)}
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			fields = append(fields, "address: "+scalar(net.JoinHostPort(a.Address, sshPort)))
			break
		}
	}
	for _, label := range rackLabels {
		if rack := n.Labels[label]; rack != "" {
			fields = append(fields, "rack: "+scalar(rack))
			what += "; rack by label " + label
			break
		}
	}
	return value{yaml: "{" + strings.Join(fields, ", ") + "}", note: "seen: " + what}
}

// driverOf is the version of a node's driver by its labels; empty if they do not show it. GPU feature discovery before v0.15
// has its parts alone.
func driverOf(n *corev1.Node) string {
	major, minor, rev := n.Labels["nvidia.com/cuda.driver.major"], n.Labels["nvidia.com/cuda.driver.minor"], n.Labels["nvidia.com/cuda.driver.rev"]
	if full := n.Labels[driverLabel]; full != "" || major == "" || minor == "" {
		return full
	}
	return strings.TrimSuffix(major+"."+minor+"."+rev, ".")
}

func driver(p *page, machines []machine) {
	nodes := make([]corev1.Node, 0, len(machines))
	for _, m := range machines {
		nodes = append(nodes, *m.node)
	}
	versions := counted(nodes, driverOf)
	switch {
	case len(versions) == 1 && versions[0].text != "":
		p.set(2, "driverVersion", seen(versions[0].text, "label %s, or its parts, of every GPU node", driverLabel))
	case len(versions) == 1:
		p.note(2, "driverVersion: not seen (label %s); gate node demands that all nodes agree on one", driverLabel)
	default:
		p.todo(2, "nodes have different drivers by label %s (%s): gate node demands one", driverLabel, describe(versions))
	}
}

func (s *Snapshot) reach(p *page, machines []machine) {
	p.gap()
	p.key(0, "reach")
	p.key(2, "ssh")
	p.set(4, "user", todo("", "the user of SSH on the nodes, such as root"))
	p.set(4, "identityFile", todo("", "a path of its private key"))
	p.set(4, "knownHostsFile", todo("", "a path of known_hosts, made with ssh-keyscan and checked by a person"))
	p.set(4, "concurrency", byDefault(site.DefaultSSHConcurrency, "logins at once"))
	p.set(4, "timeout", byDefault(site.DefaultSSHTimeout.String(), "each command; dcgmi diag has two hours at least"))
	if len(machines) > 0 {
		p.set(4, "fabricHost", byDefault(machines[0].node.Name, "the first GPU node; the tools of the fabric run there"))
	}
	p.key(2, "kubernetes")
	if s.Kubeconfig != "" {
		path := s.Kubeconfig
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		p.set(4, "kubeconfig", seen(path, "--kubeconfig"))
	} else {
		p.set(4, "kubeconfig", byDefault("", "$KUBECONFIG or ~/.kube/config, or --kubeconfig"))
	}
	if s.Context != "" {
		p.set(4, "context", seen(s.Context, "the context that was read"))
	} else {
		p.set(4, "context", byDefault("", "the current one, or --context"))
	}
	s.endpoint(p, prometheus, s.Unread[unreadTargets])
	s.endpoint(p, alertmanager, s.Unread[unreadReceivers])
}

func fabricBlock(p *page, chosen *profile.Profile, f fabric, main group) {
	p.gap()
	if chosen != nil && !chosen.Rails() {
		p.note(0, "profile %s has no compute fabric between nodes: the block fabric is left out; seen: %s", chosen.Name, f)
		return
	}
	p.key(0, "fabric")
	subnet := chosen == nil || chosen.Subnet()
	if chosen == nil {
		p.todo(2, "the keys below are those of InfiniBand; with a profile of RoCE replace switches, links and topology by roce: {priority: 3, dscp: 26}; of another fabric delete them and soak")
	}
	if subnet {
		p.set(2, "switches", todo([]string{}, "the switches that the subnet must hold, by their node description"))
		p.set(2, "links", todo(0, "the number of links that the subnet must show: HCA to switch, and switch to switch"))
		p.set(2, "topology", todo(site.RailOptimised, "rail-optimised, or fat-tree"))
		p.set(2, "soak", byDefault("10m", "the floor of firstlight"))
	}
	if chosen != nil && chosen.Fabric.Kind == profile.RoCE {
		p.key(2, "roce")
		p.set(4, "priority", todo(3, "the priority of RDMA traffic, on which PFC and ECN are enabled; hosts show it with mlnx_qos -i or dcb pfc show"))
		p.set(4, "dscp", todo(26, "the DSCP of RDMA traffic; delete the key where priorities come from VLAN tags"))
		p.set(2, "soak", byDefault("10m", "the floor of firstlight"))
	}
	if chosen != nil && chosen.Fabric.Kind == profile.EFA {
		p.set(2, "soak", byDefault("10m", "the floor of firstlight"))
	}
	if chosen == nil || chosen.Verbs() {
		switch {
		case len(f.hcas) > 0:
			p.set(2, "hcas", seen(f.hcas, "dra.net/rdmaDevice in ResourceSlices of every GPU node"))
		case f.hcasDiffer:
			p.set(2, "hcas", todo([]string{}, "the compute-fabric devices of a node, such as mlx5_0; ResourceSlices of dra.net differ between nodes"))
		default:
			p.set(2, "hcas", todo([]string{}, "the compute-fabric devices of a node, such as mlx5_0: without storage and management adapters"))
		}
	}
	switch {
	case len(f.resources) == 1:
		r := f.resources[0]
		p.set(2, "networkResource", seen(r.resource, "status.capacity of %s", main))
		p.set(2, "networkResourceCount", seen(r.count, "status.capacity of most GPU nodes"))
	case len(f.resources) > 1:
		p.set(2, "networkResource", todo(f.resources[0].resource, "one resource: gate gpustack checks its count on each node; seen: %s", f))
		p.set(2, "networkResourceCount", todo(f.resources[0].count, "the count of that resource on a node"))
	case chosen != nil && chosen.Fabric.Kind == profile.TCPXO:
		p.note(2, "networkResource: TCPXO has no extended resource; pods take part by annotation")
	default:
		p.set(2, "networkResource", todo("", "the extended resource of a port; none was seen on GPU nodes"))
		p.set(2, "networkResourceCount", todo(0, "how many of it a node has"))
	}
}

func autoscale(k names, p *page, machines []machine) {
	own := map[string]bool{}
	for _, m := range machines {
		for _, t := range keepsAway(k, m.node) {
			if t.Key == kube.GPUResource {
				own[t.ToString()] = true
			}
		}
	}
	p.gap()
	p.note(0, "For firstlight autoscale only. Its other keys have defaults: firstlight site init prints them.")
	p.key(0, "autoscale")
	switch len(own) {
	case 0:
		p.set(2, "taint", seen("none", "no GPU node has the taint %s", kube.GPUResource))
	case 1:
		for t := range own {
			p.set(2, "taint", seen(t, "the taint %s of GPU nodes", kube.GPUResource))
		}
	default:
		p.set(2, "taint", todo(site.DefaultTaint, "GPU nodes have different taints %s", kube.GPUResource))
	}
}

// notApplicable lists the gates that the chosen hardware does not have.
func notApplicable(p *page, chosen *profile.Profile, nodes int) {
	if chosen == nil {
		return
	}
	reasons := site.NotApplicableTo(chosen, nodes)
	if len(reasons) == 0 {
		return
	}
	p.gap()
	p.key(0, "notApplicable")
	for _, gate := range site.Gates() {
		if why, ok := reasons[gate]; ok {
			p.set(2, gate, seen(why, "profile %s", chosen.Name))
		}
	}
}
