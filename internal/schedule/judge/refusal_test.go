package judge_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/schedule/judge"
)

func TestParseRefusal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		message string
		want    judge.Refusal
		text    string
	}{
		"filters and preemption": {
			"0/1200 nodes are available: 1194 node(s) didn't satisfy plugin(s) [NodeAffinity], 2 node(s) didn't match Pod's node affinity/selector, 4 Insufficient nvidia.com/gpu. preemption: 0/1200 nodes are available: 1196 Preemption is not helpful for scheduling, 4 No preemption victims found for incoming pod.",
			judge.Refusal{Nodes: 1200, Reasons: []judge.Reason{{1194, "node(s) didn't satisfy plugin(s) [NodeAffinity]"}, {2, "node(s) didn't match Pod's node affinity/selector"}, {4, "Insufficient nvidia.com/gpu"}}, After: "preemption: 0/1200 nodes are available: 1196 Preemption is not helpful for scheduling, 4 No preemption victims found for incoming pod."},
			"2 node(s) didn't match Pod's node affinity/selector, 4 Insufficient nvidia.com/gpu",
		},
		"other plugins' words before preemption": {
			"0/29 nodes are available: 25 node(s) didn't satisfy plugin(s) [NodeAffinity], 4 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/29 nodes are available: 29 Preemption is not helpful for scheduling.",
			judge.Refusal{Nodes: 29, Reasons: []judge.Reason{{25, "node(s) didn't satisfy plugin(s) [NodeAffinity]"}, {4, "node(s) had untolerated taint(s)"}}, After: "no new claims to deallocate, preemption: 0/29 nodes are available: 29 Preemption is not helpful for scheduling."},
			"4 node(s) had untolerated taint(s)",
		},
		"an older taint": {
			"0/6 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, 4 node(s) had untolerated taint {nvidia.com/gpu: present}.",
			judge.Refusal{Nodes: 6, Reasons: []judge.Reason{{2, "node(s) didn't match Pod's node affinity/selector"}, {4, "node(s) had untolerated taint {nvidia.com/gpu: present}"}}},
			"2 node(s) didn't match Pod's node affinity/selector, 4 node(s) had untolerated taint {nvidia.com/gpu: present}",
		},
		"a comma of its own": {
			"0/2 nodes are available: 1 node(s) unavailable due to a, b and c, 1 Insufficient cpu.",
			judge.Refusal{Nodes: 2, Reasons: []judge.Reason{{1, "node(s) unavailable due to a, b and c"}, {1, "Insufficient cpu"}}},
			"1 node(s) unavailable due to a, b and c, 1 Insufficient cpu",
		},
		"before any node": {
			"0/6 nodes are available: pod affinity terms conflict. preemption: not eligible.",
			judge.Refusal{Nodes: 6, Before: "pod affinity terms conflict", After: "preemption: not eligible."},
			"pod affinity terms conflict",
		},
		"only others": {
			"0/6 nodes are available: 6 node(s) didn't satisfy plugin(s) [NodeAffinity NodePorts].",
			judge.Refusal{Nodes: 6, Reasons: []judge.Reason{{6, "node(s) didn't satisfy plugin(s) [NodeAffinity NodePorts]"}}},
			"no node was evaluated",
		},
		"nothing": {"0/0 nodes are available:", judge.Refusal{}, "no node was evaluated"},
		"preemption alone": {
			"0/1 nodes are available: preemption: 0/1 nodes are available: 1 x.",
			judge.Refusal{Nodes: 1, After: "preemption: 0/1 nodes are available: 1 x."}, "no node was evaluated",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := judge.ParseRefusal(tt.message)
			if !ok || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if got.String() != tt.text {
				t.Errorf("says %q, want %q", got.String(), tt.text)
			}
		})
	}
	for _, message := range []string{"", "waiting for minCount pods from a gang to be scheduled", "0/x nodes are available: 1 y.", "0/99999999999999999999 nodes are available: 1 y.", "0/1 nodes are available: 99999999999999999999 y."} {
		if got, ok := judge.ParseRefusal(message); ok {
			t.Errorf("%q was read as %+v", message, got)
		}
	}
}

func TestRefusalText(t *testing.T) {
	t.Parallel()
	r, _ := judge.ParseRefusal("0/9 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity], 4 Insufficient nvidia.com/gpu, 2 Insufficient cpu, 2 node(s) had untolerated taint(s).")
	if r.NodesWith("Insufficient nvidia.com/gpu") != 4 || r.NodesWith("NodeAffinity") != 0 || r.NodesWith("untolerated taint") != 2 {
		t.Errorf("counts wrong: %+v", r)
	}
	if got := strings.Join(r.Insufficient(), " "); got != "nvidia.com/gpu cpu" {
		t.Errorf("lacks %q", got)
	}
}

func FuzzParseRefusal(f *testing.F) {
	f.Add("0/12 nodes are available: 4 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint(s). preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.")
	f.Add("0/1 nodes are available: pod affinity terms conflict.")
	f.Add("0/1 nodes are available: , 1 ,. ")
	f.Fuzz(func(t *testing.T, message string) {
		r, ok := judge.ParseRefusal(message)
		if !ok {
			return
		}
		if r.Nodes < 0 || r.Before != "" && len(r.Reasons) > 0 {
			t.Errorf("%q was read as %+v", message, r)
		}
		for _, reason := range r.Reasons {
			if reason.Nodes < 0 || reason.Text == "" {
				t.Errorf("%q has the reason %+v", message, reason)
			}
		}
		_ = r.String()
		// The formatted refusal parses to the same refusal.
		again, ok := judge.ParseRefusal("0/1 nodes are available: " + r.String() + ".")
		if len(r.OwnReasons()) > 0 && (!ok || again.String() != r.String()) {
			t.Errorf("%q, read again: %q", r.String(), again.String())
		}
	})
}
