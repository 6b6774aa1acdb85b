package gpustack

import (
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// nameNotFound is getent's exit code for a name without an answer.
const nameNotFound = 2

// judgeDNS requires that every placed pod has resolved the API server's Service to one of the
// Service's addresses.
func (g *Gate) judgeDNS(b *check.Builder, obs []check.Observation, nodes map[string]string) {
	f, o, ok := check.Require[dnsFigures](b, obs, kindDNS, "", "the cluster's DNS", readRemedy(obs, kindDNS))
	if !ok {
		return
	}
	if len(f.Addresses) == 0 {
		b.Unobserved(o.ID, "Service default/kubernetes", "run the gate again", "has no address to compare the answers with")
		return
	}
	resolved := 0
	for _, pod := range slices.Sorted(maps.Keys(nodes)) {
		node := nodes[pod]
		i := slices.IndexFunc(f.Pods, func(r resolution) bool { return r.Pod == pod && r.Node == node })
		if i < 0 {
			b.Unobserved(o.ID, node, "run the gate again", "the resolution of pod %s was not observed", pod)
			continue
		}
		r := f.Pods[i]
		switch {
		case r.Unread != "":
			b.Unobserved(o.ID, node, "find out why the pod does not run or its log cannot be read; the image is telemetry.loadImage", "the resolution of pod %s on %s is unknown: %s", pod, node, r.Unread)
		case len(r.Addresses) == 0 && r.Exit != nameNotFound:
			b.Unobserved(o.ID, node, "name an image with getent (any with glibc) in telemetry.loadImage", "pod %s on %s could not query %s (getent exit %d)", pod, node, apiServer, r.Exit)
		case len(r.Addresses) == 0:
			b.Fail(o.ID, node,
				"look at the node's kube-proxy and CNI pods, node-local-dns if installed, and the path from the node to the cluster DNS' pods; "+
					"on all nodes alike, at network policies that new namespaces get; kubectl run with nodeName "+node+" and nslookup "+apiServer,
				"pod %s on %s cannot resolve %s (getent exit %d): nothing that names a Service works from there",
				pod, node, apiServer, r.Exit)
		case !slices.ContainsFunc(r.Addresses, func(a string) bool { return slices.Contains(f.Addresses, a) }):
			b.Fail(o.ID, node,
				"look at clusterDNS of the node's kubelet and at the pod's /etc/resolv.conf",
				"pod %s on %s resolves %s to %s; the Service has %s: another DNS answers there",
				pod, node, apiServer, strings.Join(r.Addresses, ", "), strings.Join(f.Addresses, ", "))
		default:
			resolved++
		}
	}
	b.Figure(check.Figure{
		Name: "pods that resolve " + apiServer, Value: float64(resolved), Unit: "pods", Limit: float64(len(nodes)), Relation: "==", Source: "the pods of the gang that fits",
	})
}
