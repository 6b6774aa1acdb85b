package ibsim

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/world"
)

// subnetFaults are the faults of the catalogue that an InfiniBand subnet can have.
func subnetFaults() []world.FaultKind {
	return slices.DeleteFunc(world.Catalogue(), func(k world.FaultKind) bool {
		return k.Gate != "fabric" || k.Fabric != "" && k.Fabric != world.InfiniBand
	})
}

// Every fault of the world's subnet is compared with the programs, with each value of its options, or
// has the reason why ibsim cannot express it.
func TestEveryFaultIsComparedOrHasAReason(t *testing.T) {
	t.Parallel()
	kinds := subnetFaults()
	if len(kinds) < 10 {
		t.Fatalf("the catalogue has %d faults of a subnet", len(kinds))
	}
	for _, problem := range uncovered(kinds, faults, inexpressible) {
		t.Error(problem)
	}

	rows, reasons := maps.Clone(faults), maps.Clone(inexpressible)
	delete(rows, "rails swapped")
	delete(rows, "link at half width")
	rows["new"] = fault{kind: "unheard-of"}
	delete(reasons, "mtu-mismatch")
	reasons["link-down"], reasons["gone"] = "a reason", "a reason"
	want := []string{
		"link-degraded: no row has how=width", "link-down: has rows and a reason", "mtu-mismatch: neither a row nor a reason",
		"rails-swapped: neither a row nor a reason", "unknown fault gone", "unknown fault unheard-of",
	}
	if got := uncovered(kinds, rows, reasons); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func uncovered(kinds []world.FaultKind, rows map[string]fault, reasons map[string]string) []string {
	var out []string
	known := map[string]bool{}
	for _, k := range kinds {
		known[k.Kind] = true
		of := rowsOf(k.Kind, rows)
		switch {
		case len(of) == 0 && reasons[k.Kind] == "":
			out = append(out, k.Kind+": neither a row nor a reason")
		case len(of) > 0 && reasons[k.Kind] != "":
			out = append(out, k.Kind+": has rows and a reason")
		case len(of) > 0:
			out = append(out, unset(k, of, rows)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if kind := rows[name].kind; kind != "" && !known[kind] {
			out = append(out, "unknown fault "+kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(reasons)) {
		if !known[kind] {
			out = append(out, "unknown fault "+kind)
		}
	}
	slices.Sort(out)
	return out
}

func rowsOf(kind string, rows map[string]fault) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if rows[name].kind == kind {
			out = append(out, name)
		}
	}
	return out
}

// unset are the values of a kind's options that no row has.
func unset(k world.FaultKind, of []string, rows map[string]fault) []string {
	var out []string
	for _, o := range k.Options {
		for _, value := range o.Values {
			if !slices.ContainsFunc(of, func(name string) bool {
				got, ok := rows[name].options[o.Name]
				return got == value || !ok && value == o.Default
			}) {
				out = append(out, fmt.Sprintf("%s: no row has %s=%s", k.Kind, o.Name, value))
			}
		}
	}
	return out
}

// docs/testing.md has the table of the faults.
func TestPageHasTheFaults(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| fault | over ibsim |\n|---|---|\n")
	for _, k := range subnetFaults() {
		text := strings.Join(rowsOf(k.Kind, faults), "; ")
		if reason := inexpressible[k.Kind]; reason != "" {
			text = "not possible: " + reason
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.Kind, text)
	}
	page, err := os.ReadFile("../../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), b.String()) {
		t.Errorf("docs/testing.md, section InfiniBand, has not the table\n%s", b.String())
	}
}
