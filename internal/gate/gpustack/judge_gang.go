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
		b.Fail(o.ID, "gang scheduler", gangRemedy, "none is there (looked for %s): pods of a job would be placed one by one, and two jobs can hold each other's GPUs for ever", g.stack.GangScheduler)
		return
	}
	usage, usageObs, ok := check.Require[usageFigures](b, obs, kindUsage, "", "the free GPUs", readRemedy(obs, kindUsage))
	if !ok {
		return
	}
	if r := g.roomIn(usage.Nodes); r.fits == 0 {
		b.Unobserved(usageObs.ID, "free GPUs", "run the gate when the GPUs are free; what holds them is named here", "no node of the inventory has all its GPUs free, so no gang could be placed to prove the scheduler%s", holders(usage))
		return
	}
	if g.judgeTooLarge(b, obs, gang.Used) {
		g.judgeFits(b, obs, gang.Used)
	}
}

// judgeTooLarge is the negative proof: nobody of a gang that does not fit.
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
		b.Unobserved(o.ID, suspect, "run the gate again", "the gang of %d pods fits into room for %d: it proves nothing", pl.Wanted, p.Fits)
	case pl.Bound >= pl.Wanted:
		b.Unobserved(o.ID, suspect, "run the gate again", "all %d pods found a place on room for %d: GPUs were given back meanwhile", pl.Wanted, p.Fits)
	case pl.Bound > 0:
		b.Fail(o.ID, suspect, "see that the scheduler that these pods name runs and heeds the group: for Kubernetes' own, feature gate GangScheduling on kube-scheduler too", "placed %d of %d pods of a gang for which there was room for %d: it does not keep gangs together (%s)",
			pl.Bound, pl.Wanted, p.Fits, places(pl.Nodes))
	case p.Undecided != "" || (pl.Refused == 0 && !pl.GroupRefused):
		b.Unobserved(o.ID, suspect, "look at the log of the scheduler that the pods name", "no decision about a gang that does not fit was seen: %s", p.Undecided)
	default:
		return true
	}
	return false
}

// judgeFits is the positive proof: all of a gang that fits.
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
		b.Unobserved(o.ID, suspect, "run the gate again", "%d of %d pods placed: this can't be", pl.Bound, pl.Wanted)
	case pl.Bound == pl.Wanted && len(pl.Nodes) != pl.Bound:
		b.Unobserved(o.ID, suspect, "run the gate again", "only %d nodes are known of %d pods that were placed", len(pl.Nodes), pl.Bound)
	case pl.Bound == pl.Wanted:
		g.judgeDNS(b, obs, pl.Nodes)
	case p.FitsAfter < p.Fits:
		b.Unobserved(o.ID, suspect, "run the gate when the GPUs are free", "placed %d of %d pods, but room for %d of them was taken by others meanwhile", pl.Bound, pl.Wanted, p.Fits-p.FitsAfter)
	default:
		b.Fail(o.ID, suspect, "see what the scheduler says about the pods; for a queue, see that its quota covers every GPU", "placed %d of %d pods of a gang for which there was room: %s", pl.Bound, pl.Wanted, strings.Join(append(pl.Messages, p.Undecided), "; "))
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

// holders names who holds GPUs.
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
