package fanout

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/golden"
)

// specOf is a run of these recipes in two shards.
func specOf(names ...string) Spec {
	return Spec{
		RunID: "20261121-014233-7f3a", Image: "registry.example.com/firstlight:1.4.0",
		Names: names, Shards: 2, Parallel: 2, Jobs: 16, PerPlane: 256,
		CPU: resource.MustParse("2"), Memory: resource.MustParse("4Gi"),
		Within: time.Hour, ShardWithin: 30 * time.Minute,
	}
}

func TestInvalidSpecsAreRefused(t *testing.T) {
	t.Parallel()
	good := specOf("a", "b", "c")
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		spoil func(*Spec)
		want  string
	}{
		"no run":                {func(s *Spec) { s.RunID = "" }, "no id"},
		"no image":              {func(s *Spec) { s.Image = "" }, "--image"},
		"no recipe":             {func(s *Spec) { s.Names = nil }, "no recipes selected"},
		"a recipe twice":        {func(s *Spec) { s.Names = []string{"a", "b", "a"} }, "duplicate recipe"},
		"no shard":              {func(s *Spec) { s.Shards = 0 }, "invalid number of shards 0 for 3 recipes"},
		"an empty shard":        {func(s *Spec) { s.Shards = 4 }, "invalid number of shards 4 for 3 recipes"},
		"none at one time":      {func(s *Spec) { s.Parallel = 0 }, "concurrent shards 0"},
		"no jobs":               {func(s *Spec) { s.Jobs = 0 }, "0 concurrent recipes"},
		"no processor":          {func(s *Spec) { s.CPU = resource.Quantity{} }, "invalid CPU or memory"},
		"less than no memory":   {func(s *Spec) { s.Memory = resource.MustParse("-1") }, "invalid CPU or memory"},
		"no time":               {func(s *Spec) { s.Within = 0 }, "at least 1s"},
		"a shard beyond all":    {func(s *Spec) { s.ShardWithin = 2 * time.Hour }, "at most the run's"},
		"a secret of nowhere":   {func(s *Spec) { s.PullSecret = "x" }, "--namespace"},
		"a tree that is large":  {func(s *Spec) { s.Recipes = make([]byte, corev1.MaxSecretSize) }, "the packed recipe tree takes 1024 KiB, the limit of a ConfigMap is 1008"},
		"names that are a load": {func(s *Spec) { s.Names, s.Shards = many(20_000), 2 }, "the names of 20000 recipes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := specOf("a", "b", "c")
			tt.spoil(&s)
			if err := s.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
		})
	}
}

// many are so many names.
func many(n int) []string {
	var out []string
	for i := range n {
		out = append(out, strings.Repeat("recipe-", 8)+string(rune('a'+i%26))+strings.Repeat("x", i/26%100)+strings.Repeat("y", i/2600))
	}
	return out
}

func TestNewRunID(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 3, 42, 33, 0, time.FixedZone("", 2*3600))
	if id, err := NewRunID(at, strings.NewReader("\x01\x02\xff")); err != nil || id != "20261121-014233-0102ff" {
		t.Error(id, err)
	}
	if _, err := NewRunID(at, strings.NewReader("")); err == nil {
		t.Error("there was nothing to tell it from another")
	}
}

func TestShardsOf(t *testing.T) {
	t.Parallel()
	for recipes, want := range map[int]int{0: 1, 1: 1, 64: 1, 65: 2, 113: 2, 10_000: 157} {
		if got := ShardsOf(recipes); got != want {
			t.Errorf("%d recipes get %d shards, want %d", recipes, got, want)
		}
	}
}

func TestRenderGoldens(t *testing.T) {
	t.Parallel()
	plain := specOf("h100-eks-training", "h100-gke-training", "l40s-kind-inference")
	given := plain
	given.Namespace, given.PriorityClass, given.PullSecret = "gpu-tests", "batch-low", "registry"
	given.Recipes, given.Keep, given.Parallel = []byte("packed"), true, 1
	for name, s := range map[string]Spec{"own": plain, "given": given} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Render(&s)
			o.ownedBy("0c6a1de0-7c0e-4d2b-9a5e-3b1f7d1f2a11")
			var docs [][]byte
			if s.Namespace == "" {
				docs = append(docs, marshal(t, namespaceOf(&s)))
			}
			docs = append(docs, marshal(t, o.Job), marshal(t, o.Account), marshal(t, o.Role), marshal(t, o.RoleBinding))
			for _, m := range o.Maps {
				docs = append(docs, marshal(t, m))
			}
			golden.Compare(t, "testdata/"+name+".golden.yaml", bytes.Join(docs, []byte("---\n")))
		})
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestNamesAreDecodedUnchanged(t *testing.T) {
	t.Parallel()
	names := []string{"h100-eks-training", "a", "l40s-kind-inference"}
	for name, tt := range map[string]struct {
		text string
		want []string
		err  string
	}{
		"as they were written": {formatNames(names), names, ""},
		"by hand":              {"# ours\na # first\n\n  b\r\n", []string{"a", "b"}, ""},
		"none":                 {"# nothing\n\n", nil, "names none"},
		"one twice":            {"a\nb\na\n", nil, "twice"},
		"too many":             {strings.Repeat("x", maxConfigMapBytes+1), nil, "more than 1008 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "names")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadNames(file)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v; want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
	if _, err := ReadNames(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("reading a missing file must fail")
	}
}
