package readiness

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/hook"
)

var want = Expect{Nodes: 2, GPUs: 8, Passes: 2}

func node(name, uid string) hook.Node { return hook.Node{Name: name, UID: uid, Ready: true, GPUs: 8} }

func good() Look { return Look{Nodes: hook.Nodes{node("a", "1"), node("b", "2")}} }

func with(f func(*Look)) Look {
	l := good()
	f(&l)
	return l
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		looks  []Look
		passes []int
		ready  bool   // at the end
		why    string // of the last
	}{
		{"ready", []Look{good(), good()}, []int{1, 2}, true, ""},
		{"in another order", []Look{good(), with(func(l *Look) { l.Nodes[0], l.Nodes[1] = l.Nodes[1], l.Nodes[0] })}, []int{1, 2}, true, ""},
		{"not yet", []Look{good()}, []int{1}, false, ""},
		{"no nodes", []Look{{Nodes: hook.Nodes{}}}, []int{0}, false, "0 nodes of 2: none"},
		{"no census", []Look{{}}, []int{0}, false, "there was no census"},
		{"an error", []Look{good(), {Err: "refused"}, good()}, []int{1, 0, 1}, false, ""},
		{"what else was asked for", []Look{good(), with(func(l *Look) { l.Err = "deployment: 3 of 4 pods" })}, []int{1, 0}, false, "3 of 4 pods"},
		{"replaced", []Look{good(), with(func(l *Look) { l.Nodes[1].UID = "3" })}, []int{1, 1}, false, "b was replaced by another of the same name"},
		{"replaced, and then it stays", []Look{good(), with(func(l *Look) { l.Nodes[1].UID = "3" }), with(func(l *Look) { l.Nodes[1].UID = "3" })}, []int{1, 1, 2}, true, ""},
		{"another node", []Look{good(), {Nodes: hook.Nodes{node("a", "1"), node("c", "2")}}}, []int{1, 1}, false, "b is gone; c joined"},
		{"late join", []Look{with(func(l *Look) { l.Nodes = l.Nodes[:1] }), good()}, []int{0, 1}, false, ""},
		{"one too many", []Look{good(), with(func(l *Look) { l.Nodes = append(l.Nodes, node("c", "3")) })}, []int{1, 0}, false, "3 nodes of 2: a, b, c; c joined"},
		{"cordoned", []Look{good(), with(func(l *Look) { l.Nodes[0].Cordoned = true })}, []int{1, 0}, false, "a is cordoned"},
		{"flaps", []Look{good(), with(func(l *Look) { l.Nodes[0].Ready = false }), good(), good()}, []int{1, 0, 1, 2}, true, ""},
		{"not Ready", []Look{with(func(l *Look) { l.Nodes[1].Ready = false })}, []int{0}, false, "b is not Ready"},
		{"a GPU short", []Look{with(func(l *Look) { l.Nodes[1].GPUs = 7 })}, []int{0}, false, "b has 7 GPUs of 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var s Step
			for i, l := range tt.looks {
				s = Judge(s.Count, l, want)
				if s.Passes != tt.passes[i] {
					t.Errorf("look %d: %d passes, want %d: %v", i+1, s.Passes, tt.passes[i], s.Why)
				}
			}
			if why := strings.Join(s.Why, "; "); s.Ready != tt.ready || !strings.Contains(why, tt.why) || tt.why == "" && why != "" {
				t.Errorf("ready %v because of %q, want %v, %q", s.Ready, why, tt.ready, tt.why)
			}
		})
	}
}

func TestNothingIsNoExpectation(t *testing.T) {
	t.Parallel()
	for _, e := range []Expect{{0, 8, 2}, {2, 0, 2}, {2, 8, 0}, {-1, 8, 1}} {
		if err := e.Validate(); !errors.Is(err, ErrNothing) {
			t.Errorf("%+v: %v", e, err)
		}
		if s := Judge(Count{Passes: 9}, Look{Nodes: hook.Nodes{}}, e); s.Ready || s.Passes > 0 || len(s.Why) == 0 {
			t.Errorf("%+v is met by nothing: %+v", e, s)
		}
	}
}
