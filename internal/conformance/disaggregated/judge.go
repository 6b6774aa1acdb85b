package disaggregated

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/answering"
	"github.com/firstlight/firstlight/internal/conformance/standing"
)

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	var a standing.Account
	operators, operatorsID, ok := standing.Read[[]operator](&a, obs, kindOperators)
	pods, podsID, read := standing.Read[[]phasePod](&a, obs, kindPhases)
	if !ok || !read {
		return a.Judgement()
	}
	namespace, prefills, decodes := beside(pods)
	there := judgeOperators(&a, operatorsID, operators, namespace != "")
	switch {
	case namespace != "":
		a.Has("%d prefill and %d decode instances are ready in %s", prefills, decodes, namespace)
		judgeAnswers(&a, obs)
	case len(pods) > 0:
		a.Lacks(podsID, "phases", fmt.Sprintf("of %d pods of a phase (%s) no namespace has ready ones of both", len(pods), say(pods)), "see why the others are not ready")
	case there:
		a.Lacks(podsID, "phases", "no pod says that it is of the phase prefill or decode: nothing that is disaggregated runs", "deploy a model with the operator, then run the check again")
	}
	return a.Judgement()
}

// judgeOperators says which there are; there is false where none is, which is nothing
// against a solution that runs.
func judgeOperators(a *standing.Account, id string, operators []operator, runs bool) (there bool) {
	var have, looked, waiting []string
	objects, ready := 0, 0
	for _, o := range operators {
		looked = append(looked, o.Kind)
		if o.Version == "" {
			continue
		}
		have = append(have, fmt.Sprintf("%s (%s, %d objects)", o.What, o.Kind, len(o.Objects)))
		for _, one := range o.Objects {
			objects++
			if one.Ready {
				ready++
			} else {
				waiting = append(waiting, o.Kind+" "+one.Name)
			}
		}
	}
	switch {
	case len(have) == 0 && runs:
		return false
	case len(have) == 0:
		a.Lacks(id, "operators", "none that is known is served; looked for "+strings.Join(looked, ", "), "install a solution of disaggregated inference, such as llm-d or Dynamo, and deploy a model with it")
		return false
	case objects > 0 && ready == 0:
		a.Lacks(id, "operators", "none of their objects is ready: "+strings.Join(waiting, ", "), "see the conditions in the status of each")
	}
	a.Has("served: %s", strings.Join(have, ", "))
	return true
}

func judgeAnswers(a *standing.Account, obs []check.Observation) {
	answers, id, ok := standing.Read[[]answering.Answer](a, obs, kindRequest)
	if !ok {
		return
	}
	var why []string
	for _, one := range answers {
		if one.Done {
			a.Has("%s answered through %s", one.Models[0], one.Service)
			return
		}
		why = append(why, one.Service+": "+one.Err)
	}
	if len(why) == 0 {
		why = append(why, "there is no Service beside them that leads to neither phase alone")
	}
	a.Lacks(id, "requests", "none was answered: "+strings.Join(why, "; "), "link what shows an answer in the product file, where the way in is another")
}

// say counts pods by phase.
func say(pods []phasePod) string {
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
