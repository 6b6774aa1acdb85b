package gpustack

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeImages requires that each container of a DaemonSet runs the same image on every node of
// the inventory: a tag may have referred to another image when a node pulled it. Pods that are
// not ready are reported elsewhere.
func (g *Gate) judgeImages(b *check.Builder, o check.Observation, f operandFigures) {
	byContainer := map[string]map[string]string{} // container to node to ID
	var nodes []string
	for _, p := range f.Pods {
		if !p.Ready || !slices.Contains(g.nodes, p.Node) {
			continue
		}
		if len(p.Images) == 0 {
			b.Unobserved(o.ID, p.Node+"/"+f.Name, "run the gate again", "pod %s/%s does not report its images", g.stack.Namespace, p.Pod)
			continue
		}
		nodes = append(nodes, p.Node)
		for _, i := range p.Images {
			if byContainer[i.Container] == nil {
				byContainer[i.Container] = map[string]string{}
			}
			byContainer[i.Container][p.Node] = i.ID
		}
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	for _, container := range slices.Sorted(maps.Keys(byContainer)) {
		g.judgeImage(b, o, f.Name, container, nodes, byContainer[container])
	}
}

// judgeImage compares the images of one container between nodes. A node without an image ID is
// unobserved.
func (g *Gate) judgeImage(b *check.Builder, o check.Observation, operand, container string, nodes []string, ids map[string]string) {
	count, pulled := map[string]int{}, 0
	for _, node := range nodes {
		digest, fromRegistry := digestOf(ids[node])
		if digest == "" {
			b.Unobserved(o.ID, node+"/"+operand, "run the gate again; see crictl inspect on the node", "container %s on %s has the image ID %q, which has no digest: its image is unknown", container, node, ids[node])
			return
		}
		if fromRegistry {
			pulled++
		}
		count[digest]++
	}
	if len(count) < 2 {
		return
	}
	if pulled > 0 && pulled < len(ids) {
		b.Unobserved(o.ID, "DaemonSet "+g.stack.Namespace+"/"+operand,
			"pull the image on every node (crictl rmi, then delete the pod); on CRI-O, which loses the repository at a restart, delete the pods; or compare crictl inspecti",
			"container %s has an image named by its repository's digest on %d of %d nodes and by its configuration's on the rest: these cannot be compared",
			container, pulled, len(ids))
		return
	}
	most := slices.Max(slices.Collect(maps.Values(count)))
	for _, node := range nodes {
		digest, _ := digestOf(ids[node])
		// Without a majority, no image is known to be the right one.
		if 2*most > len(ids) && count[digest] == most {
			continue
		}
		b.Fail(o.ID, node+"/"+operand,
			"pin the image by its digest, or pull it again on the node (crictl rmi) and delete the pod",
			"container %s on %s runs image %s, as %d of %d nodes do: the nodes run %d different images",
			container, node, digest, count[digest], len(ids), len(count))
	}
}

// bareID is the digest of an image's configuration as CRI-O reports it.
var bareID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// digestOf is the digest in an image ID, and whether it is the registry's. CRI-O reports the
// bare ID always (1.28) or for containers that existed at its restart (1.33).
func digestOf(id string) (digest string, fromRegistry bool) {
	if _, after, found := strings.Cut(id, "://"); found { // docker, docker-pullable
		id = after
	}
	if bareID.MatchString(id) {
		return "sha256:" + id, false
	}
	_, after, found := strings.Cut(id, "@")
	if !found {
		after = id
	}
	if algorithm, hex, ok := strings.Cut(after, ":"); !ok || algorithm == "" || len(hex) < 32 || strings.Contains(hex, "/") {
		return "", false
	}
	return after, found
}
