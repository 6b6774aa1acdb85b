package snapshot

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

const remedyAgent = "make the pod run (telemetry.loadImage of the site file, a free GPU, admission of its namespace), or install node feature discovery and GPU feature discovery; then run the step again"

// slicesIn are the published slices; none in observations of a cluster without the API.
func slicesIn(obs []check.Observation) ([]inventory.Slice, error) {
	if len(check.OfKind(obs, kindSlices)) == 0 {
		return nil, nil
	}
	published, _, err := check.One[[]inventory.Slice](obs, kindSlices)
	return published, err
}

// readAnswers reads the answers of the agents. A node with two answers has none.
func (j *judge) readAnswers(obs []check.Observation) {
	j.answers, j.silent, j.agents = map[string]Answer{}, map[string]string{}, map[string]string{}
	for _, o := range check.OfKind(obs, kindAgent) {
		answer, err := check.Decode[Answer](o)
		_, twice := j.agents[o.Target]
		j.agents[o.Target] = o.ID
		switch {
		case twice:
			delete(j.answers, o.Target)
			j.silent[o.Target] = "two pods answered"
		case err != nil:
			j.silent[o.Target] = err.Error()
		default:
			j.answers[o.Target] = answer
		}
	}
}

// constraints judges the recipe's constraints on every node of the inventory.
func (j *judge) constraints(server Server, id string) {
	var nodes []Node
	for _, name := range j.demand.Nodes {
		if n, ok := j.nodes[name]; ok {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == 0 {
		nodes = []Node{{}} // constraints on the server
	}
	for _, c := range j.demand.Constraints {
		if c.Severity == "warning" {
			continue
		}
		results := map[constraint.Result][]string{}
		for _, n := range nodes {
			r := constraint.Judge(c, j.measured(server, n))
			if r.Verdict != check.Passed {
				results[r] = append(results[r], n.Name)
			}
		}
		for _, r := range slices.SortedFunc(maps.Keys(results), func(a, b constraint.Result) int { return cmp.Compare(results[a][0], results[b][0]) }) {
			if len(results[r]) == len(nodes) {
				j.constraint(c, r, "recipe constraint "+c.Name, results[r][0], id)
				continue
			}
			for _, name := range results[r] {
				j.constraint(c, r, name, name, id)
			}
		}
	}
}

// constraint adds the finding of a constraint that does not hold, or is not measured, on a node.
func (j *judge) constraint(c model.Constraint, r constraint.Result, suspect, node, server string) {
	seen := []string{j.id}
	if id := j.agents[node]; id != "" {
		seen = append(seen, id)
	}
	if r.Verdict == check.Failed {
		f := check.NewFinding(server, suspect, cmp.Or(c.Remediation, "change the cluster, or the recipe"), "%s is %s, and the recipe requires %s", r.Name, r.Actual, r.Expected)
		f.Observations = append(f.Observations, seen...)
		j.AddFailed(f)
		return
	}
	reason, remedy := r.Reason, "see docs/validate.md for the measurements, and correct the recipe"
	if why := j.silent[node]; why != "" {
		reason, remedy = "the pod on "+node+" gave no answer: "+why, remedyAgent
	}
	j.Unobserved(seen[len(seen)-1], suspect, remedy, "constraint %s: %s", c.Name, reason)
}
