package ray

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

// Raylets belong to pods by address and role: pods of the host's network share an address. A pod that terminates is
// known.
func TestRayletsOfPods(t *testing.T) {
	t.Parallel()
	s, p := raySite(t)
	g := New(s, p, Deps{RunID: "r1"})
	a, b := g.nodes[0], g.nodes[1]
	alive := func(id, address string, head bool, gpus float64) probe.Node {
		return probe.Node{ID: id, Address: address, Head: head, State: probe.Alive, GPUs: gpus}
	}
	head := podFigures{Name: "head", UID: "u0", Head: true, Node: a, Address: "10.1.0.1", Ready: true}
	one := podFigures{Name: "one", UID: "u1", Node: a, Address: "10.1.0.1", GPUs: 8, Ready: true}
	two := podFigures{Name: "two", UID: "u2", Node: b, Address: "10.1.0.2", GPUs: 8, Ready: true}
	old := podFigures{Name: "old", UID: "u3", Node: b, Address: "10.1.0.2", GPUs: 8, Terminating: true}
	cpu := podFigures{Name: "cpu", UID: "u4", Node: "system-01", Address: "10.1.0.3", Ready: true}
	away := old
	away.Address = "10.1.0.4"
	raylets := []probe.Node{alive("n0", "10.1.0.1", true, 0), alive("n1", "10.1.0.1", false, 8), alive("n2", "10.1.0.2", false, 8)}
	for name, tt := range map[string]struct {
		pods          []podFigures
		nodes         []probe.Node
		suspect, want string
		verdict       check.Verdict
	}{
		"head and worker of one host":                {pods: []podFigures{head, one, two}, nodes: raylets},
		"a terminating pod of the host's network":    {pods: []podFigures{head, one, two, old}, nodes: raylets},
		"a terminating pod without a raylet":         {pods: []podFigures{head, one, two, away}, nodes: raylets},
		"a terminating pod whose raylet has GPUs":    {[]podFigures{head, one, two, away}, append([]probe.Node{alive("n4", "10.1.0.4", false, 8)}, raylets...), "pod old", "terminates", check.Unobserved},
		"the worker of the head's host is missing":   {[]podFigures{head, one, two}, []probe.Node{raylets[0], raylets[2]}, a, "not registered", check.Failed},
		"the head has the GPUs of the worker":        {[]podFigures{head, one, two}, []probe.Node{alive("n0", "10.1.0.1", true, 8), raylets[1], raylets[2]}, "pod head", "which requests 0", check.Failed},
		"a CPU worker without GPUs":                  {pods: []podFigures{head, one, two, cpu}, nodes: append([]probe.Node{alive("n3", "10.1.0.3", false, 0)}, raylets...)},
		"a CPU worker with num-gpus":                 {[]podFigures{head, one, two, cpu}, append([]probe.Node{alive("n3", "10.1.0.3", false, 2)}, raylets...), "pod cpu", "Ray has 2 GPUs", check.Failed},
		"the second raylet of an address has GPUs":   {[]podFigures{head, one, two}, append([]probe.Node{alive("n8", "10.1.0.9", false, 0), alive("n9", "10.1.0.9", false, 4)}, raylets...), "Ray node 10.1.0.9", "has 4 GPUs", check.Failed},
		"two raylets of one pod with half its GPUs":  {[]podFigures{head, one, two}, []probe.Node{raylets[0], raylets[1], alive("n2", "10.1.0.2", false, 4), alive("n3", "10.1.0.2", false, 4)}, b, "2 raylets", check.Failed},
		"a CPU worker of the same host offers more":  {[]podFigures{head, one, two, {Name: "cpu", UID: "u5", Node: b, Address: "10.1.0.2", Ready: true}}, append([]probe.Node{alive("n3", "10.1.0.2", false, 2)}, raylets...), b, "Ray has 10 GPUs", check.Failed},
		"a CPU worker of the same host offers none":  {pods: []podFigures{head, one, two, {Name: "cpu", UID: "u5", Node: b, Address: "10.1.0.2", Ready: true}}, nodes: append([]probe.Node{alive("n3", "10.1.0.2", false, 0)}, raylets...)},
		"the raylet of a worker has died, with text": {[]podFigures{head, one, two}, []probe.Node{raylets[0], raylets[1], {ID: "n2", Address: "10.1.0.2", State: "DEAD", Message: "lost"}}, b, "is DEAD lost", check.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var builder check.Builder
			g.judgeNodes(&builder, "id", tt.nodes, tt.pods)
			j := builder.Judgement("")
			if tt.suspect == "" {
				if !builder.Clean() {
					t.Errorf("%+v", j.Findings)
				}
				return
			}
			if j.Verdict != tt.verdict || len(j.Findings) != 1 || j.Findings[0].Suspect != tt.suspect || !strings.Contains(j.Findings[0].Message, tt.want) {
				t.Errorf("%s: %+v, want %s, %q", j.Verdict, j.Findings, tt.suspect, tt.want)
			}
		})
	}
}
