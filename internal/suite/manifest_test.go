package suite_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/validate"
	"github.com/firstlight/firstlight/internal/world"
)

const root = "../.."

// Every fault of the catalogue has an existing test, and each gate, hop and
// requirement has a fault in make test, except those of withoutQuickFault.
func TestManifest(t *testing.T) {
	t.Parallel()
	faults, err := suite.Faults()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems(faults, catalogue(), judged(t), functionsOf) {
		t.Error(problem)
	}
}

// judged are all gates, hops and requirements, as the manifest names them.
func judged(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, c := range gate.Checks(&site.Site{}, &profile.Profile{}) {
		if !slices.Contains(gate.Extras(), c.Name()) { // its hops are listed
			out = append(out, "gate "+c.Name())
		}
	}
	for _, phase := range snapshot.Chain() {
		for _, hop := range phase.Hops {
			out = append(out, "hop "+hop)
		}
	}
	for _, version := range catalog.Versions() {
		ids, err := validate.Requirements(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			out = append(out, "requirement "+id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// catalogue are the faults, and what varies without being one.
func catalogue() []world.FaultKind { return slices.Concat(world.Catalogue(), world.Variations()) }

// exemption is why something has no fault in make test, and the test that makes it fail instead.
type exemption struct{ test, why string }

const (
	testOfHops = "internal/autoscale/judge TestReasons"
	noFault    = "the world has no fault of it: each of its negative cases is a state of the cluster"
	noProduct  = "the world does not have what the recommendation is about"
)

var withoutQuickFault = map[string]exemption{
	"variation passed":                        {"", "formats that a site may have: each run is as long as a healthy one"},
	"variation unobserved":                    {"internal/cli TestExitCodes", "exit codes are held there"},
	"requirement cluster_autoscaling":         {"internal/e2e/chain TestAutoscaleFaults", "its chain is that of the hops"},
	"requirement robust_controller":           {"internal/conformance/controller TestLive", "the test takes the operator's webhooks away itself"},
	"requirement driver_runtime_management":   {"internal/conformance/recommended TestJudgeDrivers", noProduct},
	"requirement gpu_sharing":                 {"internal/conformance/recommended TestJudgeSharing", noProduct},
	"requirement virtualized_accelerator":     {"internal/conformance/recommended TestJudgeVGPU", noProduct},
	"requirement advanced_inference_ingress":  {"internal/conformance/recommended TestJudgePools", noProduct},
	"requirement high_performance_networking": {"internal/conformance/recommended TestJudgeNetwork", noProduct},
	"requirement disaggregated_inference":     {"internal/conformance/recommended TestJudgeDisaggregated", noProduct},
	"requirement workload_sandboxing":         {"internal/conformance/recommended TestJudgeSandbox", noProduct},
	"hop nodepool":                            {testOfHops, noFault},
	"hop placed":                              {testOfHops, noFault},
	"hop flat":                                {testOfHops, noFault},
	"hop limit-zero":                          {testOfHops, noFault},
	"hop load":                                {testOfHops, noFault},
	"hop exporter":                            {testOfHops, noFault},
	"hop prometheus":                          {testOfHops, noFault},
	"hop metrics-api":                         {testOfHops, noFault},
	"hop pods":                                {testOfHops, noFault},
	"hop ready":                               {testOfHops, noFault},
	"hop metric-falls":                        {testOfHops, noFault},
	"hop hpa-down":                            {testOfHops, noFault},
	"hop pods-gone":                           {testOfHops, noFault},
	"hop claims-gone":                         {testOfHops, noFault},
	"hop bystanders":                          {testOfHops, noFault},
	"hop gang-bound":                          {testOfHops, noFault},
	"hop gang-none":                           {testOfHops, noFault},
	"hop clean":                               {testOfHops, noFault},
}

// problems returns the errors of the manifest.
func problems(faults []suite.Fault, catalogue []world.FaultKind, judged []string, functions func(dir string) ([]string, error)) []string {
	var out []string
	known := map[string][]string{}
	requireTest := func(of, test string) {
		dir, name, _ := strings.Cut(test, " ")
		if known[dir] == nil {
			var err error
			if known[dir], err = functions(dir); err != nil {
				out = append(out, err.Error())
			}
		}
		if !slices.Contains(known[dir], name) {
			out = append(out, fmt.Sprintf("%s: test %s not found in %s", of, name, dir))
		}
	}
	quick := map[string]bool{} // gates, hops and requirements with a fault in make test
	all := map[string]bool{}
	for _, name := range judged {
		all[name] = true
	}
	for _, f := range faults {
		if !slices.ContainsFunc(catalogue, func(k world.FaultKind) bool { return k.Kind == f.Kind }) {
			out = append(out, fmt.Sprintf("fault %s is not in the catalogue", f.Kind))
		}
		if !all[f.Holds] && !strings.HasPrefix(f.Holds, "variation ") {
			out = append(out, fmt.Sprintf("fault %s: unknown %s", f.Kind, f.Holds))
		}
		quick[f.Holds] = quick[f.Holds] || f.Level() == suite.Change
		requireTest("fault "+f.Kind, f.Test)
	}
	for _, k := range catalogue {
		for _, holds := range holdsOf(k) {
			if !slices.ContainsFunc(faults, func(f suite.Fault) bool { return f.Kind == k.Kind && f.Holds == holds }) {
				out = append(out, fmt.Sprintf("fault %s has no test for %s", k.Kind, holds))
			}
		}
	}
	for name := range all {
		instead, exempt := withoutQuickFault[name]
		switch {
		case quick[name] && exempt:
			out = append(out, name+" has a fault in make test: delete its exemption")
		case !quick[name] && !exempt:
			out = append(out, name+" has no fault in make test")
		case exempt:
			requireTest(name, instead.test)
		}
	}
	for name := range withoutQuickFault {
		if !all[name] && !strings.HasPrefix(name, "variation ") {
			out = append(out, "unknown exemption "+name)
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
func TestManifestReportsMissingRows(t *testing.T) {
	t.Parallel()
	faults, err := suite.Faults()
	if err != nil {
		t.Fatal(err)
	}
	without := func(kind string) []suite.Fault {
		return slices.DeleteFunc(slices.Clone(faults), func(f suite.Fault) bool { return f.Kind == kind })
	}
	slow := slices.DeleteFunc(slices.Clone(faults), func(f suite.Fault) bool { return f.Holds == "gate training" && f.Level() == suite.Change })
	names := judged(t)
	renamed := slices.Clone(faults)
	renamed[0].Test = "internal/e2e TestNoSuch"
	for name, c := range map[string]struct {
		faults []suite.Fault
		judged []string
		want   string
	}{
		"a fault without a test":          {without("sm-dead"), names, "fault sm-dead has no test for gate fabric"},
		"a gate without a quick fault":    {slow, names, "gate training has no fault in make test"},
		"a gate without any fault":        {faults, append(slices.Clone(names), "gate cooling"), "gate cooling has no fault in make test"},
		"a hop without any fault":         {faults, append(slices.Clone(names), "hop sideways"), "hop sideways has no fault in make test"},
		"a requirement without any fault": {faults, append(slices.Clone(names), "requirement quiet_fans"), "requirement quiet_fans has no fault in make test"},
		"a gate that no longer exists":    {faults, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "gate training" }), "unknown gate training"},
		"an exemption of nothing":         {faults, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "hop clean" }), "unknown exemption hop clean"},
		"a missing test":                  {renamed, names, "test TestNoSuch not found in internal/e2e"},
		"an unknown fault":                {append(slices.Clone(faults), suite.Fault{Kind: "gremlins", Holds: "gate fabric", Test: faults[0].Test}), names, "fault gremlins is not in the catalogue"},
	} {
		if got := problems(c.faults, catalogue(), c.judged, functionsOf); !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, c.want) }) {
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
	golden.Compare(t, filepath.Join(root, "docs", "tests.md"), b.String())
}
