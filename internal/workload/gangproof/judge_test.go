package gangproof

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/workload"
)

// A job has no pods because the API server refuses them: its controller, which created it again and again,
// runs.
func TestDeniedPodsAreNotTheControllers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ denied, suspect string }{
		"a quota":          {`Error creating: pods "g-0-x7k2p" is forbidden: exceeded quota: team, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=0`, "ResourceQuota team"},
		"a webhook":        {`worker pod created failed: admission webhook "validate.kyverno.svc-fail" denied the request: blocked`, "webhook validate.kyverno.svc-fail"},
		"Pod Security":     {`Error creating: pods "g-0-x7k2p" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`, "admission of pods"},
		"a controller off": {"", "controller of mpijobs.kubeflow.org"},
	} {
		b := &check.Builder{}
		p := Proof{ID: "1", Scheduler: "gang scheduler kai", Controller: "controller of mpijobs.kubeflow.org", Undecided: "deadline exceeded",
			Placement: workload.Placement{Wanted: 5, Unstarted: true, Denied: tt.denied}}
		if p.TooLarge(b, Room{Nodes: []string{"a", "b", "c", "d"}, GPUsPerPod: 8, Fits: 4}) {
			t.Errorf("%s: proven", name)
		}
		j := b.Judgement("")
		if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != tt.suspect || !strings.Contains(j.Findings[0].Message, tt.denied) {
			t.Errorf("%s: %+v, want suspect %s", name, j, tt.suspect)
		}
	}
}
