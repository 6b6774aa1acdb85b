package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Claims is the number of GPUs of the site that holds for every group: the largest part of its own GPUs
// that a group claims, of all GPUs. Gates that fit together in the site then fit in each group.
func (g grouped) Claims() int {
	total, part := 0, 0.0
	for i, v := range g.site.Views(g.profile) {
		gpus := len(v.Site.Inventory.Nodes) * int(v.Profile.Node.GPUs.Value)
		total += gpus
		if c, ok := g.members[i].gate.(interface{ Claims() int }); ok && gpus > 0 {
			part = max(part, float64(c.Claims())/float64(gpus))
		}
	}
	return int(math.Ceil(min(part, 1) * float64(total)))
}

// ofGroup are the observations of a group.
func ofGroup(obs []check.Observation, group string) []check.Observation {
	var out []check.Observation
	for _, o := range obs {
		if o.Group == group {
			out = append(out, o)
		}
	}
	return out
}

// Judge implements check.Check: it passes if every group passes.
func (g grouped) Judge(obs []check.Observation) check.Judgement {
	for _, o := range obs {
		if !slices.ContainsFunc(g.members, func(m member) bool { return m.group == o.Group }) {
			return check.NotObserved(fmt.Sprintf("observation %s is of group %q, which the site does not have", o.ID, o.Group))
		}
	}
	by := map[check.Verdict][]check.Judgement{}
	var figures []check.Figure
	for _, m := range g.members {
		j := check.NotObserved("nothing was observed")
		if of := ofGroup(obs, m.group); len(of) > 0 {
			j = m.gate.Judge(of)
		}
		if j.Verdict != check.Passed && j.Verdict != check.Failed {
			j.Verdict = check.Unobserved
		}
		j.Reason = m.group + ": " + j.Reason
		for _, f := range j.Figures {
			f.Name = m.group + ": " + f.Name
			figures = append(figures, f)
		}
		by[j.Verdict] = append(by[j.Verdict], j)
	}
	out := check.Judgement{Figures: figures}
	for _, v := range []check.Verdict{check.Failed, check.Unobserved, check.Passed} { // the first that a group has
		var reasons []string
		for _, j := range by[v] {
			reasons, out.Findings = append(reasons, j.Reason), append(out.Findings, j.Findings...)
		}
		if out.Verdict == "" && len(reasons) > 0 {
			out.Verdict, out.Reason = v, strings.Join(reasons, "; ")
		}
	}
	return out
}
