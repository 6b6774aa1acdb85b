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

// beside is what recipes read beside the files that they resolve from: the shapes of
// their nodes and the footprints of their components. Where a tree has none, those
// that ship with firstlight serve; they are part of the harness.
type beside struct {
	shapes     *nodeprofile.Set
	footprints *footprint.Set

	mu    sync.Mutex
	nodes map[nodesKey][]resolve.Input
}

// nodesKey is what of the criteria nodes are chosen by.
type nodesKey struct{ service, accelerator string }

func loadBeside(t *tree.Tree) (*beside, diag.List) {
	b := &beside{nodes: map[nodesKey][]resolve.Input{}}
	var problems, more diag.List
	b.footprints, problems = footprint.Load(t)
	b.shapes, more = nodeprofile.Load(t)
	return b, append(problems, more...)
}

// inputs are those of a recipe's pods and nodes.
func (b *beside) inputs(r *resolve.Result) []resolve.Input {
	return slices.Concat(b.footprints.Inputs(r), b.nodesOf(r.Query))
}

// nodesOf are the inputs of the nodes of a query.
func (b *beside) nodesOf(q criteria.Criteria) []resolve.Input {
	key := nodesKey{q.Service, q.Accelerator}
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.nodes[key]; ok {
		return known
	}
	in := b.shapes.Inputs(&resolve.Result{Query: q})
	b.nodes[key] = in
	return in
}

// pods are the digests of the footprints, by component.
func (b *beside) pods() map[string]string {
	out := map[string]string{}
	for _, f := range b.footprints.Footprints {
		out[f.Metadata.Name] = f.Path + " " + f.Digest
	}
	return out
}
