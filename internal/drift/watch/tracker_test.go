package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// reading of gpu-01: "o" ok, "f" failed, "F" failed and lasting, "u" unobserved, "c" changed, "g" as f
// with another suspect too.
func reading(t *testing.T, symbol rune) Reading {
	t.Helper()
	r := Reading{Node: "gpu-01", Check: "nvidia-smi"}
	fail := func(suspect string) {
		r.Findings = append(r.Findings, check.Finding{Suspect: suspect, Message: "is hot", Remedy: "cool it"})
	}
	switch symbol {
	case 'o':
		r.State = OK
	case 'f', 'F', 'g':
		r.State, r.Lasting = Failed, symbol == 'F'
		fail("gpu-01/gpu1")
		if symbol == 'g' {
			fail("gpu-01/gpu2")
		}
	case 'u':
		r.State = Unobserved
		fail("gpu-01")
	case 'c', 'd':
		r.State, r.Lasting = Changed, true
		r.Findings = []check.Finding{{Suspect: "gpu-01", Message: "driver is " + string(symbol)}}
	default:
		t.Fatalf("unknown symbol %q", symbol)
	}
	return r
}

func short(tr Transition) string {
	out := fmt.Sprintf("%s>%s/%d", tr.From, tr.To, tr.Observations)
	if tr.Flapping {
		out += "~"
	}
	return out
}

