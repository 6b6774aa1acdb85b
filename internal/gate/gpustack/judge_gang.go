package gpustack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/workload"
	"github.com/firstlight/firstlight/internal/workload/gangproof"
)

const gangRemedy = "install a gang scheduler (KAI, Volcano, Kueue), or turn on Kubernetes' own in both API server and scheduler " +
	"(feature gate GenericWorkload and API scheduling.k8s.io/v1beta1; in Kubernetes 1.36 GenericWorkload, GangScheduling and scheduling.k8s.io/v1alpha2)"

// judgeGang returns the number of pods of the gang that was placed.
func (g *Gate) judgeGang(b *check.Builder, obs []check.Observation) (placed int) {
	gang, o, ok := check.Require[gangFigures](b, obs, kindGang, "", "the gang scheduler", readRemedy(obs, kindGang))
	if !ok {
		return 0
	}
	if len(gang.Detected) == 0 {
		b.Fail(o.ID, "gang scheduler", gangRemedy, "not found (%s): pods of a job would be placed one by one, and two jobs can block each other's GPUs indefinitely", g.stack.GangScheduler)
		return 0
	}
	if gang.NoQueue != "" {
		b.Unobserved(o.ID, "gang scheduler "+gang.Used, "set gpustack.queue in the site file to a queue that may use every GPU", "was not proven: %s", gang.NoQueue)
		return 0
	}
	if gang.NoKind != "" {
		b.Unobserved(o.ID, "gang scheduler "+gang.Used, "correct gpustack.jobKind in the site file, or install the operator of the kind", "was not proven: %s", gang.NoKind)
		return 0
	}
	usage, usageObs, ok := check.Require[usageFigures](b, obs, kindUsage, "", "the free GPUs", readRemedy(obs, kindUsage))
	if !ok {
		return 0
	}
	r := g.roomIn(usage.Nodes)
	if r.Fits == 0 {
		b.Unobserved(usageObs.ID, "free GPUs", "run the gate when the GPUs are free; the finding lists the pods that hold them", "no node of the inventory has all its GPUs free, so no gang could be placed to prove the scheduler%s", holders(usage))
		return 0
	}
	large, _, ok := g.proof(b, obs, targetTooLarge, gang, r, r.GPUsPerPod)
	if !ok || !large.TooLarge(b, r) {
		return 0
	}
	_, gpus := r.Fitting()
	fits, p, ok := g.proof(b, obs, targetFits, gang, r, gpus)
	if !ok || g.judgeRefused(b, obs, fits, r, p.FitsAfter) || !fits.Fits(b, r, p.FitsAfter) {
		return 0
	}
	g.judgeDNS(b, obs, fits.Placement.Nodes)
	return fits.Placement.Bound
}

// proof reads the placement of a gang, which must be of this scheduler, kind and room.
func (g *Gate) proof(b *check.Builder, obs []check.Observation, target string, gang gangFigures, r gangproof.Room, gpus int) (gangproof.Proof, proofFigures, bool) {
	scheduler := gang.Used
	p, o, ok := check.Require[proofFigures](b, obs, kindProof, target, target, readRemedy(obs, kindProof))
	if !ok {
		return gangproof.Proof{}, proofFigures{}, false
	}
	out := gangproof.Proof{
		ID: o.ID, Scheduler: g.gangSuspect(scheduler), Controller: "controller of " + workload.KindResource(gang.Kind),
		Placement: p.Placement, Undecided: p.Undecided,
	}
	if p.Webhook != "" {
		b.Fail(o.ID, p.Webhook, "start the program that serves the webhook, or remove the webhook if it is not needed", "does not answer, so no gang can be created: %s", p.Undecided)
		return gangproof.Proof{}, proofFigures{}, false
	}
	if p.Kind != gang.Kind {
		b.Unobserved(o.ID, out.Scheduler, "run the gate again", "the proof is of gangs of kind %q, want %q", p.Kind, gang.Kind)
		return gangproof.Proof{}, proofFigures{}, false
	}
	if p.Scheduler != scheduler || p.Fits != r.Fits || p.GPUsPerPod != gpus {
		b.Unobserved(o.ID, out.Scheduler, "run the gate again", "the proof is of scheduler %q and pods with %d GPUs where %d fit, want %q, %d GPUs and %d pods", p.Scheduler, p.GPUsPerPod, p.Fits, scheduler, gpus, r.Fits)
		return gangproof.Proof{}, proofFigures{}, false
	}
	return out, p, true
}

// gangSuspect is a gang scheduler with the queue that its gangs are in.
func (g *Gate) gangSuspect(scheduler string) string {
	suspect := "gang scheduler " + scheduler
	if scheduler == "native" || g.stack.Queue == "" {
		return suspect
	}
	return suspect + ", queue " + g.stack.Queue
}

// holders lists the pods that hold GPUs.
func holders(u usageFigures) string {
	var out []string
	for node, usage := range u.Nodes {
		for _, h := range usage.Holders {
			out = append(out, fmt.Sprintf("%s: %s/%s holds %d", node, h.Namespace, h.Pod, h.Count))
		}
	}
	if len(out) == 0 {
		return ""
	}
	slices.Sort(out)
	return " (" + strings.Join(out, "; ") + ")"
}
