package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
)

// Excluding is a Check of several nodes.
type Excluding interface {
	check.Check
	// Excluding is the same Check without some of its nodes. Its Judge also accepts observations
	// of the whole Check. It is pure.
	Excluding(nodes []string) check.Check
}

// Localising is an Excluding whose findings name nodes: a plan may leave out its failed nodes.
type Localising interface {
	Excluding
	// Nodes are the names of its nodes. The suspect of a finding is of a node if it is the node's
	// name, or begins with it and a slash.
	Nodes() []string
}

// without is a Check without nodes that earlier steps left out.
func without(c check.Check, nodes []string) check.Check {
	if e, ok := c.(Excluding); ok && len(nodes) > 0 {
		return e.Excluding(nodes)
	}
	return c
}

// LeftOut are the nodes that the steps before a step left out, sorted: those that it needs,
// directly or through others.
func (n Needs) LeftOut(step string, results map[string]Result) []string {
	var out []string
	seen := map[string]bool{}
	var add func(step string)
	add = func(step string) {
		for _, need := range n[step] {
			if !seen[need] {
				seen[need] = true
				out = append(out, results[need].LeftOut...)
				add(need)
			}
		}
	}
	add(step)
	slices.Sort(out)
	return slices.Compact(out)
}

// JudgePart is Judge for a plan that leaves out at most allowed failed nodes, of which earlier steps
// left out some. A failure of single nodes is partial if the check passes without them. Every
// node that is left out has failed alone: a node that was not observed is not left out, and
// neither is a failure that has another suspect than a node.
func JudgePart(c check.Check, playbooks playbook.Expected, obs []check.Observation, leftOut []string, allowed int) check.Judgement {
	c, playbooks = without(c, leftOut), playbooks.Without(leftOut)
	whole := judgeStep(c, playbooks, obs)
	l, ok := c.(Localising)
	if !ok || allowed == 0 || whole.Verdict != check.Failed {
		return whole
	}
	failed, part := separate(l, playbooks, obs, whole)
	if len(failed) == 0 {
		return whole
	}
	if n := len(leftOut) + len(failed); n > allowed {
		whole.Reason += fmt.Sprintf(" (%d failed nodes, at most %d may be left out)", n, allowed)
		return whole
	}
	var of []check.Finding
	for _, f := range whole.Findings {
		if slices.Contains(failed, nodeOf(failed, f.Suspect)) {
			of = append(of, f)
		}
	}
	part.Verdict, part.LeftOut, part.Findings = check.Partial, failed, append(of, part.Findings...)
	part.Nodes = len(l.Nodes()) - len(failed)
	part.Reason = fmt.Sprintf("%s; left out: %s", part.Reason, check.Summary(of))
	return part
}

// separate returns the nodes that failed, and the judgement without them, which passed. There are
// no nodes if the failure is not of single nodes alone.
func separate(l Localising, playbooks playbook.Expected, obs []check.Observation, whole check.Judgement) (failed []string, part check.Judgement) {
	var suspects []string
	for _, f := range whole.Findings {
		if node := nodeOf(l.Nodes(), f.Suspect); node != "" && !slices.Contains(suspects, node) {
			suspects = append(suspects, node)
		}
	}
	slices.Sort(suspects)
	if len(suspects) == 0 || judgeStep(l.Excluding(suspects), playbooks, obs).Verdict != check.Passed {
		return nil, part
	}
	for i, node := range suspects {
		alone := judgeStep(without(l, slices.Delete(slices.Clone(suspects), i, i+1)), playbooks, obs)
		switch {
		case alone.Verdict == check.Failed:
			failed = append(failed, node)
		case alone.Verdict != check.Passed:
			return nil, part
		}
	}
	if len(failed) == 0 {
		return nil, part
	}
	if part = judgeStep(l.Excluding(failed), playbooks, obs); part.Verdict != check.Passed {
		return nil, part
	}
	return failed, part
}

// nodeOf is the node that a suspect is or is a part of; "" if it is of none.
func nodeOf(nodes []string, suspect string) string {
	for _, node := range nodes {
		if rest, ok := strings.CutPrefix(suspect, node); ok && (rest == "" || rest[0] == '/') {
			return node
		}
	}
	return ""
}
