package gpustack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

const gangRemedy = "install a gang scheduler (KAI, Volcano, Kueue), or turn on Kubernetes' own in both API server and scheduler " +
	"(feature gates GenericWorkload and GangScheduling, API scheduling.k8s.io/v1alpha2)"

func (g *Gate) judgeGang(c *conclusions, obs []check.Observation) {
	o, gang, ok := one[gangFigures](c, obs, kindGang, "the gang scheduler")
	if !ok {
		return
	}
	if len(gang.Detected) == 0 {
		c.fail(o, "gang scheduler", fmt.Sprintf("none is there (looked for %s): pods of a job would be placed one by one, and two jobs can hold each other's GPUs for ever", g.stack.GangScheduler), gangRemedy)
		return
	}
	usageObs, usage, ok := one[usageFigures](c, obs, kindUsage, "the free GPUs")
	if !ok {
		return
	}
	if r := g.roomIn(usage.Nodes); r.fits == 0 {
		c.missing(usageObs, "free GPUs", "no node of the inventory has all its GPUs free, so no gang could be placed to prove the scheduler"+holders(usage),
			"run the gate when the GPUs are free; what holds them is named here")
		return
	}
	if g.judgeTooLarge(c, obs, gang.Used) {
		g.judgeFits(c, obs, gang.Used)
	}
}

// judgeTooLarge is the negative proof: nobody of a gang that does not fit.
func (g *Gate) judgeTooLarge(c *conclusions, obs []check.Observation, scheduler string) (held bool) {
	o, p, ok := proof(c, obs, targetTooLarge)
	if !ok {
		return false
	}
	pl := p.Placement
	c.figures = append(c.figures, check.Figure{
		Name: "pods placed of a gang that does not fit", Value: float64(pl.Bound), Unit: "pods", Limit: 0, Relation: "==", Source: "gang scheduling is all or nothing",
	})
	suspect := "gang scheduler " + scheduler
	switch {
	case pl.Wanted <= p.Fits:
		c.missing(o, suspect, fmt.Sprintf("the gang of %d pods fits into room for %d: it proves nothing", pl.Wanted, p.Fits), "run the gate again")
	case pl.Bound >= pl.Wanted:
		c.missing(o, suspect, fmt.Sprintf("all %d pods found a place on room for %d: GPUs were given back meanwhile", pl.Wanted, p.Fits), "run the gate again")
	case pl.Bound > 0:
		c.fail(o, suspect, fmt.Sprintf("placed %d of %d pods of a gang for which there was room for %d: it does not keep gangs together (%s)",
			pl.Bound, pl.Wanted, p.Fits, places(pl.Nodes)),
			"see that the scheduler that these pods name runs and heeds the group: for Kubernetes' own, feature gate GangScheduling on kube-scheduler too")
	case p.Undecided != "" || (pl.Refused == 0 && !pl.GroupRefused):
		c.missing(o, suspect, "no decision about a gang that does not fit was seen: "+p.Undecided, "look at the log of the scheduler that the pods name")
	default:
		return true
	}
	return false
}

// judgeFits is the positive proof: all of a gang that fits.
func (g *Gate) judgeFits(c *conclusions, obs []check.Observation, scheduler string) {
	o, p, ok := proof(c, obs, targetFits)
	if !ok {
		return
	}
	pl := p.Placement
	c.figures = append(c.figures, check.Figure{
		Name: "pods placed of a gang that fits", Value: float64(pl.Bound), Unit: "pods", Limit: float64(pl.Wanted), Relation: "==", Source: "gang scheduling is all or nothing",
	})
	suspect := "gang scheduler " + scheduler
	switch {
	case pl.Wanted < 1 || pl.Bound > pl.Wanted:
		c.missing(o, suspect, fmt.Sprintf("%d of %d pods placed: this can't be", pl.Bound, pl.Wanted), "run the gate again")
	case pl.Bound == pl.Wanted && len(pl.Nodes) != pl.Bound:
		c.missing(o, suspect, fmt.Sprintf("only %d nodes are known of %d pods that were placed", len(pl.Nodes), pl.Bound), "run the gate again")
	case pl.Bound == pl.Wanted:
		g.judgeDNS(c, obs, pl.Nodes)
	case p.FitsAfter < p.Fits:
		c.missing(o, suspect, fmt.Sprintf("placed %d of %d pods, but room for %d of them was taken by others meanwhile", pl.Bound, pl.Wanted, p.Fits-p.FitsAfter), "run the gate when the GPUs are free")
	default:
		c.fail(o, suspect, fmt.Sprintf("placed %d of %d pods of a gang for which there was room: %s", pl.Bound, pl.Wanted, strings.Join(append(pl.Messages, p.Undecided), "; ")),
			"see what the scheduler says about the pods; for a queue, see that its quota covers every GPU")
	}
}

// proof finds the only proof of a target.
func proof(c *conclusions, obs []check.Observation, target string) (check.Observation, proofFigures, bool) {
	found := slices.DeleteFunc(check.OfKind(obs, kindProof), func(o check.Observation) bool { return o.Target != target })
	return one[proofFigures](c, found, kindProof, target)
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
