package hook

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

var wantReady = ReadyExpectation{Nodes: 2, GPUs: 8, Checks: 2}

func readyNode(name, uid string) Node { return Node{Name: name, UID: uid, Ready: true, GPUs: 8} }

func readySample() NodeSample {
	return NodeSample{Nodes: Nodes{readyNode("a", "1"), readyNode("b", "2")}}
}

func readySampleWith(f func(*NodeSample)) NodeSample {
	l := readySample()
	f(&l)
	return l
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		looks  []NodeSample
		passes []int
		ready  bool   // at the end
		why    string // of the last
	}{
		{"ready", []NodeSample{readySample(), readySample()}, []int{1, 2}, true, ""},
		{"in another order", []NodeSample{readySample(), readySampleWith(func(l *NodeSample) { l.Nodes[0], l.Nodes[1] = l.Nodes[1], l.Nodes[0] })}, []int{1, 2}, true, ""},
		{"not yet", []NodeSample{readySample()}, []int{1}, false, ""},
		{"no nodes", []NodeSample{{Nodes: Nodes{}}}, []int{0}, false, "0 nodes, want 2: none"},
		{"no nodes read", []NodeSample{{}}, []int{0}, false, "the nodes were not read"},
		{"an error", []NodeSample{readySample(), {Error: "refused"}, readySample()}, []int{1, 0, 1}, false, ""},
		{"extra check", []NodeSample{readySample(), readySampleWith(func(l *NodeSample) { l.Error = "deployment: 3 of 4 pods" })}, []int{1, 0}, false, "3 of 4 pods"},
		{"replaced", []NodeSample{readySample(), readySampleWith(func(l *NodeSample) { l.Nodes[1].UID = "3" })}, []int{1, 1}, false, "b was replaced by a node of the same name"},
		{"replaced, and then it stays", []NodeSample{readySample(), readySampleWith(func(l *NodeSample) { l.Nodes[1].UID = "3" }), readySampleWith(func(l *NodeSample) { l.Nodes[1].UID = "3" })}, []int{1, 1, 2}, true, ""},
		{"another node", []NodeSample{readySample(), {Nodes: Nodes{readyNode("a", "1"), readyNode("c", "2")}}}, []int{1, 1}, false, "b disappeared; c joined"},
		{"late join", []NodeSample{readySampleWith(func(l *NodeSample) { l.Nodes = l.Nodes[:1] }), readySample()}, []int{0, 1}, false, ""},
		{"one too many", []NodeSample{readySample(), readySampleWith(func(l *NodeSample) { l.Nodes = append(l.Nodes, readyNode("c", "3")) })}, []int{1, 0}, false, "3 nodes, want 2: a, b, c; c joined"},
		{"cordoned", []NodeSample{readySample(), readySampleWith(func(l *NodeSample) { l.Nodes[0].Cordoned = true })}, []int{1, 0}, false, "a is cordoned"},
		{"flaps", []NodeSample{readySample(), readySampleWith(func(l *NodeSample) { l.Nodes[0].Ready = false }), readySample(), readySample()}, []int{1, 0, 1, 2}, true, ""},
		{"not Ready", []NodeSample{readySampleWith(func(l *NodeSample) { l.Nodes[1].Ready = false })}, []int{0}, false, "b is not Ready"},
		{"a GPU short", []NodeSample{readySampleWith(func(l *NodeSample) { l.Nodes[1].GPUs = 7 })}, []int{0}, false, "b has 7 GPUs, want 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var s ReadyResult
			for i, l := range tt.looks {
				s = JudgeReady(s.ReadyCount, l, wantReady)
				if s.Checks != tt.passes[i] {
					t.Errorf("look %d: %d passes, want %d: %v", i+1, s.Checks, tt.passes[i], s.Reasons)
				}
			}
			if reason := strings.Join(s.Reasons, "; "); s.Ready != tt.ready || !strings.Contains(reason, tt.why) || tt.why == "" && reason != "" {
				t.Errorf("ready %v because of %q, want %v, %q", s.Ready, reason, tt.ready, tt.why)
			}
		})
	}
}

func TestNothingIsNoExpectation(t *testing.T) {
	t.Parallel()
	for _, e := range []ReadyExpectation{{0, 8, 2}, {2, 0, 2}, {2, 8, 0}, {-1, 8, 1}} {
		if err := e.Validate(); !errors.Is(err, ErrEmptyExpectation) {
			t.Errorf("%+v: %v", e, err)
		}
		if s := JudgeReady(ReadyCount{Checks: 9}, NodeSample{Nodes: Nodes{}}, e); s.Ready || s.Checks > 0 || len(s.Reasons) == 0 {
			t.Errorf("%+v is met by nothing: %+v", e, s)
		}
	}
}

// The least deployment that can be expected is one node with one GPU, seen once.
func TestTheLeastExpectation(t *testing.T) {
	t.Parallel()
	least := ReadyExpectation{Nodes: 1, GPUs: 1, Checks: 1}
	if err := least.Validate(); err != nil {
		t.Error(err)
	}
	sample := NodeSample{Nodes: Nodes{{Name: "a", UID: "1", Ready: true, GPUs: 1}}}
	if s := JudgeReady(ReadyCount{}, sample, least); !s.Ready || s.Checks != 1 || len(s.Reasons) > 0 {
		t.Errorf("%+v", s)
	}
}

// The reasons are all defects of the sample, then the nodes that changed since the sample before,
// by name; nodes that were not read have not changed.
func TestReasonsOfASample(t *testing.T) {
	t.Parallel()
	before := ReadyCount{Checks: 1, Nodes: readySample().Nodes}
	for name, tt := range map[string]struct {
		before ReadyCount
		sample NodeSample
		want   []string
	}{
		"not read":                    {before, NodeSample{}, []string{"the nodes were not read"}},
		"an error":                    {before, NodeSample{Error: "refused"}, []string{"refused"}},
		"an error of the extra check": {before, readySampleWith(func(l *NodeSample) { l.Error = "3 of 4 pods" }), []string{"3 of 4 pods"}},
		"no nodes":                    {before, NodeSample{Nodes: Nodes{}}, []string{"0 nodes, want 2: none", "a disappeared", "b disappeared"}},
		"names in order":              {ReadyCount{}, NodeSample{Nodes: Nodes{readyNode("c", "3"), readyNode("a", "1"), readyNode("b", "2")}}, []string{"3 nodes, want 2: a, b, c"}},
		"all defects of a node": {before, readySampleWith(func(l *NodeSample) { l.Nodes[1] = Node{Name: "b", UID: "2", Cordoned: true, GPUs: 9} }),
			[]string{"b is not Ready", "b is cordoned", "b has 9 GPUs, want 8"}},
		"the first sample":                   {ReadyCount{}, readySample(), nil},
		"nodes of a sample that was not one": {ReadyCount{Nodes: Nodes{readyNode("c", "3")}}, readySample(), nil},
		"other nodes":                        {before, NodeSample{Nodes: Nodes{readyNode("d", "4"), readyNode("c", "3")}}, []string{"a disappeared", "b disappeared", "c joined", "d joined"}},
	} {
		s := JudgeReady(tt.before, tt.sample, wantReady)
		if !slices.Equal(s.Reasons, tt.want) || s.Ready {
			t.Errorf("%s: %q, want %q", name, s.Reasons, tt.want)
		}
	}
}
