package suite_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

var update = flag.Bool("update", false, "rewrite docs/tests.md")

const root = "../.."

// Every fault of the catalogue has an existing test, and each gate, hop and
// requirement has one in make test, except those named here.
func TestManifest(t *testing.T) {
	t.Parallel()
	faults, err := suite.Faults()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems(faults, catalogue(), functionsOf) {
		t.Error(problem)
	}
}

// catalogue are the faults, and what varies without being one.
func catalogue() []world.FaultKind { return slices.Concat(world.Catalogue(), world.Variations()) }

// heldBy: no quick test has a fault of these; why.
var heldBy = map[string]string{
	"variation passed":                "formats that a site may have: each walk is as long as a healthy one",
	"variation unobserved":            "exit codes are held by internal/cli TestExitCodes",
	"requirement cluster_autoscaling": "its chain is that of the hops, which have a fault each",
	"requirement robust_controller":   "internal/conformance/controller TestLive takes the operator's webhooks away itself",
}

// problems returns the errors of the manifest.
func problems(faults []suite.Fault, catalogue []world.FaultKind, functions func(dir string) ([]string, error)) []string {
	var out []string
	quick := map[string]bool{} // gates, hops and requirements with a fault in make test
	all := map[string]bool{}
	known := map[string][]string{}
	for _, f := range faults {
		if !slices.ContainsFunc(catalogue, func(k world.FaultKind) bool { return k.Kind == f.Kind }) {
			out = append(out, fmt.Sprintf("fault %s is not in the catalogue", f.Kind))
		}
		all[f.Holds] = true
		quick[f.Holds] = quick[f.Holds] || f.Level() == suite.Change
		dir, name, _ := strings.Cut(f.Test, " ")
		if known[dir] == nil {
			var err error
			if known[dir], err = functions(dir); err != nil {
				out = append(out, err.Error())
			}
		}
		if !slices.Contains(known[dir], name) {
			out = append(out, fmt.Sprintf("fault %s: test %s not found in %s", f.Kind, name, dir))
		}
	}
	for _, k := range catalogue {
		for _, holds := range holdsOf(k) {
			if !slices.ContainsFunc(faults, func(f suite.Fault) bool { return f.Kind == k.Kind && f.Holds == holds }) {
				out = append(out, fmt.Sprintf("fault %s has no test for %s", k.Kind, holds))
			}
		}
	}
	for holds := range all {
		if !quick[holds] && heldBy[holds] == "" {
			out = append(out, holds+" has no fault in make test")
		}
	}
	slices.Sort(out)
	return out
}

// holdsOf is what must fail of a fault.
func holdsOf(k world.FaultKind) []string {
	var out []string
	if k.Variation {
		return []string{"variation " + k.Expect}
	}
	if k.Gate != "" && k.Gate != "autoscale" && k.Gate != "conformance" {
		out = append(out, "gate "+k.Gate)
	}
	if k.Hop != "" {
		out = append(out, "hop "+k.Hop)
	}
	if k.Requirement != "" {
		out = append(out, "requirement "+k.Requirement)
	}
	return out
}

func functionsOf(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no tests in %s (%w)", dir, err)
	}
	var names []string
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names, nil
}

// The test of the manifest finds a fault without a test, an unknown fault, a gate
// without a fault in make test, and a missing test.
func TestManifestFindsWhatIsMissing(t *testing.T) {
	t.Parallel()
	faults, err := suite.Faults()
	if err != nil {
		t.Fatal(err)
	}
	without := func(kind string) []suite.Fault {
		return slices.DeleteFunc(slices.Clone(faults), func(f suite.Fault) bool { return f.Kind == kind })
	}
	renamed := slices.Clone(faults)
	renamed[0].Test = "internal/e2e TestNoSuch"
	for name, c := range map[string]struct {
		faults []suite.Fault
		want   string
	}{
		"a fault without a test": {without("sm-dead"), "fault sm-dead has no test for gate fabric"},
		"a gate without a fault": {without("mfu-low"), "gate training has no fault in make test"},
		"a missing test":         {renamed, "test TestNoSuch not found in internal/e2e"},
		"an unknown fault":       {append(slices.Clone(faults), suite.Fault{Kind: "gremlins", Holds: "gate fabric", Test: faults[0].Test}), "fault gremlins is not in the catalogue"},
	} {
		if got := problems(c.faults, catalogue(), functionsOf); !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, c.want) }) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// docs/tests.md is the manifest as a page.
func TestPage(t *testing.T) {
	t.Parallel()
	faults, err := suite.Faults()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Which test holds each fault\n\n" +
		"Written from `internal/suite/manifest.yaml` (`go test ./internal/suite -run TestPage -update`); a test fails when it differs, and\n" +
		"when a fault of [the catalogue](faults.md) has no test. The rows of [silent passes](silent-passes.md) name their tests themselves.\n\n" +
		"| fault | must fail | test | runs in |\n|---|---|---|---|\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | make %s |\n", f.Kind, f.Holds, f.Test, f.Level())
	}
	path := filepath.Join(root, "docs", "tests.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(raw), b.String()); diff != "" {
		t.Errorf("docs/tests.md (-page +manifest; rewrite with -update):\n%s", diff)
	}
}
