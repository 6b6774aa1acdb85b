package singlenode

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/world"
)

// A machine whose site file demands the suite passes with each collective, and the evidence gives the same
// verdicts again.
func TestSuite(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "h100-sxm")
	m.suite = "[all-gather, reduce-scatter, all-to-all, sendrecv]"
	var ran []string
	m.before = func(line string) {
		if strings.Contains(line, "_perf ") {
			ran = append(ran, line)
		}
	}
	report, err := m.run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range report.Gates {
		if g.Gate != "collective" {
			continue
		}
		for _, want := range []string{"all-gather 3", "reduce-scatter 3", "all-to-all 3", "sendrecv 3"} {
			if g.Verdict != check.Passed || !strings.Contains(g.Reason, want) {
				t.Errorf("%s: %s, want %q: %+v", g.Verdict, g.Reason, want, g.Findings)
			}
		}
	}
	if len(ran) != 5*3 || !strings.Contains(ran[14], " sendrecv_perf -b 8M -e 16G -f 2 -g 8") {
		t.Errorf("ran %q", ran)
	}
	requireReplay(t, report.Evidence)
	requireVerify(t, report.Evidence)
}

// Without a program of the suite nothing is passed; after a failure of the all-reduce the others are not run.
func TestSuiteIsDemanded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		missing string
		fault   string
		verdict check.Verdict
		suspect string
		others  bool
	}{
		"no alltoall_perf":  {"alltoall_perf", "", check.Unobserved, "alltoall_perf", true},
		"a slow all-reduce": {"", "nvls-lost", check.Failed, "gpu-01", false},
		"wrong data":        {"", "data-corruption", check.Failed, "gpu-01", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, "h100-sxm")
			m.suite, m.missing = "[all-to-all]", tt.missing
			others := false
			m.before = func(line string) { others = others || strings.Contains(line, "alltoall_perf") }
			if tt.fault != "" {
				if _, err := m.world.AddFault(world.Fault{Kind: tt.fault, Target: "gpu-01"}); err != nil {
					t.Fatal(err)
				}
			}
			report, err := m.run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range report.Gates {
				if g.Gate == "collective" && (g.Verdict != tt.verdict || len(g.Findings) == 0 || g.Findings[0].Suspect != tt.suspect) {
					t.Errorf("%s: %s: %+v", g.Verdict, g.Reason, g.Findings)
				}
			}
			if others != tt.others {
				t.Errorf("alltoall_perf ran: %t", others)
			}
			requireReplay(t, report.Evidence)
		})
	}
}
