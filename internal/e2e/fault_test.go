package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
)

// catalogue is what `firstlight lab fault list --kinds -o json` says.
type catalogue struct {
	Kinds []struct {
		Kind, Gate, DefaultTarget, Expect string
		Variation                         bool
	}
}

// everyFault is the name of TestEveryFaultFailsItsGate in the manifest.
const everyFault = "internal/e2e TestEveryFaultFailsItsGate"

// TestEveryFaultFailsItsGate puts each fault of the catalogue alone into one
// running lab: its gate must fail and no earlier one, a finding must name the
// suspect, and the exit code must be 1. A fault that hides others must leave it unobserved.
func TestEveryFaultFailsItsGate(t *testing.T) {
	sharedLab(t)
	var c catalogue
	if err := json.Unmarshal([]byte(program.Must(t, "lab", "fault", "list", "--kinds", "--name", labName, "-o", "json").Stdout), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Kinds) < 38 {
		t.Fatalf("the catalogue has %d kinds, at least 38 are promised", len(c.Kinds))
	}
	held := 0
	for _, k := range c.Kinds {
		if !suite.HasFault(t, everyFault, k.Kind) {
			continue // of another hardware, stack or gate, or with a changed site: a row of the manifest names its test
		}
		held++
		t.Run(k.Kind, func(t *testing.T) {
			suite.RequireFault(t, everyFault, k.Kind)
			added := program.Must(t, "lab", "fault", "add", k.Kind, "--name", labName, "-o", "json")
			defer clearFaults(t)
			var fault struct{ ID, Target, Suspect string }
			if err := json.Unmarshal([]byte(added.Stdout), &fault); err != nil {
				t.Fatal(err)
			}
			a, r := accept(t, "--fresh", "--evidence", t.TempDir())
			if k.Variation {
				judgeVariation(t, a, r, k.Expect)
				return
			}
			judgeFault(t, a, r, k.Gate, cmp.Or(k.Expect, "failed"), fault.Suspect)
		})
	}
	if held < 90 {
		t.Errorf("%d kinds were tried: most of the catalogue belongs here", held)
	}
}

// clearFaults clears all faults, and waits until Prometheus has scraped every exporter since then. Samples with old
// timestamps stay the newest ones of their series if the next fault changes the labels before a scrape; the
// next run then found two series a GPU.
func clearFaults(t *testing.T) {
	t.Helper()
	program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	s, err := site.Load(strings.TrimSpace(program.Must(t, "lab", "site", "--path", "--name", labName).Stdout))
	if err != nil {
		t.Fatal(err)
	}
	client, err := prom.Connect(s.Reach.Prometheus, program.Cluster(t, labName))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	began := time.Now()
	polltest.UntilNil(t, "fresh series of every node", func() error {
		fresh := fmt.Sprintf("count(count by (Hostname) (timestamp(DCGM_FI_DEV_GPU_UTIL) > %f))", float64(began.UnixMilli())/1000)
		samples, _, err := prom.Prometheus{Client: client}.Query(t.Context(), fresh, time.Time{})
		if err == nil && (len(samples) != 1 || int(samples[0].Value) < len(s.Inventory.Nodes)) {
			err = fmt.Errorf("%+v", samples)
		}
		return err
	})
}

// exitCodes are those of the overall verdicts.
var exitCodes = map[string]int{"passed": 0, "failed": 1, "unobserved": 3}

// judgeFault: verdict is what the gate must be, failed but for a fault that hides others.
func judgeFault(t *testing.T, a acceptance, r binary.Result, gate, verdict, suspect string) {
	t.Helper()
	if r.Code != exitCodes[verdict] || a.Verdict != verdict {
		t.Errorf("exit %d, verdict %s, want %d and %s", r.Code, a.Verdict, exitCodes[verdict], verdict)
	}
	want := regexp.MustCompile(suspect)
	reached := false
	for _, g := range a.Gates {
		switch {
		case g.Gate == gate:
			reached = true
			if g.Verdict != verdict {
				t.Errorf("gate %s is %s (%s), want %s", gate, g.Verdict, g.Reason, verdict)
			}
			named := false
			for _, f := range g.Findings {
				named = named || want.MatchString(f.Suspect)
				if f.Remedy == "" || f.Message == "" {
					t.Errorf("finding without message or remedy: %+v", f)
				}
			}
			if !named {
				t.Errorf("no finding names a suspect like %s: %+v", suspect, g.Findings)
			}
		case !reached && g.Verdict != "passed":
			t.Errorf("gate %s before %s is %s (%s), want passed; findings %+v", g.Gate, gate, g.Verdict, g.Reason, g.Findings)
		case reached && needs(gate, g.Gate) && g.Verdict != "blocked":
			t.Errorf("gate %s after %s is %s, want blocked", g.Gate, gate, g.Verdict)
		}
	}
	if !reached {
		t.Errorf("no gate %s in %s", gate, a.verdicts())
	}
}

// needs: every gate needs the one before it; training and inference both need
// collective, not each other.
func needs(failed, later string) bool {
	return failed != "training" || later != "inference"
}

func judgeVariation(t *testing.T, a acceptance, r binary.Result, expect string) {
	t.Helper()
	if a.Verdict != expect || r.Code != exitCodes[expect] {
		t.Errorf("verdict %s, exit %d, want %s and %d: %s\n%s", a.Verdict, r.Code, expect, exitCodes[expect], a.verdicts(), r.Stderr)
	}
}

// TestHealthyPasses accepts the lab without a fault.
func TestHealthyPasses(t *testing.T) {
	a, r, _ := healthyRun(t)
	if r.Code != 0 || a.verdicts() != allPassed || !a.Simulated {
		t.Errorf("exit %d, simulated %v, %s\n%s%s", r.Code, a.Simulated, a.verdicts(), r.Stdout, r.Stderr)
	}
	if got := len(a.Gates); got != len(site.Gates()) {
		t.Errorf("%d gates", got)
	}
	if strings.Contains(r.Stdout, "\x1b") || strings.Contains(r.Stderr, "\x1b") {
		t.Error("escape sequences without a terminal")
	}
}

// TestFaultOfAnotherStack: a fault that needs NVIDIA's own operator is refused with the remedy, and
// nothing is injected.
func TestFaultOfAnotherStack(t *testing.T) {
	sharedLab(t)
	r := program.Run(t.Context(), "lab", "fault", "add", "cuda-validation-failed", "--name", labName)
	if r.Code == 0 || !strings.Contains(r.Stderr, "--stack real") {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
	if r := program.Must(t, "lab", "fault", "list", "--name", labName, "-o", "json"); strings.Contains(r.Stdout, "cuda-validation-failed") {
		t.Errorf("the fault is active: %s", r.Stdout)
	}
}
