package nodeprofile_test

import (
	"testing"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/recipes"
)

// For any profile, loading and selection terminate, and every problem has a position.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(goodProfile), []byte("kind: Accelerators\n"))
	f.Add([]byte(bareProfile), []byte{})
	accelerators, err := recipes.FS.ReadFile("accelerators.yaml")
	if err != nil {
		f.Fatal(err)
	}
	profile, err := recipes.FS.ReadFile("nodes/gke/gke-a4x-highgpu-4g.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(profile, accelerators)
	f.Fuzz(func(t *testing.T, profile, accelerators []byte) {
		loaded, _ := tree.Load(fstest.MapFS{
			"nodes/eks/n.yaml": {Data: profile}, "accelerators.yaml": {Data: accelerators},
		}, tree.Options{})
		s, problems := nodeprofile.Load(loaded)
		for _, p := range problems {
			if p.File == "" || p.Rule == "" {
				t.Errorf("%+v", p)
			}
		}
		for _, one := range s.All() {
			n, err := s.Select(criteria.Criteria{Service: one.Provider, Accelerator: one.Accelerator})
			if err == nil && (n.System == nil || n.Accelerated == nil) {
				t.Errorf("%+v", n)
			}
		}
	})
}
