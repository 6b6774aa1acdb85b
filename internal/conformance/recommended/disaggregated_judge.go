package recommended

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (c *Disaggregated) Judge(obs []check.Observation) check.Judgement {
	var a assessment
	operators, operatorsID, ok := require[[]inferenceOperator](&a, obs, kindOperators, "")
	pods, podsID, read := require[[]phasePod](&a, obs, kindPhases, "")
	if !ok || !read {
		return a.judgement()
	}
	namespace, prefills, decodes := bothPhases(pods)
	served := judgeOperators(&a, operatorsID, operators, namespace != "")
	switch {
	case namespace != "":
		a.met("%d prefill and %d decode instances are ready in %s", prefills, decodes, namespace)
		judgeAnswers(&a, obs)
	case len(pods) > 0:
		a.unmet(podsID, "phases", "see why the other pods are not ready", "no namespace has ready pods of both phases (%d pods: %s)", len(pods), countPhases(pods))
	case served:
		a.unmet(podsID, "phases", "deploy a model with the operator, then run the check again", "no pod is labelled as prefill or decode: no disaggregated inference runs")
	}
	return a.judgement()
}

// judgeOperators reports whether a known operator is served. None is fine where a solution
// runs.
func judgeOperators(a *assessment, id string, operators []inferenceOperator, runs bool) (served bool) {
	var found, wanted, notReady []string
	objects := 0
	for _, o := range operators {
		wanted = append(wanted, o.Kind)
		if o.Version == "" {
			continue
		}
		found = append(found, fmt.Sprintf("%s (%s, %d objects)", o.What, o.Kind, len(o.Objects)))
		objects += len(o.Objects)
		for _, one := range o.Objects {
			if !one.Ready {
				notReady = append(notReady, o.Kind+" "+one.Name)
			}
		}
	}
	switch {
	case len(found) == 0 && runs:
		return false
	case len(found) == 0:
		a.unmet(id, "operators", "install a solution of disaggregated inference, such as llm-d or Dynamo, and deploy a model with it", "no known operator is served; looked for %s", strings.Join(wanted, ", "))
		return false
	case objects > 0 && len(notReady) == objects:
		a.unmet(id, "operators", "see the conditions in the status of each", "none of their objects is ready: %s", strings.Join(notReady, ", "))
	}
	a.met("served: %s", strings.Join(found, ", "))
	return true
}

func judgeAnswers(a *assessment, obs []check.Observation) {
	answers, id, ok := require[[]ModelAnswer](a, obs, kindRequest, "")
	if !ok {
		return
	}
	var problems []string
	for _, one := range answers {
		if one.answered() {
			a.met("%s answered through %s", one.Models[0], one.Service)
			return
		}
		problems = append(problems, one.Service+": "+one.Err)
	}
	if len(problems) == 0 {
		problems = append(problems, "the namespace has no Service that selects no pod of a phase")
	}
	a.unmet(id, "requests", "where requests enter by another way, link evidence of an answer in the product file", "all failed: %s", strings.Join(problems, "; "))
}

func countPhases(pods []phasePod) string {
	ready := map[string]int{}
	all := map[string]int{}
	for _, p := range pods {
		all[p.Phase]++
		if p.Ready {
			ready[p.Phase]++
		}
	}
	return fmt.Sprintf("prefill %d of %d ready, decode %d of %d ready", ready[prefill], all[prefill], ready[decode], all[decode])
}