// TestTransitions has the transitions of series of rounds, with the number of the round.
func TestTransitions(t *testing.T) {
	t.Parallel()
	for rounds, want := range map[string]string{
		strings.Repeat("o", 40):                  "",
		"fo":                                     "",
		"ff":                                     "2:ok>failed/2",
		"uu":                                     "2:ok>unobserved/2",
		"fu":                                     "2:ok>unobserved/2", // twice not ok: the last state
		"F":                                      "1:ok>failed/1",
		"c":                                      "1:ok>changed/1",
		"ffffff":                                 "2:ok>failed/2",
		"ffoo":                                   "2:ok>failed/2 4:failed>ok/2",
		"ffof":                                   "2:ok>failed/2",
		"ffuuoo":                                 "2:ok>failed/2 4:failed>unobserved/2 6:unobserved>ok/2",
		"uuffoo":                                 "2:ok>unobserved/2 4:unobserved>failed/2 6:failed>ok/2",
		"uuF":                                    "2:ok>unobserved/2 3:unobserved>failed/1",
		"ffuf":                                   "2:ok>failed/2",
		"ffuo":                                   "2:ok>failed/2", // one ok observation is not enough
		"ffuoo":                                  "2:ok>failed/2 5:failed>ok/2",
		"ffgg":                                   "2:ok>failed/2 4:failed>failed/2", // another suspect
		"ffgf":                                   "2:ok>failed/2",
		"ggfg":                                   "2:ok>failed/2",                      // its findings are in the journal
		"ffggffgg":                               "2:ok>failed/2 4:failed>failed/2",    // and stay there
		"ccddcc":                                 "1:ok>changed/1 3:changed>changed/1", // another version, then a known one
		"cuucoo":                                 "1:ok>changed/1 3:changed>unobserved/2 4:unobserved>changed/1 6:changed>ok/2",
		"fufufuf":                                "2:ok>unobserved/2 7:unobserved>failed/1~", // thrice failed since
		"fufufuo":                                "2:ok>unobserved/2",
		"ffuuf":                                  "2:ok>failed/2 4:failed>unobserved/2",
		"uuoouo":                                 "2:ok>unobserved/2 4:unobserved>ok/2",
		"fofof":                                  "5:ok>failed/1~",
		"fofof" + "oofo":                         "5:ok>failed/1~",
		"uofou":                                  "5:ok>unobserved/1~",
		"fofof" + strings.Repeat("o", 12):        "5:ok>failed/1~ 17:failed>ok/12",
		"fofof" + strings.Repeat("o", 11):        "5:ok>failed/1~",
		"f" + strings.Repeat("o", 11) + "fof":    "", // of the last 12, two
		"fofof" + "uu" + strings.Repeat("o", 12): "5:ok>failed/1~ 7:failed>unobserved/2~ 19:unobserved>ok/12",
	} {
		t.Run(rounds, func(t *testing.T) {
			t.Parallel()
			s, err := loadSettings()
			if err != nil {
				t.Fatal(err)
			}
			tracker := NewTracker(s.rules())
			var got []string
			for i, symbol := range rounds {
				for _, tr := range tracker.Observe(noon.Add(time.Duration(i)*time.Minute), []Reading{reading(t, symbol)}) {
					got = append(got, fmt.Sprintf("%d:%s", i+1, short(tr)))
					if tr.To != OK && len(tr.Findings) == 0 {
						t.Errorf("without a finding: %+v", tr)
					}
				}
			}
			if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A tracker that is restored from transitions confirms none of them again, and continues as the first.
func TestRestored(t *testing.T) {
	t.Parallel()
	const rounds = "ffuuffggoocuufofofooooooooooooffFoo"
	s, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	whole := NewTracker(s.rules())
	var journal []Transition
	for i, symbol := range rounds {
		tr := whole.Observe(noon.Add(time.Duration(i)*time.Minute), []Reading{reading(t, symbol)})
		journal = append(journal, tr...)
		restored := NewTracker(s.rules())
		for _, known := range journal {
			restored.Restore(known)
		}
		if was, is := whole.State("gpu-01", "nvidia-smi"), restored.State("gpu-01", "nvidia-smi"); was != is {
			t.Fatalf("after round %d: %s, restored %s", i+1, was, is)
		}
		if len(tr) > 0 { // the same state again is not a transition
			for range 3 {
				if again := restored.Observe(noon, []Reading{reading(t, symbol)}); len(again) > 0 {
					t.Errorf("round %d is repeated: %+v", i+1, again)
				}
			}
		}
	}
	if len(journal) < 8 {
		t.Errorf("only %d transitions", len(journal))
	}
}

// A lasting defect is reported once, and a second one of the same suspect, too; a count that grows is
// not another defect. A tracker that is restored knows both.
func TestASecondDefectOfASuspect(t *testing.T) {
	t.Parallel()
	const reset, rma = "reset the GPU", "replace the GPU"
	round := func(message, remedy string) node.HostFinding {
		return node.HostFinding{Node: "gpu-01", Kind: "dmesg", Verdict: check.Failed, Lasting: true, Finding: check.Finding{Suspect: "gpu-01/gpu1", Message: message, Remedy: remedy}}
	}
	xid48 := round("Xid 48 (reset) on 0000:1b:00: pid=123, Ch 0000000a", reset)
	more48 := round("Xid 48 (reset), 3 times, on 0000:1b:00: pid=456, Ch 0000000b", reset)
	xid79 := round("Xid 79 (isolate) on 0000:1b:00: GPU has fallen off the bus.", rma)
	ecc, more := round("3 uncorrectable ECC errors (volatile), expected 0", rma), round("14 uncorrectable ECC errors (volatile), expected 0", rma)
	recovery := func(action string) node.HostFinding {
		return round("Xid 154 (monitor) on 0000:1b:00: recovery action changed", "follow the driver's recovery action: "+action)
	}
	hot := round("is hot: 95 C", "cool it")
	hot.Lasting = false
	warm := hot
	warm.Message = "its link is down"
	tests := map[string]struct {
		rounds [][]node.HostFinding
		want   string
	}{
		"the same again":       {[][]node.HostFinding{{xid48}, {xid48}, {more48}}, "1"},
		"a worse one":          {[][]node.HostFinding{{xid48}, {more48}, {more48, xid79}, {xid79}}, "1 3"},
		"a count that grows":   {[][]node.HostFinding{{ecc}, {more}}, "1"},
		"another action":       {[][]node.HostFinding{{recovery("GPU Reset")}, {recovery("Node Reboot")}}, "1 2"},
		"a measured value":     {[][]node.HostFinding{{hot}, {hot}, {warm}, {warm}}, "2"},
		"not lasting, lasting": {[][]node.HostFinding{{hot}, {hot}, {hot, xid79}}, "2 3"},
	}
	for name, tt := range tests {
		whole := NewTracker(Rules{Confirm: 2, FlapFailures: 3, FlapWindow: 12})
		var journal []Transition
		var got []string
		for i, findings := range tt.rounds {
			of := readings([]string{"gpu-01"}, []string{"dmesg"}, findings, nil)
			for _, tr := range whole.Observe(noon, of) {
				got = append(got, fmt.Sprint(i+1))
				journal = append(journal, tr)
			}
			restored := NewTracker(Rules{Confirm: 1, FlapFailures: 3, FlapWindow: 12})
			for _, tr := range journal {
				restored.Restore(tr)
			}
			if again := restored.Observe(noon, of); len(journal) > 0 && len(again) > 0 {
				t.Errorf("%s: round %d is repeated: %+v", name, i+1, again)
			}
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: transitions in rounds %s, want %s", name, text, tt.want)
		}
	}
}

// Checks of a node that go the same way in a round are one transition, with each finding once; those of
// another node, or another way, are not.
func TestOneLineForAHost(t *testing.T) {
	t.Parallel()
	gone := check.Finding{Suspect: "gpu-01", Message: "was not observed: no route"}
	round := []Reading{
		{Node: "gpu-01", Check: "nvidia-smi", State: Unobserved, Findings: []check.Finding{gone}},
		{Node: "gpu-01", Check: "ibstat", State: Unobserved},
		{Node: "gpu-01", Check: "dmesg", State: Unobserved, Findings: []check.Finding{gone}},
		{Node: "gpu-02", Check: "dmesg", State: Unobserved, Findings: []check.Finding{{Suspect: "gpu-02", Message: "m"}}},
		{Node: "gpu-02", Check: Versions, State: Changed, Lasting: true, Findings: []check.Finding{{Suspect: "gpu-02", Message: "driver"}}},
	}
	tracker := NewTracker(Rules{Confirm: 2, FlapFailures: 3, FlapWindow: 12})
	first := tracker.Observe(noon, round)
	if len(first) != 1 || first[0].To != Changed {
		t.Fatalf("the first round: %+v", first)
	}
	second := tracker.Observe(noon.Add(time.Minute), round)
	if len(second) != 2 || !cmp.Equal(second[0].Checks, []string{"nvidia-smi", "ibstat", "dmesg"}) || !cmp.Equal(second[0].Findings, []check.Finding{gone}) || !second[0].Since.Equal(noon) {
		t.Errorf("the second round: %+v", second)
	}
}
