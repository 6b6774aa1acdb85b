package gpustack

import (
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/site"
)

// installed is what a node shows of its distribution, and what was recognised by it.
type installed struct {
	distribution.Node
	distribution.Found
}

// judgeDistribution requires k3s where the site declares it, and versions within the skew policy. It returns
// the nodes of the cluster by name, and the distributions of the inventory's nodes for the reason of a pass.
func (g *Gate) judgeDistribution(b *check.Builder, obs []check.Observation) (nodes map[string]installed, remark string) {
	f, o, ok := check.Require[distributionFigures](b, obs, kindDistribution, "", "the distribution of the nodes", readRemedy(obs, kindDistribution))
	if !ok {
		return nil, ""
	}
	nodes = map[string]installed{}
	for _, n := range f.Nodes {
		found, err := distribution.Of(n)
		if err != nil {
			b.Unobserved(o.ID, n.Name, "report it as a bug", "%v", err)
			return nil, ""
		}
		nodes[n.Name] = installed{n, found}
	}
	var own []distribution.Node
	for _, name := range g.nodes {
		n, seen := nodes[name]
		if !seen {
			b.Unobserved(o.ID, name, "join the node to the cluster, or correct the inventory", "its distribution was not observed: the cluster has no such node")
			continue
		}
		own = append(own, n.Node)
		g.judgeSpine(b, o, n)
	}
	if whose, err := foreignServer(f, nodes); err != nil {
		b.Unobserved(o.ID, "API server", "report it as a bug", "%v", err)
	} else if whose != "" {
		b.Note(o.ID, "API server", "", "%s is that of %s, and no node is: it may be that of a virtual cluster, and the version skew of the nodes is not judged", f.Server, whose)
	} else {
		g.judgeSkew(b, o, f, nodes)
	}
	groups, err := distribution.Groups(own)
	if err != nil {
		b.Unobserved(o.ID, "the distribution of the nodes", "report it as a bug", "%v", err)
		return nil, ""
	}
	return nodes, "; " + distribution.Describe(groups)
}

// foreignServer is the distribution of an API server, if no node has it: the nodes register with another one, that of
// the cluster around a virtual cluster. Empty: the nodes may be the server's.
func foreignServer(f distributionFigures, nodes map[string]installed) (string, error) {
	of, err := distribution.OfServer(f.Server)
	if err != nil || !of.Known() || len(nodes) == 0 {
		return "", err
	}
	for _, n := range nodes {
		if n.Found.Name == of.Name {
			return "", nil
		}
	}
	return of.Name, nil
}

// judgeSpine requires a node of k3s on a site that declares it. Other spines declare no distribution.
func (g *Gate) judgeSpine(b *check.Builder, o check.Observation, n installed) {
	const remedy = "join the node with the agent of k3s, take it out of the inventory, or correct spine in the site file: kubernetes is for other distributions"
	switch {
	case g.site.Spine != site.SpineK3s || n.Spine == site.SpineK3s:
	case n.Known():
		b.Fail(o.ID, n.Name, remedy, "%s is a node of %s (%s), and the site declares spine k3s", n.Name, n.Found.Name, n.Mark)
	default:
		b.Fail(o.ID, n.Name, remedy, "kubelet %q of %s is not of k3s (such as v1.33.4+k3s1), and the site declares spine k3s", n.Kubelet, n.Name)
	}
}

// server is an API server: the one that answered, or one whose version the kubelet of its node has.
type server struct {
	name, version string
	minor         int
}

// judgeSkew requires the version skew policy of Kubernetes, or that of the distribution where it is narrower.
func (g *Gate) judgeSkew(b *check.Builder, o check.Observation, f distributionFigures, nodes map[string]installed) {
	const (
		policy  = "; https://kubernetes.io/releases/version-skew-policy"
		upgrade = "upgrade servers first, then agents, one minor version at a time" + policy
	)
	minor, err := distribution.Minor(f.Server)
	if err != nil {
		b.Unobserved(o.ID, "API server", "run the gate again", "its version cannot be compared with those of the nodes: %v", err)
		return
	}
	oldest := server{"API server", f.Server, minor}
	newest := oldest
	for _, n := range f.Nodes {
		if serves := g.site.Spine == site.SpineK3s || nodes[n.Name].Skew.ServerNodes; !n.ControlPlane || !serves {
			continue
		}
		if minor, err = distribution.Minor(n.Kubelet); err != nil {
			b.Unobserved(o.ID, n.Name, "look at the node: "+nodes[n.Name].KubeletLog(true), "the version of this server is unknown: %v", err)
			continue
		}
		if s := (server{n.Name, n.Kubelet, minor}); s.minor < oldest.minor {
			oldest = s
		} else if s.minor > newest.minor {
			newest = s
		}
	}
	if newest.minor-oldest.minor > distribution.SkewServers {
		b.Fail(o.ID, oldest.name, upgrade, "%s is %s and %s is %s: the limit between API servers is %d minor version", oldest.name, oldest.version, newest.name, newest.version, distribution.SkewServers)
	}
	compared := 0
	for _, name := range g.nodes {
		n, seen := nodes[name]
		if !seen {
			continue
		}
		minor, err := distribution.Minor(n.Kubelet)
		switch limit := n.Skew.MaxOlder(minor); {
		case err != nil:
			b.Unobserved(o.ID, name, "look at the node: "+n.KubeletLog(n.ControlPlane), "its kubelet cannot be compared with the API server: %v", err)
		case minor > oldest.minor:
			b.Fail(o.ID, name, upgrade, "kubelet %s of %s is newer than %s (%s): a kubelet must not be newer than any API server", n.Kubelet, name, oldest.name, oldest.version)
		case newest.minor-minor > limit:
			b.Fail(o.ID, name, upgrade, "kubelet %s of %s is %d minor versions older than %s (%s), the limit is %d", n.Kubelet, name, newest.minor-minor, newest.name, newest.version, limit)
		default:
			compared++
		}
	}
	b.Figure(check.Figure{
		Name: "nodes within the version skew policy", Value: float64(compared), Unit: "nodes", Limit: float64(len(g.nodes)), Relation: "==", Source: "https://kubernetes.io/releases/version-skew-policy",
	})
}

// namesOf are the inventory's nodes for which is holds.
func (g *Gate) namesOf(nodes map[string]installed, is func(installed) bool) []string {
	return slices.DeleteFunc(slices.Clone(g.nodes), func(name string) bool {
		n, seen := nodes[name]
		return !seen || !is(n)
	})
}
