package docs_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const module = "github.com/firstlight/firstlight/"

// layerMap is layers.yaml.
type layerMap struct {
	Layers     [][]string       `json:"layers"`
	Tests      []string         `json:"tests"`
	Exceptions []layerException `json:"exceptions"`
}

type layerException struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"`
}

// ofTests is the layer of packages of tests.
const ofTests = -1

// layer returns the index of a package's layer; ok is false for a package without an entry.
func (m layerMap) layer(pkg string) (index int, ok bool) {
	for at := pkg; at != "."; at = path.Dir(at) {
		for i, l := range m.Layers {
			if slices.Contains(l, at) {
				return i, true
			}
		}
		if slices.Contains(m.Tests, at) || strings.HasSuffix(path.Base(at), "test") {
			return ofTests, true
		}
	}
	return 0, false
}

// violations compares the imports of every package with the map.
func (m layerMap) violations(imports map[string][]string) []string {
	var out []string
	needed := map[layerException]bool{}
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		low, ok := m.layer(from)
		if !ok {
			out = append(out, from+" has no layer")
		}
		if !ok || low == ofTests {
			continue
		}
		for _, to := range imports[from] {
			high, ok := m.layer(to)
			if !ok || high >= low { // a package without a layer is reported once, as an importer
				continue
			}
			i := slices.IndexFunc(m.Exceptions, func(e layerException) bool { return e.From == from && e.To == to && e.Reason != "" })
			if i < 0 {
				out = append(out, from+" imports "+to+", which is above it")
				continue
			}
			needed[m.Exceptions[i]] = true
		}
	}
	for _, e := range m.Exceptions {
		if !needed[e] {
			out = append(out, fmt.Sprintf("the exception for %s and %s is not needed", e.From, e.To))
		}
	}
	return out
}

// diagram is the block of docs/architecture.md.
func (m layerMap) diagram() string {
	var rows []string
	for _, l := range m.Layers {
		names := slices.DeleteFunc(slices.Clone(l), func(p string) bool {
			return !strings.HasPrefix(p, "internal/") || slices.Contains(l, path.Dir(p))
		})
		for i, p := range names {
			names[i] = strings.TrimPrefix(p, "internal/")
		}
		if len(names) > 0 {
			rows = append(rows, strings.Join(names, ", "))
		}
	}
	return strings.Join(rows, "\n    │\n    v\n")
}

func readLayers(t *testing.T) layerMap {
	t.Helper()
	raw, err := os.ReadFile("layers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var m layerMap
	if err := yaml.UnmarshalStrict(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// importsOfTree returns the imports within the module of every package, without those of its tests.
func importsOfTree(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, top := range []string{"cmd", "internal", "bench", "images", "recipes"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			dir, err := filepath.Rel(root, filepath.Dir(name))
			if err != nil {
				return err
			}
			pkg := filepath.ToSlash(dir)
			if out[pkg] == nil {
				out[pkg] = []string{}
			}
			for _, spec := range file.Imports {
				p, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				if to, ok := strings.CutPrefix(p, module); ok && !slices.Contains(out[pkg], to) {
					out[pkg] = append(out[pkg], to)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Every import points to its own layer or a lower one.
func TestLayers(t *testing.T) {
	t.Parallel()
	m, imports := readLayers(t), importsOfTree(t)
	if len(imports) < 200 {
		t.Fatalf("only %d packages found", len(imports))
	}
	for _, v := range m.violations(imports) {
		t.Errorf("%s (internal/docs/layers.yaml)", v)
	}
	for _, p := range slices.Concat(append(m.Layers, m.Tests)...) {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(p))); err != nil {
			t.Errorf("layers.yaml: %s does not exist", p)
		}
	}
	_, text, _ := strings.Cut(read(t, filepath.Join(root, "docs", "architecture.md")), "## The arrows")
	_, text, _ = strings.Cut(text, "```\n")
	text, _, _ = strings.Cut(text, "\n```")
	if diff := cmp.Diff(m.diagram(), text); diff != "" {
		t.Errorf("the diagram of docs/architecture.md is not that of layers.yaml (-want +got):\n%s", diff)
	}
}

// An import that points up is found, and an exception that no import needs.
func TestLayersViolated(t *testing.T) {
	t.Parallel()
	m := readLayers(t)
	m.Exceptions = []layerException{{From: "internal/plan", To: "internal/gate", Reason: "a test"}}
	const stale = "the exception for internal/plan and internal/gate is not needed"
	for name, tt := range map[string]struct {
		from, to string
		want     []string
	}{
		"down":                       {"internal/gate/node", "internal/probe/ssh", []string{stale}},
		"the same layer":             {"internal/gate", "internal/autoscale", []string{stale}},
		"up":                         {"internal/yamlstrict", "internal/recipe/rule", []string{"internal/yamlstrict imports internal/recipe/rule, which is above it", stale}},
		"a check imports the lab":    {"internal/drift/watch", "internal/lab", []string{"internal/drift/watch imports internal/lab, which is above it", stale}},
		"a package in a higher one":  {"internal/plan", "internal/pregate/playbook", []string{stale}},
		"the higher one":             {"internal/plan", "internal/pregate", []string{"internal/plan imports internal/pregate, which is above it", stale}},
		"excepted":                   {"internal/plan", "internal/gate", nil},
		"a program imports a test":   {"internal/lab", "internal/lab/labtest", []string{"internal/lab imports internal/lab/labtest, which is above it", stale}},
		"a test imports a program":   {"internal/lab/labtest", "internal/cli", []string{stale}},
		"attest is not a test":       {"internal/evidence", "internal/evidence/attest", []string{stale}},
		"a package without an entry": {"internal/unlisted", "internal/check", []string{"internal/unlisted has no layer", stale}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, m.violations(map[string][]string{tt.from: {tt.to}})); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}
