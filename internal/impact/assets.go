package impact

import (
	"slices"
	"sync"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// assets are the node profiles and footprints of a tree. If the tree has none, those embedded
// in firstlight are used, which are part of the harness.
type assets struct {
	profiles   *nodeprofile.Set
	footprints *footprint.Set

	mu    sync.Mutex
	nodes map[nodesKey][]resolve.Input
}

// nodesKey has the criteria that select nodes.
type nodesKey struct{ service, accelerator string }

func loadAssets(t *tree.Tree) (*assets, diag.List) {
	b := &assets{nodes: map[nodesKey][]resolve.Input{}}
	var problems, more diag.List
	b.footprints, problems = footprint.Load(t)
	b.profiles, more = nodeprofile.Load(t)
	return b, append(problems, more...)
}

func (b *assets) inputs(r *resolve.Result) []resolve.Input {
	return slices.Concat(b.footprints.Inputs(r), b.nodesOf(r.Query))
}

func (b *assets) nodesOf(q criteria.Criteria) []resolve.Input {
	key := nodesKey{q.Service, q.Accelerator}
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.nodes[key]; ok {
		return known
	}
	in := b.profiles.Inputs(&resolve.Result{Query: q})
	b.nodes[key] = in
	return in
}

// podDigests returns the digest of each footprint by component.
func (b *assets) podDigests() map[string]string {
	out := map[string]string{}
	for _, f := range b.footprints.Footprints {
		out[f.Metadata.Name] = f.Path + " " + f.Digest
	}
	return out
}
