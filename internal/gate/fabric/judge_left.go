package fabric

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const (
	remedyLeft      = "find the missing nodes (iblinkinfo, ibstat on the hosts), reseat their cables, then run again: firstlight accept --from fabric"
	remedyNotJudged = "tell those who operate it; the gate does not judge nodes of fabric.others and nodes that are left out"
)

// left is the number of nodes that the second reading of the counters has less than the first.
func left(before, after any) int {
	b, okBefore := before.(infiniband.ErrorReport)
	a, okAfter := after.(infiniband.ErrorReport)
	if !okBefore || !okAfter {
		return 0
	}
	return b.NodesChecked - a.NodesChecked
}

// judgeLeft fails the site's nodes that left the subnet during the soak. iblinkinfo after the soak shows which ones
// left; without it, and without nodes that are not judged, they are the site's.
func (g *Gate) judgeLeft(b *check.Builder, obs []check.Observation, last check.Observation, before, after infiniband.ErrorReport, names names) {
	n := before.NodesChecked - after.NodesChecked
	if n <= 0 {
		return
	}
	gone, known, err := goneNodes(obs, names)
	if err != nil {
		b.Unobserved(last.ID, "fabric", remedySSH, "%d nodes left the subnet during the soak, and their names are unknown: %v", n, err)
		return
	}
	for _, description := range slices.Sorted(maps.Keys(gone)) {
		n--
		switch end := names.end(gone[description], description, 0); {
		case end.other || g.leftOut(end.name):
			b.Note(last.ID, end.name, remedyNotJudged, "%s left the subnet during the soak", description)
		case end.adapter:
			b.Fail(last.ID, end.name, remedyLeft, "%s left the subnet during the soak", end.name)
		default:
			b.Fail(last.ID, description, remedyLeft, "%s left the subnet during the soak", description)
		}
	}
	switch all := len(names.foreign) == 0 && len(g.site.Inventory.LeftOut) == 0; {
	case n <= 0:
	case all || !known:
		b.Fail(last.ID, "fabric", remedyLeft, "%d nodes left the subnet during the soak (%d, then %d)", n, before.NodesChecked, after.NodesChecked)
	default:
		b.Unobserved(last.ID, "fabric", "run again: firstlight accept --from fabric", "%d nodes left the subnet during the soak (%d, then %d), and iblinkinfo does not show which ones", n, before.NodesChecked, after.NodesChecked)
	}
}

// goneNodes are the GUIDs of nodes that iblinkinfo lists before the end of the soak and not after it, by their
// descriptions; known: it was run after the soak.
func goneNodes(obs []check.Observation, names names) (gone map[string]string, known bool, err error) {
	was, err := nodesOf(check.OfKind(obs, kindLinks), names)
	if err != nil {
		return nil, false, err
	}
	after := check.OfKind(obs, kindLinksAfter)
	is, err := nodesOf(after, names)
	if err != nil || len(after) == 0 {
		return nil, false, err
	}
	maps.DeleteFunc(was, func(description, _ string) bool {
		_, still := is[description]
		return still
	})
	return was, true, nil
}

// nodesOf are the GUIDs of the nodes of a reading by their descriptions.
func nodesOf(obs []check.Observation, names names) (map[string]string, error) {
	out := map[string]string{}
	for _, o := range obs {
		ports, err := check.Decode[[]infiniband.LinkPort](o)
		if err != nil {
			return nil, err
		}
		for _, p := range names.linkPorts(ports) {
			out[p.Node] = p.GUID
			if p.Peer != "" {
				out[p.Peer] = p.PeerGUID
			}
		}
	}
	return out, nil
}
