package watch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// A reading is failed if any finding is, lasting if any failed one is, and has all failed findings; only
// lasting failures are defects.
func TestWorseReadings(t *testing.T) {
	t.Parallel()
	of := func(message string, v check.Verdict, lasting bool) node.HostFinding {
		return node.HostFinding{Verdict: v, Lasting: lasting, Finding: check.Finding{Suspect: "s", Message: message}}
	}
	const failed, unseen = check.Failed, check.Unobserved
	for name, tt := range map[string]struct {
		findings []node.HostFinding
		state    State
		lasting  bool
		messages string
		defects  int
	}{
		"two failures":              {[]node.HostFinding{of("a", failed, false), of("b", failed, false)}, Failed, false, "a b", 0},
		"lasting, then not":         {[]node.HostFinding{of("a", failed, true), of("b", failed, false)}, Failed, true, "a b", 1},
		"not lasting, then lasting": {[]node.HostFinding{of("a", failed, false), of("b", failed, true)}, Failed, true, "a b", 1},
		"two lasting ones":          {[]node.HostFinding{of("a", failed, true), of("b", failed, true)}, Failed, true, "a b", 2},
		"lasting and not observed":  {[]node.HostFinding{of("a", unseen, true)}, Unobserved, false, "a", 0},
		"failed, then not observed": {[]node.HostFinding{of("a", failed, true), of("b", unseen, false)}, Failed, true, "a", 1},
		"not observed, then failed": {[]node.HostFinding{of("a", unseen, false), of("b", failed, false)}, Failed, false, "b", 0},
	} {
		r := Reading{State: OK}
		for _, f := range tt.findings {
			r = worse(r, f)
		}
		var messages []string
		for _, f := range r.Findings {
			messages = append(messages, f.Message)
		}
		if r.State != tt.state || r.Lasting != tt.lasting || strings.Join(messages, " ") != tt.messages || len(r.Defects) != tt.defects {
			t.Errorf("%s: %+v", name, r)
		}
	}
	notRun := check.Finding{Message: "was not observed: ibstat was not run"}
	other := check.Finding{Message: "no route"}
	for name, tt := range map[string]struct {
		of   Reading
		also Reading
		want int
	}{
		"explained by another check": {Reading{State: Unobserved, Findings: []check.Finding{notRun}}, Reading{State: Unobserved, Findings: []check.Finding{other}}, 0},
		"not explained":              {Reading{State: Unobserved, Findings: []check.Finding{notRun}}, Reading{State: Unobserved, Findings: []check.Finding{notRun}}, 1},
		"a note of one that is ok":   {Reading{State: Unobserved, Findings: []check.Finding{notRun}}, Reading{State: OK, Findings: []check.Finding{other}}, 1},
		"failed keeps its findings":  {Reading{State: Failed, Findings: []check.Finding{notRun}}, Reading{State: Unobserved, Findings: []check.Finding{other}}, 1},
		"its own reason explains it": {Reading{State: Unobserved, Findings: []check.Finding{notRun, other}}, Reading{State: OK}, 1},
	} {
		if got := reasons(tt.of, []Reading{tt.of, tt.also}); len(got) != tt.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Defects differ by suspect, Xid code or text, and remedy; not by the numbers of a text.
func TestIdentitiesOfDefects(t *testing.T) {
	t.Parallel()
	of := func(suspect, message, remedy string) string {
		return defect(check.Finding{Suspect: suspect, Message: message, Remedy: remedy})
	}
	for name, tt := range map[string]struct {
		a, b string
		same bool
	}{
		"another number":  {of("s", "3 errors at 1.5", "r"), of("s", "14 errors at 2.25", "r"), true},
		"another text":    {of("s", "3 errors", "r"), of("s", "3 retired pages", "r"), false},
		"the same Xid":    {of("s", "Xid 48 on a", "r"), of("s", "Xid 48 on b", "r"), true},
		"another Xid":     {of("s", "Xid 48 on a", "r"), of("s", "Xid 79 on a", "r"), false},
		"an SXid":         {of("s", "SXid 48 on a", "r"), of("s", "Xid 48 on a", "r"), false},
		"another suspect": {of("s", "hot", "r"), of("t", "hot", "r"), false},
		"another remedy":  {of("s", "hot", "r"), of("s", "hot", "q"), false},
	} {
		if (tt.a == tt.b) != tt.same {
			t.Errorf("%s: %q and %q", name, tt.a, tt.b)
		}
	}
	if diff := cmp.Diff([]State{"ok", "failed", "unobserved", "changed"}, States()); diff != "" {
		t.Error(diff)
	}
	found := []check.Finding{{Suspect: "s", Message: "m"}}
	for state, known := range map[State]string{Failed: "s", Changed: "s m"} {
		if r := (Reading{State: state, Findings: found}); !r.news(nil) || !r.news([]string{"s n"}) || r.news([]string{known}) {
			t.Errorf("%s: a finding is news once", state)
		}
		if r := (Reading{State: state, Findings: found, Defects: []string{"d"}}); !r.news([]string{known}) || r.news([]string{known, "d"}) {
			t.Errorf("%s: a defect is news once", state)
		}
	}
	for _, state := range []State{OK, Unobserved} {
		if (Reading{State: state, Findings: found, Defects: []string{"d"}}).news(nil) {
			t.Errorf("findings of %s are news", state)
		}
	}
}

// More series of rounds, as TestTransitions has them: one check of one node.
func TestTransitionsAtTheLimits(t *testing.T) {
	t.Parallel()
	for rounds, want := range map[string]string{
		"foff":      "4:ok>failed/2",               // confirmed, not flapping
		"fofoF":     "5:ok>failed/1",               // lasting, not flapping
		"ffoof":     "2:ok>failed/2 4:failed>ok/2", // earlier failures do not count
		"ffoofof":   "2:ok>failed/2 4:failed>ok/2", // twice since
		"ffoofofof": "2:ok>failed/2 4:failed>ok/2 9:ok>failed/1~",
		"ggooffgg":  "2:ok>failed/2 4:failed>ok/2 6:ok>failed/2 8:failed>failed/2", // known only until it is ok
	} {
		tracker := NewTracker(Rules{Confirm: 2, FlapFailures: 3, FlapWindow: 12})
		var got []string
		for i, symbol := range rounds {
			for _, tr := range tracker.Observe(noon.Add(time.Duration(i)*time.Minute), []Reading{reading(t, symbol)}) {
				got = append(got, string(rune('1'+i))+":"+short(tr))
				if state := tracker.State("gpu-01", "nvidia-smi"); state != tr.To {
					t.Errorf("%s: the state is %s after %s", rounds, state, short(tr))
				}
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", rounds, text, want)
		}
	}
	if state := NewTracker(Rules{}).State("gpu-01", "dmesg"); state != OK {
		t.Errorf("a check that was not observed is %s", state)
	}
}

// Checks of one node are one transition only if state before and after, confirmation, begin and flapping
// are the same; it has the findings and defects of all.
func TestWhichChecksAreOneTransition(t *testing.T) {
	t.Parallel()
	rules := Rules{Confirm: 3, FlapFailures: 3, FlapWindow: 12}
	of := func(name string, s State, lasting bool, suspect string) Reading {
		return Reading{Node: "gpu-01", Check: name, State: s, Lasting: lasting, Findings: []check.Finding{{Suspect: suspect, Message: "m"}}, Defects: []string{suspect}}
	}
	known := func(name string, to State, flapping bool) Transition {
		return Transition{Node: "gpu-01", Checks: []string{name}, To: to, Flapping: flapping}
	}
	for name, tt := range map[string]struct {
		before []Transition
		rounds [][]Reading
		want   string // checks of the transitions of the last round
	}{
		"the same":             {nil, [][]Reading{{of("a", Failed, true, "x"), of("b", Failed, true, "y")}}, "a b"},
		"another state after":  {nil, [][]Reading{{of("a", Failed, true, "x"), of("b", Changed, true, "y")}}, "a, b"},
		"another state before": {[]Transition{known("a", Unobserved, false)}, [][]Reading{{of("a", Failed, true, "x"), of("b", Failed, true, "y")}}, "a, b"},
		"another confirmation": {nil, [][]Reading{{of("a", Failed, false, "x"), of("b", Failed, false, "y")}, {of("a", Failed, false, "x")}, {of("a", Failed, false, "x"), of("b", Failed, true, "y")}}, "a, b"},
		"another begin":        {nil, [][]Reading{{of("a", Failed, false, "x")}, {of("b", Failed, false, "y")}, {of("a", Failed, true, "x"), of("b", Failed, true, "y")}}, "a, b"},
		"one is flapping":      {[]Transition{known("a", Failed, true), known("b", Failed, false)}, [][]Reading{{of("a", Failed, true, "x"), of("b", Failed, true, "y")}}, "a, b"},
	} {
		tracker := NewTracker(rules)
		for _, tr := range tt.before {
			tracker.Restore(tr)
		}
		var last []Transition
		for i, round := range tt.rounds {
			last = tracker.Observe(noon.Add(time.Duration(i)*time.Minute), round)
		}
		var got []string
		for _, tr := range last {
			got = append(got, strings.Join(tr.Checks, " "))
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("%s: %s, want %s", name, text, tt.want)
		}
		if name == "the same" {
			if tr := last[0]; len(tr.Findings) != 2 || !slices.Equal(tr.Defects, []string{"x", "y"}) {
				t.Errorf("%+v", tr)
			}
		}
	}
}

// All changed versions of a node are found, with the observations that show them; they hide what was not
// observed. A part without an identity is not another one.
func TestChangedVersions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		was, is func(*node.Machine)
		want    []string
	}{
		"two versions":        {nil, func(m *node.Machine) { m.Driver, m.GPUs[0].VBIOS, m.GPUs[1].VBIOS = "590", "97.00", "97.00" }, []string{"VBIOS of H100 is 97.00", "driver is 590"}},
		"unobserved, changed": {nil, func(m *node.Machine) { m.Driver, m.GPUs = "590", nil }, []string{"driver is 590"}},
		"a GPU without UUID":  {nil, func(m *node.Machine) { m.GPUs[0].UUID = "" }, nil},
		"no UUID accepted":    {func(m *node.Machine) { m.GPUs[0].UUID = "" }, nil, nil},
		"no GUID accepted":    {func(m *node.Machine) { m.HCAs[0].GUID = "" }, nil, nil},
		"an adapter more": {nil, func(m *node.Machine) {
			m.HCAs = append(m.HCAs, node.Adapter{Name: "mlx5_1", Type: "MT4129", GUID: "0x9", Firmware: "28.39.1002"})
		}, nil},
	} {
		was, is := machine(), machine()
		if tt.was != nil {
			tt.was(&was)
		}
		if tt.is != nil {
			tt.is(&is)
		}
		r := compareMachine("R", was, is, []string{"id"})
		if len(r.Findings) != len(tt.want) || (r.State == OK) != (len(tt.want) == 0) {
			t.Errorf("%s: %+v", name, r)
			continue
		}
		for i, f := range r.Findings {
			if !strings.HasPrefix(f.Message, tt.want[i]) || !slices.Equal(f.Observations, []string{"id"}) {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	then := drift.Stack{"image of collective": {"a"}}
	r := compareDeclared("R", then, drift.Stack{"image of collective": {"a"}, "image of training": {"t"}})
	if r.State != Changed || len(r.Findings) != 1 || !strings.HasPrefix(r.Findings[0].Message, "image of training is t, expected unknown, as in run R") {
		t.Errorf("an image more: %+v", r)
	}
}
