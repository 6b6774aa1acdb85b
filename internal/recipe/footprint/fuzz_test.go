package footprint_test

import (
	"fmt"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/recipes"
)

// For any footprint, values and manifest, deriving the pods of a recipe terminates; every
// workload without a problem has a class and a pod.
func FuzzComponents(f *testing.F) {
	const head = "apiVersion: firstlight/v1\nkind: Footprint\nmetadata: {name: thing}\nspec:\n"
	f.Add([]byte(head+goodFootprint), []byte("{}"), []byte(deployment))
	f.Add([]byte(head+fmt.Sprintf(renderedFootprint, "abc")), []byte("size: 3"), []byte("kind: List\nitems: [{kind: Job}]\n"))
	for _, name := range []string{"gpu-operator", "karpenter"} {
		data, err := recipes.FS.ReadFile("footprints/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte("operator: {tolerations: [{operator: Exists}]}"), []byte("---\n---\n{{ template }}"))
	}
	f.Fuzz(func(t *testing.T, body, values, manifest []byte) {
		files := overlay("  componentRefs: [{name: thing, manifestFiles: [components/thing/m.yaml]}]\n")
		files["footprints/thing.yaml"] = string(body) + "\n"
		files["components/thing/m.yaml"] = string(manifest) + "\n"
		loaded, _ := tree.Load(tiny("", string(values)+"\n", files), tree.Options{})
		s, problems := footprint.Load(loaded)
		r, err := resolve.Resolve(loaded, criteria.Criteria{Service: "eks"}, resolve.Options{})
		if err != nil {
			return
		}
		components, more := s.Components(r)
		s.Inputs(r)
		for _, p := range append(problems, more...) {
			if p.File == "" || p.Rule == "" {
				t.Errorf("%+v", p)
			}
		}
		if problems.Err() != nil || more.Err() != nil {
			return
		}
		for _, c := range components {
			for i := range c.Workloads {
				sound(t, "eks", c.Name, &c.Workloads[i])
			}
		}
	})
}
