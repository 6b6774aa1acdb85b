package access

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/conclude"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// judgeTogether: the others looked while the one with the claim held its GPU.
func (j *pods) judgeTogether() {
	o, all, ok := conclude.Only[[]trial.Seen](j.k, j.obs, kindTogether, "")
	if !ok {
		return
	}
	first := j.seen[claimant]
	for _, name := range []string{claimant, bystander, asking} {
		before := j.seen[name]
		after, there := ofPod(all, before.UID)
		switch {
		case !there || !after.Runs():
			j.k.Missing(o, "pod "+before.Pod, "it did not run any more when all had said what they see: "+after.State(), "run the check again")
			return
		case name == claimant && (after.Claim == nil || !after.Claim.Allocated || after.Claim.UID != before.Claim.UID):
			j.k.Missing(o, "ResourceClaim of "+before.Pod, "it was not allocated any more when all had said what they see", "run the check again")
			return
		case name != claimant && started(after).Before(started(first)):
			j.k.Missing(o, "pod "+before.Pod, "it was started before the pod with the claim: what it saw says nothing", "run the check again")
			return
		}
	}
	j.k.Shown()
}

// judgeAdmission: what goes around claims is refused, and by pod security.
func judgeAdmission(k *conclude.Conclusions, obs []check.Observation) {
	o, answer, ok := conclude.Only[admission](k, obs, kindAdmission, plain)
	if !ok {
		return
	}
	if !answer.Taken {
		k.Missing(o, "dry run of a pod", "a pod that nothing speaks against is refused, so that refusals say nothing: "+answer.Message, "see who refuses the pod: an admission webhook, a quota, or missing permissions")
		return
	}
	judgeRefusal(k, obs, hostPath, "the host path /dev")
	judgeRefusal(k, obs, privileged, "a privileged container")
}

func judgeRefusal(k *conclude.Conclusions, obs []check.Observation, name, what string) {
	o, answer, ok := conclude.Only[admission](k, obs, kindAdmission, name)
	switch {
	case !ok:
	case answer.Taken:
		k.Fail(o, "pod security", fmt.Sprintf("a pod with %s is taken in a namespace that enforces the level baseline: it sees every device of its node", what),
			"switch the admission plugin PodSecurity on, and take this user out of its exemptions")
	case answer.Code != 403 || !strings.Contains(answer.Message, "PodSecurity"):
		k.Missing(o, "pod security", fmt.Sprintf("a pod with %s is refused, but not by pod security: %s", what, answer.Message), "see who refuses the pod")
	default:
		k.Shown(check.Figure{Name: "pods taken with " + what, Value: 0, Unit: "pods", Limit: 0, Relation: "==", Source: "pod security standard baseline"})
	}
}
