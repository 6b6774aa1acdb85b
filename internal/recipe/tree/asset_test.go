package tree_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func assets(fsys fstest.MapFS, match func(string) bool) (list []tree.Asset, own bool, problems diag.List) {
	loaded, _ := tree.Load(fsys, tree.Options{Label: "mine"})
	return loaded.Assets(match)
}

func TestAssetsOfTree(t *testing.T) {
	t.Parallel()
	list, own, problems := assets(fstest.MapFS{
		"nodes/b/y.yaml": {Data: []byte("kind: A")}, "nodes/a/x.yaml": {Data: []byte("kind: [")},
		"nodes/a/z.json": {Data: []byte("{}")}, "nodes/README.md": {}, "nodesets/q.yaml": {}, "nodes.yaml": {},
	}, tree.Below("nodes"))
	if !own || len(list) != 2 || list[0].Path != "nodes/a/x.yaml" || list[0].Doc != nil || list[1].Name != "mine/nodes/b/y.yaml" || len(list[1].Digest) != 64 {
		t.Errorf("%v %+v", own, list)
	}
	var rules []string
	for _, p := range problems {
		rules = append(rules, p.String())
	}
	if got := strings.Join(rules, "\n"); !strings.Contains(got, "mine/nodes/a/x.yaml:1:1: error") || !strings.Contains(got, "mine/nodes/a/z.json: error") || len(problems) != 2 {
		t.Error(got)
	}
}

// A tree without assets gets the embedded ones, unless its own cannot be read.
func TestEmbeddedAssets(t *testing.T) {
	t.Parallel()
	list, own, problems := assets(fstest.MapFS{}, tree.Below("nodes"))
	if own || len(list) < 30 || len(problems) > 0 || !strings.HasPrefix(list[0].Name, tree.ShippedName+"/nodes/") {
		t.Errorf("%v, %d files, %v", own, len(list), problems)
	}
	list, own, problems = assets(fstest.MapFS{"nodes/a.yml": {}}, tree.Below("nodes"))
	if !own || len(list) != 0 || len(problems) != 1 {
		t.Errorf("%v %+v %v", own, list, problems)
	}
	if list, own, _ = assets(fstest.MapFS{}, tree.Exactly("accelerators.yaml")); own || len(list) != 1 {
		t.Errorf("%v %+v", own, list)
	}
}

func TestDecodeAsset(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		of   bool
		rule string
	}{
		"kind: Accelerators\napiVersion: firstlight/v1\naccelerators: [{name: a, arch: [amd64], products: [b], maxPerNode: 1}]":      {true, ""},
		"kind: Accelerators\napiVersion: aicr.nvidia.com/v9\naccelerators: [{name: a, arch: [amd64], products: [b], maxPerNode: 1}]": {true, ""},
		"kind: Accelerators\napiVersion: firstlight.dev/v1\naccelerators: [{name: a, arch: [amd64], products: [b], maxPerNode: 1}]":  {true, "api-group"},
		"kind: Accelerator\napiVersion: firstlight/v1":                    {false, "unknown-kind"},
		"apiVersion: firstlight/v1\naccelerators: []":                     {true, "missing"},
		"kind: Accelerators\napiVersion: firstlight/v1\naccelerator: []":  {true, "unknown-key"},
		"kind: Accelerators\napiVersion: firstlight/v1\naccelerators: 12": {true, "wrong-type"},
	} {
		f, problems := tree.ParseAsset("f.yaml", "f.yaml", []byte(text))
		if f.Doc == nil {
			t.Fatal(problems)
		}
		var into model.Accelerators
		of, problems := f.Decode(model.KindAccelerators, &into)
		got := ""
		if len(problems) > 0 {
			got = problems[0].Rule
		}
		if of != want.of || got != want.rule {
			t.Errorf("%q: %v %v", text, of, problems)
		}
	}
}
