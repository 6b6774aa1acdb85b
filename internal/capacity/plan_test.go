package capacity

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

func TestPlanOfAnAddition(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	a, err := base(t, s.NodeNames()[0]).Add(s, p, file(t, "nodes: [{name: new-01}, {name: "+s.NodeNames()[0]+"}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Plan(s, p, a, gate.Access{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, step := range got.Steps {
		names = append(names, step.Name())
		if i > 0 && !slices.Equal(step.Needs, names[i-1:i]) {
			t.Errorf("%s needs %v", step.Name(), step.Needs)
		}
	}
	if !slices.Equal(names, Steps()) || got.AllowFailed != 2 {
		t.Errorf("%v, %d", names, got.AllowFailed)
	}
	gpus := int(p.Node.GPUs.Value)
	if got.Steps[2].GPUs != 4*gpus || got.Steps[3].GPUs != (len(s.NodeNames())+1)*gpus {
		t.Errorf("claims %d and %d GPUs", got.Steps[2].GPUs, got.Steps[3].GPUs)
	}
	all := a.SiteOf(s)
	if all.Inventory.DriverVersion != "580.105.08" || slices.Contains(all.Inventory.LeftOut, s.NodeNames()[0]) || len(all.NodeNames()) != len(s.NodeNames())+1 {
		t.Errorf("%+v", all.Inventory)
	}
	for i, n := range []int{2, 2, 2} { // only new nodes are left out
		l, ok := got.Steps[i].Check.(plan.Localising)
		if !ok || len(l.Nodes()) != n || !slices.Contains(l.Nodes(), "new-01") {
			t.Errorf("%s localises %v", names[i], l)
		}
	}
	if _, ok := got.Steps[3].Check.(plan.Localising); ok {
		t.Error("gate collective leaves out nodes")
	}
	rest, ok := got.Steps[3].Check.(plan.Excluding)
	if !ok {
		t.Fatal("gate collective excludes no nodes")
	}
	if j := rest.Excluding([]string{"new-01", s.NodeNames()[0]}).Judge(nil); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "no new node") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func TestPlannedAddition(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	a, err := Planned(s, p, file(t, "nodes: [{name: new-01}, {name: "+s.NodeNames()[0]+"}]\n"))
	if err != nil || !slices.Equal(a.To.Nodes, s.NodeNames()[1:]) {
		t.Error(a, err)
	}
	one := *s
	one.Spine = site.SpineSingleNode
	if _, err := Planned(&one, p, file(t, newNode)); err == nil {
		t.Error("a machine without a cluster")
	}
}

func TestCordon(t *testing.T) {
	t.Parallel()
	all := &site.Site{Inventory: site.Inventory{Nodes: []site.Node{{Name: "old"}, {Name: "new-01"}, {Name: "new-02"}}}}
	healthy := func() map[string]*corev1.Node {
		out := map[string]*corev1.Node{}
		for _, name := range []string{"old", "new-01", "new-02", "system"} {
			out[name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Unschedulable: strings.HasPrefix(name, "new")}}
			out[name].Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		}
		return out
	}
	for name, tt := range map[string]struct {
		notCordoned string
		change      func(map[string]*corev1.Node)
		verdict     check.Verdict
		suspect     string
		says        string
	}{
		"healthy":             {"", func(map[string]*corev1.Node) {}, check.Passed, "", "2 new nodes Ready and cordoned, 1 accepted nodes in service"},
		"one is not cordoned": {"", func(n map[string]*corev1.Node) { n["new-01"].Spec.Unschedulable = false }, check.Partial, "new-01", "is not cordoned"},
		"it need not be":      {"the provider", func(n map[string]*corev1.Node) { n["new-01"].Spec.Unschedulable = false }, check.Passed, "", "not required to be cordoned"},
		"none is cordoned": {"", func(n map[string]*corev1.Node) {
			n["new-01"].Spec.Unschedulable, n["new-02"].Spec.Unschedulable = false, false
		}, check.Failed, "new-02", "is not cordoned"},
		"one is missing":                 {"", func(n map[string]*corev1.Node) { delete(n, "new-02") }, check.Partial, "new-02", "is not in the cluster"},
		"one is not Ready":               {"", func(n map[string]*corev1.Node) { n["new-02"].Status.Conditions = nil }, check.Partial, "new-02", "is not Ready"},
		"an accepted one is cordoned":    {"", func(n map[string]*corev1.Node) { n["old"].Spec.Unschedulable = true }, check.Failed, "old", "is not in service"},
		"an accepted one, and a new one": {"", func(n map[string]*corev1.Node) { delete(n, "old"); delete(n, "new-02") }, check.Failed, "old", "is not in service"},
		"no node":                        {"", func(n map[string]*corev1.Node) { clear(n) }, check.Failed, "old", "is not in service"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := healthy()
			tt.change(nodes)
			client := fake.NewClientset()
			for _, n := range nodes {
				if err := client.Tracker().Add(n); err != nil {
					t.Fatal(err)
				}
			}
			c := cordon{site: all, addition: Addition{To: Base{Nodes: []string{"old"}}, NotCordoned: tt.notCordoned}, cluster: func(context.Context) (*kube.Cluster, error) { return &kube.Cluster{Client: client}, nil }}
			rec := &recorder{}
			if err := c.Observe(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			j := plan.JudgePart(c, playbook.Expected{}, rec.obs, nil, 2)
			if j.Verdict != tt.verdict || len(j.Lowered) > 0 != (tt.notCordoned != "") {
				t.Errorf("%s: %s, lowered %v", j.Verdict, j.Reason, j.Lowered)
			}
			found := tt.suspect == "" && strings.Contains(j.Reason, tt.says)
			for _, f := range j.Findings {
				found = found || f.Suspect == tt.suspect && strings.Contains(f.Message, tt.says) && f.Remedy != ""
			}
			if !found {
				t.Errorf("%s %+v", j.Reason, j.Findings)
			}
		})
	}
	c := cordon{site: all, addition: Addition{To: Base{Nodes: []string{"old"}}}}
	if j := c.Judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("nothing observed: %s", j.Verdict)
	}
	if err := c.Observe(t.Context(), &recorder{}); err == nil {
		t.Error("no cluster, no error")
	}
}

type recorder struct{ obs []check.Observation }

func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	o.ID = "0001-nodes"
	r.obs = append(r.obs, o)
	return o, nil
}

func (r *recorder) Progress(string, ...any) {}
