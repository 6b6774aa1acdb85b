package world

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/faults.md")

const faultPage = "../../docs/faults.md"

const faultIntro = `# Faults

Every defect that can be put into the lab's hardware, and the gate that must fail first. All gates before it stay passed, and
a finding of that gate names the suspect. The last ones are not of the hardware: they break the autoscaling chain, at a hop, or what
the conformance checks look at. This page is written from the catalogue (` + "`go test ./internal/world -run FaultPage -update`" + `);
a test fails when it differs.

    firstlight lab fault list --kinds
    firstlight lab fault add link-degraded gpu-02/mlx5_3 --set how=width
    firstlight lab fault list
    firstlight lab fault clear --all

Without a target a fault takes its usual one. "Suspect" is the regular expression that the suspect of a finding must match, with
the target's names in braces, and behind it the gate's verdict where it is not failed; a test on a running lab holds every row against it. Clearing a fault is a repair: the counters, log
lines and remapped rows that it left go with it.
`

// faultDoc renders docs/faults.md.
func faultDoc() string {
	var b strings.Builder
	b.WriteString(faultIntro)
	gate := ""
	for _, k := range Catalogue() {
		if k.Gate != gate {
			gate = k.Gate
			b.WriteString(gateHeader(gate))
		}
		switch gate {
		case autoscale:
			b.WriteString(firstColumn(k, k.Hop))
		case conformance:
			b.WriteString(firstColumn(k, k.Requirement))
		default:
			b.WriteString(faultRow(k, suspectCell(k)))
		}
	}
	b.WriteString("\n## Variations\n\nNot defects: healthy clusters that look different, and one that can't be seen.\n\n")
	b.WriteString("| variation | target | usual target | what is different | verdict |\n|---|---|---|---|---|\n")
	for _, k := range Variations() {
		b.WriteString(faultRow(k, k.Expect))
	}
	return b.String()
}

func gateHeader(gate string) string {
	switch gate {
	case autoscale:
		return "\n## The autoscaling chain\n\n" + autoscaleIntro + others() +
			"\n\n| fault | hop | target | usual target | what is wrong | suspect |\n|---|---|---|---|---|---|\n"
	case conformance:
		return "\n## Conformance\n\n" + conformanceIntro +
			"\n| fault | requirement | target | usual target | what is wrong | suspect |\n|---|---|---|---|---|---|\n"
	default:
		return fmt.Sprintf("\n## Gate %s\n\nWhat it looks at: [its page](gates/%s.md).\n\n", gate, gate) +
			"| fault | target | usual target | what is wrong | suspect |\n|---|---|---|---|---|\n"
	}
}

const conformanceIntro = `What the conformance checks of ` + "`firstlight validate`" + ` look at, by the requirement whose check must fail; the gates and the other
requirements don't see them.
`

const autoscaleIntro = `What ` + "`firstlight autoscale`" + ` looks at, hop by hop: [its page](autoscale.md). The hop is the first that must fail. What needs Karpenter or KAI needs a lab with it
(` + "`firstlight lab up --with karpenter,kai`" + `). Most are admission policies (MutatingAdmissionPolicy) that change the objects of a run as they are
created, as a cluster's own policy engine might: look at ` + "`kubectl get mutatingadmissionpolicies`" + `. What a policy changed stays so when it is gone.

`

// others lists gate faults that fail a hop too.
func others() string {
	var out []string
	for _, k := range Catalogue() {
		if k.Hop != "" && k.Gate != autoscale {
			out = append(out, fmt.Sprintf("`%s` fails hop `%s`", k.Kind, k.Hop))
		}
	}
	return "Of the faults above, " + strings.Join(out, ", ") + "."
}

// firstColumn adds a column after the fault's.
func firstColumn(k FaultKind, column string) string {
	needs := ""
	if k.Needs != "" {
		needs = " (needs " + k.Needs + ")"
	}
	row := faultRow(k, suspectCell(k))
	first, rest, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
	return fmt.Sprintf("| %s | `%s`%s | %s", first, column, needs, rest)
}

func faultRow(k FaultKind, last string) string {
	var what strings.Builder
	what.WriteString(k.Summary)
	for _, o := range k.Options {
		values := fmt.Sprintf("%g to %g", o.Min, o.Max)
		if len(o.Values) > 0 {
			values = strings.Join(o.Values, ", ")
		}
		fmt.Fprintf(&what, "<br>`--set %s=%s`: %s (%s)", o.Name, o.Default, o.Summary, values)
	}
	return fmt.Sprintf("| `%s` | %s | `%s` | %s | %s |\n", k.Kind, k.TargetForm, k.DefaultTarget, what.String(), last)
}

func suspectCell(k FaultKind) string {
	cell := "`" + strings.ReplaceAll(k.Suspect, "|", `\|`) + "`"
	if k.Expect != "" {
		cell += ", " + k.Expect
	}
	return cell
}

func TestFaultPageIsTheCatalogue(t *testing.T) {
	t.Parallel()
	want := faultDoc()
	if *update {
		if err := os.WriteFile(faultPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(faultPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("docs/faults.md does not match the catalogue: run go test ./internal/world -run FaultPage -update")
	}
}

func TestFaultPageHoldsEveryKindOnce(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(faultDoc(), -1)
	var have []string
	for _, row := range rows {
		have = append(have, row[1])
	}
	slices.Sort(have)
	want := kindNames()
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("the page has %v, the catalogue %v", have, want)
	}
	sorted := slices.IsSortedFunc(Catalogue(), func(a, b FaultKind) int { return cmp.Compare(gateNumber(t, a.Gate), gateNumber(t, b.Gate)) })
	if !sorted {
		t.Error("the catalogue is not in the order of the gates: the page would list a gate twice")
	}
}

func gateNumber(t *testing.T, gate string) int {
	t.Helper()
	i := slices.Index([]string{"facility", "fabric", "node", "gpustack", "telemetry", "collective", "training", "inference", autoscale, conformance}, gate)
	if i < 0 {
		t.Fatalf("unknown gate %q", gate)
	}
	return i
}
