package watch

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
)

// On healthy hosts a watch writes no line, and every check is ok.
func TestQuiet(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if m := r.scrape(t); m["state dmesg gpu-01"] != 2 || !math.IsInf(m["observation_age_seconds gpu-01"], 1) || !math.IsInf(m["round_age_seconds"], 1) {
		t.Errorf("before the first round: %v", m)
	}
	for range 5 {
		if lines := r.round(t); len(lines) > 0 {
			t.Fatal(texts(lines))
		}
	}
	if stored := r.stored(t); len(stored) > 0 || r.Transitions() != 0 {
		t.Errorf("the journal: %v", texts(stored))
	}
	m := r.scrape(t)
	states := 0
	for name, value := range m {
		if strings.HasPrefix(name, "state ") {
			states++
			if value != 0 {
				t.Errorf("%s is %g", name, value)
			}
		}
		if strings.HasPrefix(name, "observation_errors_total ") && value != 0 {
			t.Errorf("%s is %g", name, value)
		}
	}
	if states != 4*(len(r.options.Gates[0].Kinds())+1)+2 || m["rounds_total"] != 5 || m["round_age_seconds"] != 0 {
		t.Errorf("%d states: %v", states, m)
	}
	r.clock.Step(26 * time.Minute / 2) // a watch that hangs
	if m := r.scrape(t); m["state dmesg gpu-01"] != 2 || m["round_age_seconds"] != 780 {
		t.Errorf("13 minutes after the last round: %v", m)
	}
}

// A fault is a transition of its node with the finding, in the journal and in the metrics; it is one
// line however long it lasts, and another one back.
func TestFaults(t *testing.T) {
	r := newRig(t)
	r.round(t)
	for _, tt := range []struct {
		kind, target string
		// first and second are the transitions of the first and the second round with the fault.
		first, second []string
		back          []string
		state         string
		value         float64
		says          string
	}{
		{"gpu-off-bus", "gpu-02/gpu3", []string{
			"gpu-02 nvidia-smi,dmesg ok>failed/1 [gpu-02/gpu3]",
		}, nil, []string{"gpu-02 dmesg failed>ok/2 []", "gpu-02 nvidia-smi failed>ok/2 []"}, "state nvidia-smi gpu-02", 1, "Xid 79"},
		{"thermal-throttle", "gpu-01/gpu1", nil, []string{"gpu-01 nvidia-smi ok>failed/2 [gpu-01/gpu1]"},
			[]string{"gpu-01 nvidia-smi failed>ok/2 []"}, "state nvidia-smi gpu-01", 1, "hw_thermal_slowdown"},
		{"host-unreachable", "gpu-03", nil, []string{"gpu-03 nvidia-smi,nvidia-smi-nvlink,ibstat,host,nvidia-fabricmanager,nvidia-smi-nvlink-errors,dmesg,versions ok>unobserved/2 [gpu-03]"},
			[]string{"gpu-03 nvidia-smi,nvidia-smi-nvlink,ibstat,host,nvidia-fabricmanager,nvidia-smi-nvlink-errors,dmesg,versions unobserved>ok/2 []"}, "state ibstat gpu-03", 2, "was not observed"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			before := len(r.stored(t))
			repair := r.fault(t, tt.kind, tt.target)
			if diff := cmp.Diff(tt.first, texts(r.round(t))); diff != "" {
				t.Error("first round", diff)
			}
			lines := r.lines
			if m := r.scrape(t); m[tt.state] != tt.value {
				t.Errorf("%s is %g, want %g", tt.state, m[tt.state], tt.value)
			}
			if diff := cmp.Diff(tt.second, texts(r.round(t))); diff != "" {
				t.Error("second round", diff)
			}
			lines = append(lines, r.lines...)
			for range 3 {
				if again := r.round(t); len(again) > 0 {
					t.Errorf("the same fault again: %v", texts(again))
				}
			}
			for _, l := range lines {
				said := false
				for _, f := range l.Findings {
					said = said || strings.Contains(f.Message, tt.says) && f.Remedy != ""
				}
				if !said {
					t.Errorf("no finding says %q: %+v", tt.says, l.Findings)
				}
				data, err := os.ReadFile(filepath.Join(r.options.Dir, l.Evidence))
				var obs []check.Observation
				if err != nil || json.Unmarshal(data, &obs) != nil || len(obs) == 0 || obs[0].Target != l.Node {
					t.Errorf("observations of %s: %d, %v", l.Evidence, len(obs), err)
				}
			}
			repair()
			if early := r.round(t); len(early) > 0 {
				t.Errorf("one ok observation is a transition: %v", texts(early))
			}
			back := r.round(t)
			back = append(back, r.round(t)...) // counters that were reset are comparable from the second round on
			if diff := cmp.Diff(tt.back, texts(back)); diff != "" {
				t.Error("cleared", diff)
			}
			if m := r.scrape(t); m[tt.state] != 0 {
				t.Errorf("%s is %g without the fault", tt.state, m[tt.state])
			}
			if stored := r.stored(t); len(stored) != before+len(lines)+len(tt.back) {
				t.Errorf("the journal has %d lines more", len(stored)-before)
			}
		})
	}
	// Five rounds without the host; on a busy machine it is still unreachable in the first round after its repair.
	if m := r.scrape(t); m["transitions_total gpu-02 failed"] != 1 || m["transitions_total gpu-02 ok"] != 2 || m["observation_errors_total gpu-03"] < 5 || m["observation_errors_total gpu-03"] > 6 {
		t.Errorf("counters: %v", m)
	}
}

