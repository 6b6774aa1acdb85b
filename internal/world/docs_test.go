package world

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/golden"
)

const faultPage = "../../docs/faults.md"

const faultIntro = `# Faults

Every fault that can be injected into the lab, and the gate that must fail first. All earlier gates must pass, and a finding of that
gate must name the suspect. The faults of the sections [autoscaling](#the-autoscaling-chain) and [conformance](#conformance) are not of hardware: they break a hop of
the autoscaling chain or a conformance requirement. This page is generated from the catalogue (` + "`go test ./internal/world -run FaultPage -update`" + `); a test fails if it differs.

    firstlight lab fault list --kinds
    firstlight lab fault add link-degraded gpu-02/mlx5_3 --set how=width
    firstlight lab fault list
    firstlight lab fault clear --all

Without a target a fault uses its default target. "Suspect" is the regular expression that the suspect of a finding must match, with
placeholders for the target in braces, followed by the gate's verdict if it is not failed. A test on a running lab checks every row. Clearing a
fault is a repair: it also removes the fault's counters, log lines and remapped rows.
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
	b.WriteString("\n## Variations\n\nNot defects: healthy clusters that look different, and one that cannot be observed.\n\n")
	b.WriteString("| variation | target | default target | difference | verdict |\n|---|---|---|---|---|\n")
	for _, k := range Variations() {
		b.WriteString(faultRow(k, k.Expect))
	}
	return b.String()
}

func gateHeader(gate string) string {
	switch gate {
	case autoscale:
		return "\n## The autoscaling chain\n\n" + autoscaleIntro + others() +
			"\n\n| fault | hop | target | default target | defect | suspect |\n|---|---|---|---|---|---|\n"
	case conformance:
		return "\n## Conformance\n\n" + conformanceIntro +
			"\n| fault | requirement | target | default target | defect | suspect |\n|---|---|---|---|---|---|\n"
	default:
		return fmt.Sprintf("\n## Gate %s\n\nChecks of the gate: [its page](gates/%s.md).\n\n", gate, gate) +
			"| fault | target | default target | defect | suspect |\n|---|---|---|---|---|\n"
	}
}

const conformanceIntro = `Faults for the conformance checks of ` + "`firstlight validate`" + `, by the requirement whose check must fail. The gates and the other
requirements are not affected.
`

const autoscaleIntro = `Faults for ` + "`firstlight autoscale`" + `, by the first hop that must fail: [its page](autoscale.md). Faults that need Karpenter or KAI need a lab with that extra
(` + "`firstlight lab up --with karpenter,kai`" + `). Most are admission policies (MutatingAdmissionPolicy) that change the objects of a run when they are
created, as a cluster's policy engine might: see ` + "`kubectl get mutatingadmissionpolicies`" + `. Clearing such a fault does not restore changed objects.

`

// others lists gate faults that fail a hop too.
func others() string {
	var out []string
	for _, k := range Catalogue() {
		if k.Hop != "" && k.Gate != autoscale {
			out = append(out, fmt.Sprintf("`%s` fails hop `%s`", k.Kind, k.Hop))
		}
	}
	return "Faults of gates that fail a hop too: " + strings.Join(out, ", ") + "."
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
	var defect strings.Builder
	defect.WriteString(k.Summary)
	for _, o := range k.Options {
		values := fmt.Sprintf("%g to %g", o.Min, o.Max)
		if len(o.Values) > 0 {
			values = strings.Join(o.Values, ", ")
		}
		fmt.Fprintf(&defect, "<br>`--set %s=%s`: %s (%s)", o.Name, o.Default, o.Summary, values)
	}
	if k.Stack != "" {
		fmt.Fprintf(&defect, " (needs a lab of the stack %s)", k.Stack)
	}
	if k.Hardware() != DefaultHardware {
		fmt.Fprintf(&defect, " (needs a lab of such hardware: `lab up --hardware %s`)", k.Hardware())
	}
	return fmt.Sprintf("| `%s` | %s | `%s` | %s | %s |\n", k.Kind, k.TargetForm, k.DefaultTarget, defect.String(), last)
}

func suspectCell(k FaultKind) string {
	cell := "`" + strings.ReplaceAll(k.Suspect, "|", `\|`) + "`"
	if k.Expect != "" {
		cell += ", " + k.Expect
	}
	return cell
}

func TestFaultPageMatchesCatalogue(t *testing.T) {
	t.Parallel()
	golden.Compare(t, faultPage, faultDoc())
}

func TestFaultPageHasEveryKindOnce(t *testing.T) {
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
