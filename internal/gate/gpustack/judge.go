package gpustack

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// conclusions gathers what the parts of the judgement say.
type conclusions struct {
	wrong   []check.Finding
	unseen  []check.Finding
	figures []check.Figure
	// remark belongs to the reason of a pass.
	remark string
}

func (c *conclusions) fail(o check.Observation, suspect, message, remedy string) {
	c.wrong = append(c.wrong, finding(o, suspect, message, remedy))
}

func (c *conclusions) missing(o check.Observation, suspect, message, remedy string) {
	c.unseen = append(c.unseen, finding(o, suspect, message, remedy))
}

func finding(o check.Observation, suspect, message, remedy string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if o.ID != "" {
		f.Observations = []string{o.ID}
	}
	return f
}

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	var c conclusions
	if len(g.nodes) == 0 {
		return check.CouldNotObserve("the site's inventory has no GPU nodes")
	}
	if o, policy, ok := one[policyFigures](&c, obs, kindPolicy, "the GPU Operator's ClusterPolicy"); ok {
		g.judgePolicy(&c, o, policy)
	}
	if o, nodes, ok := one[[]nodeFigures](&c, obs, KindNodes, "the nodes"); ok {
		g.judgeNodes(&c, o, nodes)
	}
	if o, operands, ok := one[[]operandFigures](&c, obs, kindOperands, "the operator's DaemonSets"); ok {
		g.judgeOperands(&c, o, operands)
	}
	g.judgeGang(&c, obs)
	return c.judgement(len(g.nodes))
}

func (c *conclusions) judgement(nodes int) check.Judgement {
	j := check.Judgement{Figures: c.figures, Findings: append(c.wrong, c.unseen...)}
	switch {
	case len(c.wrong) > 0:
		j.Verdict, j.Reason = check.Failed, summary(c.wrong)
	case len(c.unseen) > 0:
		j.Verdict, j.Reason = check.Unobserved, summary(c.unseen)
	default:
		j.Verdict = check.Passed
		j.Reason = fmt.Sprintf("ClusterPolicy reconciled, all resources of %d nodes allocatable, gang scheduler proven%s", nodes, c.remark)
	}
	return j
}

// summary names the first finding and counts the rest.
func summary(findings []check.Finding) string {
	text := findings[0].Suspect + ": " + findings[0].Message
	if more := len(findings) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// one decodes the only observation of a kind. Any other number of them is no
// observation at all.
func one[T any](c *conclusions, obs []check.Observation, kind, what string) (check.Observation, T, bool) {
	var figures T
	found := check.OfKind(obs, kind)
	if len(found) != 1 {
		c.missing(check.Observation{}, what, fmt.Sprintf("%d observations of kind %s instead of one", len(found), kind), "run the gate again")
		return check.Observation{}, figures, false
	}
	figures, err := check.Decode[T](found[0])
	if err != nil {
		c.missing(found[0], what, "could not be read: "+err.Error(), remedyFor(found[0].Err))
		return found[0], figures, false
	}
	return found[0], figures, true
}

// remedyFor says what to do about a read that failed.
func remedyFor(err string) string {
	if strings.Contains(err, "forbidden") {
		return "give the user of this kubeconfig the permissions that firstlight's RBAC lists"
	}
	if strings.Contains(err, "gpustack.queue") {
		return "set gpustack.queue in the site file to a queue that may use every GPU"
	}
	return "make the API server reachable with this kubeconfig, then run the gate again"
}