// A changed driver is neither a failure nor ok: the line has the command that accepts it.
func TestChangedDriver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.round(t)
	repair := r.fault(t, "driver-mismatch", "gpu-03")
	lines := r.round(t)
	if len(lines) != 1 || lines[0].To != Changed || lines[0].Node != "gpu-03" || lines[0].Accept != "firstlight accept" || !strings.Contains(lines[0].Findings[0].Message, "driver is ") {
		t.Fatalf("%+v", lines)
	}
	if m := r.scrape(t); m["state versions gpu-03"] != 3 || m["state versions gpu-02"] != 0 {
		t.Errorf("%v", m)
	}
	for range 2 {
		for _, l := range r.round(t) {
			if l.To == Changed {
				t.Errorf("again: %+v", l)
			}
		}
	}
	repair()
	r.round(t)
	r.round(t)
	stored := r.stored(t)
	if last := stored[len(stored)-1]; last.To != OK || r.tracker.State("gpu-03", Versions) != OK {
		t.Errorf("cleared: %v", texts(stored))
	}
}

// A host whose commands never end is unobserved, and the others are observed in time, also in the
// rounds after it. Its old command is not joined by another one.
func TestHangingHost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.observer.host, r.observer.round = time.Minute, 4*time.Minute
	r.round(t)
	r.observer.host = 10 * time.Second // a healthy host takes some milliseconds, and seconds on a machine in use
	r.hangs("gpu-01", true)
	var lines []Transition
	for range 2 {
		began := time.Now()
		lines = append(lines, r.round(t)...)
		if took := time.Since(began); took > r.observer.round {
			t.Fatalf("the round took %s", took)
		}
	}
	if len(lines) != 1 || lines[0].Node != "gpu-01" || lines[0].To != Unobserved || len(lines[0].Checks) != len(r.options.Gates[0].Kinds())+1 || !strings.Contains(lines[0].Findings[0].Message, "a command of an earlier round has not ended") {
		t.Fatalf("%+v", lines)
	}
	m := r.scrape(t)
	if m["state nvidia-smi gpu-01"] != 2 || m["state versions gpu-01"] != 2 || m["state nvidia-smi gpu-02"] != 0 || m["observation_age_seconds gpu-01"] <= m["observation_age_seconds gpu-02"] {
		t.Errorf("%v", m)
	}
	if last := r.observer.jobs(); last[len(last)-1].host != "gpu-01" {
		t.Errorf("the slow host is not last: %v", last)
	}
	r.hangs("gpu-01", false)
	close(r.release)
	r.observer.host = time.Minute
	for len(r.lines) == 0 || r.lines[0].To != OK {
		if t.Context().Err() != nil {
			t.Fatal("the host stays unobserved")
		}
		r.round(t)
	}
}
