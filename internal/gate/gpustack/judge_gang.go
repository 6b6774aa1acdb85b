package gpustack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

const gangRemedy = "install a gang scheduler (KAI, Volcano, Kueue), or turn on Kubernetes' own in both API server and scheduler " +
	"(feature gates GenericWorkload and GangScheduling, API scheduling.k8s.io/v1alpha2)"

func (g *Gate) judgeGang(b *check.Builder, obs []check.Observation) {
	gang, o, ok := check.Require[gangFigures](b, obs, kindGang, "", "the gang scheduler", readRemedy(obs, kindGang))
	if !ok {
		return
	}
	if len(gang.Detected) == 0 {
		b.Fail(o.ID, "gang scheduler", gangRemedy, "not found (%s): pods of a job would be placed one by one, and two jobs can block each other's GPUs indefinitely", g.stack.GangScheduler)
		return
	}
	usage, usageObs, ok := check.Require[usageFigures](b, obs, kindUsage, "", "the free GPUs", readRemedy(obs, kindUsage))
	if !ok {
		return
	}
	if r := g.roomIn(usage.Nodes); r.fits == 0 {
		b.Unobserved(usageObs.ID, "free GPUs", "run the gate when the GPUs are free; the finding lists the pods that hold them", "no node of the inventory has all its GPUs free, so no gang could be placed to prove the scheduler%s", holders(usage))
		return
	}
	if g.judgeTooLarge(b, obs, gang.Used) {
		g.judgeFits(b, obs, gang.Used)
	}
}

// judgeTooLarge is the negative proof: no pod of a gang that does not fit is placed.
func (g *Gate) judgeTooLarge(b *check.Builder, obs []check.Observation, scheduler string) (held bool) {
	p, o, ok := check.Require[proofFigures](b, obs, kindProof, targetTooLarge, targetTooLarge, readRemedy(obs, kindProof))
	if !ok {
		return false
	}
	pl := p.Placement
	b.Figure(check.Figure{
		Name: "pods placed of a gang that does not fit", Value: float64(pl.Bound), Unit: "pods", Limit: 0, Relation: "==", Source: "gang scheduling is all or nothing",
	})
	suspect := "gang scheduler " + scheduler
	switch {
	case pl.Wanted <= p.Fits:
		b.Unobserved(o.ID, suspect, "run the gate again", "the gang of %d pods fits, %d pods would: it proves nothing", pl.Wanted, p.Fits)
	case pl.Bound >= pl.Wanted:
		b.Unobserved(o.ID, suspect, "run the gate again", "all %d pods were placed where %d fit: GPUs were released meanwhile", pl.Wanted, p.Fits)
	case pl.Bound > 0:
		b.Fail(o.ID, suspect, "check that the scheduler of these pods runs and supports the group: for Kubernetes' own, feature gate GangScheduling on kube-scheduler too", "placed %d of %d pods of a gang of which %d fit: it does not schedule gangs as a whole (%s)",
			pl.Bound, pl.Wanted, p.Fits, places(pl.Nodes))
	case p.Undecided != "" || (pl.Refused == 0 && !pl.GroupRefused):
		b.Unobserved(o.ID, suspect, "read the log of the scheduler of the pods", "no decision about a gang that does not fit was observed: %s", p.Undecided)
	default:
		return true
	}
	return false
}

// judgeFits is the positive proof: all pods of a gang that fits are placed.
func (g *Gate) judgeFits(b *check.Builder, obs []check.Observation, scheduler string) {
	p, o, ok := check.Require[proofFigures](b, obs, kindProof, targetFits, targetFits, readRemedy(obs, kindProof))
	if !ok {
		return
	}
	pl := p.Placement
	b.Figure(check.Figure{
		Name: "pods placed of a gang that fits", Value: float64(pl.Bound), Unit: "pods", Limit: float64(pl.Wanted), Relation: "==", Source: "gang scheduling is all or nothing",
	})
	suspect := "gang scheduler " + scheduler
	switch {
	case pl.Wanted < 1 || pl.Bound > pl.Wanted:
		b.Unobserved(o.ID, suspect, "run the gate again", "invalid placement: %d of %d pods placed", pl.Bound, pl.Wanted)
	case pl.Bound == pl.Wanted && len(pl.Nodes) != pl.Bound:
		b.Unobserved(o.ID, suspect, "run the gate again", "only %d nodes are known for %d placed pods", len(pl.Nodes), pl.Bound)
	case pl.Bound == pl.Wanted:
		g.judgeDNS(b, obs, pl.Nodes)
	case p.FitsAfter < p.Fits:
		b.Unobserved(o.ID, suspect, "run the gate when the GPUs are free", "placed %d of %d pods, but other pods took the GPUs of %d of them meanwhile", pl.Bound, pl.Wanted, p.Fits-p.FitsAfter)
	default:
		b.Fail(o.ID, suspect, "read the scheduler's messages about the pods; for a queue, check that its quota covers every GPU", "placed %d of %d pods of a gang that fits: %s", pl.Bound, pl.Wanted, strings.Join(append(pl.Messages, p.Undecided), "; "))
	}
}

func places(nodes map[string]string) string {
	var out []string
	for pod, node := range nodes {
		out = append(out, pod+" on "+node)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
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
