package upstream

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/buildflags"
)

// The embedded pins equal those of components/, and every module there is used.
func TestPinsAreCopiesOfComponents(t *testing.T) {
	t.Parallel()
	tab, err := loadTable()
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, g := range tab.Groups {
		groups = append(groups, g.Name)
		for ext, got := range map[string][]byte{"mod": g.mod, "sum": g.sum} {
			want, err := os.ReadFile(filepath.Join("..", "..", "components", g.Name, "go."+ext))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("pins.zip has a different components/%s/go.%s: run go generate ./internal/upstream", g.Name, ext)
			}
		}
		for _, p := range g.Programs {
			if !strings.Contains(string(g.mod), p.Package) {
				t.Errorf("components/%s/go.mod has no tool directive for %s", g.Name, p.Package)
			}
		}
	}
	pins, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	if len(pins.File) != 2*len(groups) {
		t.Errorf("pins.zip has %d files, two of each of %d groups are expected", len(pins.File), len(groups))
	}
}

func TestPinsNameEveryProgram(t *testing.T) {
	t.Parallel()
	pins, err := Pins()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range pins {
		names = append(names, p.Program)
		if !strings.HasPrefix(p.Version, "v") || p.Module == "" {
			t.Errorf("pin %+v is not complete", p)
		}
	}
	want := []string{
		"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "prometheus", "alertmanager", "karpenter",
		"prometheus-adapter", "kai-scheduler", "kai-binder", "kai-podgrouper", "jobset", "kubeflow-trainer", "kueue", "mpi-operator",
		"kuberay-operator", "gpu-operator", "nfd-master", "volcano-scheduler", "volcano-controllers",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	g := group{
		Name: "k",
		mod:  []byte("module m\nrequire example.com/k v0.1.0\nrequire (\n\texample.com/k/cmd v1.36.3 // indirect\n)\n"),
	}
	p := program{Name: "p", Package: "example.com/k/cmd/p", LDFlags: []string{"-X v.Version=${VERSION}", "-X v.Major=${MAJOR} -X v.Minor=${MINOR}"}}
	got, err := g.flags([]program{p, {Name: "q", Package: "example.com/k/q"}})
	if err != nil {
		t.Fatal(err)
	}
	want := append(buildflags.Flags(), "-buildvcs=false",
		"-ldflags=example.com/k/cmd/p=-s -w -X v.Version=v1.36.3 -X v.Major=1 -X v.Minor=36", "-ldflags=example.com/k/q=-s -w")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := g.flags([]program{{Name: "p", Package: "example.com/kk/p"}}); err == nil {
		t.Error("a package of no required module has flags")
	}
}

// A program's cache key depends on everything it is built from, and not on the selection of
// programs.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	const mod = "module m\nrequire example.com/k v1.2.3\n"
	all := []program{{Name: "p", Package: "example.com/k/p"}, {Name: "q", Package: "example.com/k/q"}}
	keyOf := func(g group) string {
		t.Helper()
		k, err := g.key()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := group{mod: []byte(mod), sum: []byte("sum"), all: all}
	want := keyOf(base)
	for name, other := range map[string]group{
		"pins":      {mod: []byte(mod + "\n"), sum: []byte("sum"), all: all},
		"checksums": {mod: []byte(mod), sum: []byte("sum2"), all: all},
		"programs":  {mod: []byte(mod), sum: []byte("sum"), all: all[:1]},
	} {
		if keyOf(other) == want {
			t.Errorf("another group (%s) has the same key", name)
		}
	}
	one := base
	one.Programs = all[:1]
	if keyOf(one) != want {
		t.Error("the key depends on which programs are asked for")
	}
	if short("ab", "c") == short("a", "bc") {
		t.Error("two lists of texts have the same hash")
	}
}

// Only the requested programs are built, in table order; an unknown name is an error before any
// build.
func TestOnlyRequestedPrograms(t *testing.T) {
	t.Parallel()
	all, err := loadTable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ ask, want []string }{
		"nothing":            {nil, nil},
		"programs":           {[]string{"kai-binder", "etcd", "etcd"}, []string{"etcd", "kai-binder"}},
		"a group":            {[]string{"mpi"}, []string{"mpi-operator"}},
		"a group and one of": {[]string{"adapter", "prometheus-adapter"}, []string{"prometheus-adapter"}},
	} {
		got, err := all.only(c.ask)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var names []string
		for _, g := range got.Groups {
			if len(g.mod) == 0 {
				t.Errorf("%s: group %s lost its pins", name, g.Name)
			}
			for _, p := range g.Programs {
				names = append(names, p.Name)
			}
		}
		if diff := cmp.Diff(c.want, names); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := all.only([]string{"etcd", "carpenter"}); err == nil || !strings.Contains(err.Error(), `"carpenter"`) || !strings.Contains(err.Error(), "karpenter") {
		t.Errorf("unknown name: %v, want the valid names", err)
	}
	if diff := cmp.Diff(8, len(all.Groups)); diff != "" { // it was not altered
		t.Error(diff)
	}
}

func TestProgramsWith(t *testing.T) {
	t.Parallel()
	first := NewPrograms(map[string]string{"a": "/a"})
	both := first.With(NewPrograms(map[string]string{"b": "/b"}))
	for _, name := range []string{"a", "b"} {
		if path, err := both.Path(t.Context(), name); err != nil || path != "/"+name {
			t.Errorf("%s is at %q, %v", name, path, err)
		}
	}
	if _, err := first.Path(t.Context(), "b"); err == nil {
		t.Error("adding to a copy changed the first set")
	}
}
