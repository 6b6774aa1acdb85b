package collective

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/workload"
)

// domain is the nodes whose GPUs NVLink connects: they report the same ClusterUUID and CliqueId.
type domain struct {
	id    string // ClusterUUID.CliqueId, as in gate node
	nodes []string
}

// domainSubsystems is NCCL's default of NCCL_DEBUG_SUBSYS: an image or /etc/nccl.conf that leaves out ENV hides the
// variables that replace a domain.
const domainSubsystems = "INIT,BOOTSTRAP,ENV"

func domainName(id string) string { return "NVLink domain " + id }

// byDomain reports whether the site demands runs by NVLink domain.
func (g *Gate) byDomain() bool { return g.site.Workloads.Collective.ByNVLinkDomain }

// domainJob is the job of a collective over one domain.
func (g *Gate) domainJob(t test, d domain) job {
	return job{test: t, scope: ScopeDomain, nodes: d.nodes, domain: d.id, repetitions: g.repetitions()}
}

// domainsOf are the NVLink domains of the nodes of a run, as NCCL reports them, in the order of their first nodes.
// Nodes without one are reported; whole is set if each is in one.
func (g *Gate) domainsOf(b *check.Builder, id string, f Figures) (out []domain, whole bool) {
	fabrics, ranks := map[string][]nccl.Fabric{}, map[string]map[int]bool{}
	where := f.where()
	for _, r := range f.NCCL.Ranks {
		if len(r.Fabrics) > 0 {
			node := where.node(r.Host)
			fabrics[node] = append(fabrics[node], r.Fabrics...)
			if ranks[node] == nil {
				ranks[node] = map[int]bool{}
			}
			if r.Rank >= 0 {
				ranks[node][r.Rank] = true
			}
		}
	}
	forged := forgedDomains(b, id, f)
	whole = len(f.Nodes) > 0
	for _, node := range f.Nodes {
		of := nodeDomain(b, id, node, fabrics[node], len(ranks[node]), f.GPUsPerNode)
		i := slices.IndexFunc(out, func(d domain) bool { return d.id == of })
		switch {
		case of == "" || forged[node]:
			whole = false
		case i < 0:
			out = append(out, domain{id: of, nodes: []string{node}})
		default:
			out[i].nodes = append(out[i].nodes, node)
		}
	}
	return out, whole
}

// spansDomains reports whether a run over all nodes is localised by domain: a pair of nodes of two domains cannot
// reach the limit of NVLink, so that only pairs within one localise a failure.
func (g *Gate) spansDomains(f Figures) bool {
	if !g.byDomain() {
		return false
	}
	domains, whole := g.domainsOf(&check.Builder{}, "", f)
	return whole && len(domains) > 1
}

// forgedDomains are the nodes on which a variable replaces what the GPUs report (src/init.cc of NVIDIA/nccl).
func forgedDomains(b *check.Builder, id string, f Figures) map[string]bool {
	out := map[string]bool{}
	where := f.where()
	for _, h := range f.NCCL.Hosts {
		for _, set := range h.Settings {
			if name, value, _ := strings.Cut(set, "="); value != "-1" && (name == "NCCL_MNNVL_UUID" || name == "NCCL_MNNVL_CLIQUE_ID") { // -1: the default
				node := where.node(h.Name)
				b.Unobserved(id, node, "unset "+name+" in the image, the pods and /etc/nccl.conf of this node; then "+remedyOnce, "%s is set on %s: the NVLink domain that NCCL reports need not be that of its GPUs", set, node)
				out[node] = true
			}
		}
	}
	return out
}

const (
	remedyNoFabric = "compare nvidia-smi -q (Fabric: State, ClusterUUID, CliqueId) of this node with the others of its rack, and read the fabric manager's log on the switch trays; then run again with --from node"
	remedyOldNCCL  = "use an image with NCCL 2.20 or later, which reports the NVLink fabric of each GPU, and keep NCCL_DEBUG=INFO"
)

// nodeDomain is the domain of a node; "" if it has none, which is reported. NCCL uses no NVLink between nodes in a
// job with a GPU that has not joined the fabric, or whose UUID is zero.
func nodeDomain(b *check.Builder, id, node string, fabrics []nccl.Fabric, ranks, gpus int) string {
	var found []string
	for _, f := range fabrics {
		if f.State != nccl.FabricCompleted || strings.Trim(f.ClusterUUID, "0-") == "" {
			b.Fail(id, node, remedyNoFabric, "a GPU of %s is in no NVLink domain (ClusterUUID %s, state %d, want %d): NCCL uses no NVLink between nodes in any job with it", node, f.ClusterUUID, f.State, nccl.FabricCompleted)
			return ""
		}
		found = append(found, f.ClusterUUID+"."+f.CliqueID)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	switch {
	case len(found) > 1:
		b.Fail(id, node, remedyNoFabric, "the GPUs of %s are in %d NVLink domains: %s", node, len(found), strings.Join(found, ", "))
		return ""
	case len(found) == 0 || ranks < gpus:
		remedy := remedyOldNCCL
		if ranks > 0 {
			remedy = remedyNoFabric
		}
		b.Unobserved(id, node, remedy, "NCCL reports the NVLink domain of %d of %d GPUs of %s", ranks, gpus, node)
		return ""
	}
	return found[0]
}

// observeDomains runs the collectives of the site over each NVLink domain, all domains at once: each has NVLink
// switches of its own. Without the domain of every node, none is run.
func (g *Gate) observeDomains(ctx context.Context, rec check.Recorder, l *workload.Launcher, all Figures) error {
	domains, whole := g.domainsOf(&check.Builder{}, "", all)
	if !g.byDomain() || !whole {
		return nil
	}
	jobs, ctx := errgroup.WithContext(ctx)
	for _, d := range domains {
		jobs.Go(func() error { return g.observeDomain(ctx, rec, l, d) })
	}
	if err := jobs.Wait(); err != nil {
		return fmt.Errorf("NVLink domains: %w", err)
	}
	return nil
}

// observeDomain runs the collectives over one domain, and localises their failures; after a failed all-reduce, or a
// job that did not run, the others are not run.
func (g *Gate) observeDomain(ctx context.Context, rec check.Recorder, l *workload.Launcher, d domain) error {
	for _, t := range g.suite() {
		rec.Progress("%s over %s, %d nodes, %d repetitions", t.name, domainName(d.id), len(d.nodes), g.repetitions())
		f, err := g.observe(ctx, rec, l, g.domainJob(t, d))
		if err != nil {
			return err
		}
		if _, err := g.localise(ctx, rec, l, f); err != nil {
			return err
		}
		if f.Outcome.Ended == gangjob.EndedNotRun || t.isAllReduce() && g.reviewRun("", f).HasFailed() {
			return nil
		}
	}
	return nil
}

// racksOf are the racks of nodes; none where the inventory has none.
func (g *Gate) racksOf(nodes []string) []string {
	var out []string
	for _, n := range g.site.Inventory.Nodes {
		if n.Rack != "" && slices.Contains(nodes, n.Name) {
			out = append(out, n.Rack)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
