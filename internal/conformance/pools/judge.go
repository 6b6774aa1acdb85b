package pools

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/answering"
	"github.com/firstlight/firstlight/internal/conformance/standing"
)

// Judge implements check.Check. One pool that is programmed is enough.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	var a standing.Account
	have, id, ok := standing.Read[api](&a, obs, kindServed)
	if !ok {
		return a.Judgement()
	}
	if have.Version == "" {
		message := "the API server serves neither " + group + " nor " + alpha
		if have.Alpha != "" {
			message = "the API server serves " + resource + " as " + alpha + "/" + have.Alpha + " only, which was before it was stable"
		}
		a.Lacks(id, "Gateway API Inference Extension", message, "install its CRDs, a gateway that implements them, and an endpoint picker with an InferencePool")
		return a.Judgement()
	}
	a.Has("%s of %s/%s is served", resource, group, have.Version)
	all, id, ok := standing.Read[[]pool](&a, obs, kindPools)
	if !ok {
		return a.Judgement()
	}
	if len(all) == 0 {
		a.Lacks(id, "InferencePool", "there is none: nothing shows that a gateway implements them", "deploy a model with its endpoint picker behind a Gateway, then run the check again")
		return a.Judgement()
	}
	judgePools(&a, id, all, obs)
	return a.Judgement()
}

func judgePools(a *standing.Account, id string, all []pool, obs []check.Observation) {
	var why []string
	for _, p := range all {
		name := p.Namespace + "/" + p.Name
		through, lacks := p.programmed()
		if lacks != "" {
			why = append(why, name+": "+lacks)
			continue
		}
		if through.Service == "" {
			why = append(why, name+": no Service is labelled as Gateway "+through.Namespace+"/"+through.Gateway+"'s: no request could be sent")
			continue
		}
		a.Has("InferencePool %s is programmed on Gateway %s/%s, with %d model servers and its picker %s ready", name, through.Namespace, through.Gateway, p.Ready, p.Picker)
		answer, requestID, ok := standing.Read[answering.Answer](a, obs, kindRequest)
		switch {
		case !ok:
		case !answer.Done:
			a.Lacks(requestID, "Service "+answer.Service, "a request through it was not answered: "+answer.Err, "see whether its routes want a host or a path of their own; if so, link what shows an answer in the product file")
		default:
			a.Has("%s answered through %s", answer.Models[0], answer.Service)
		}
		return
	}
	a.Lacks(id, "InferencePool", strings.Join(why, "; "), "see the conditions in its status, and what its Gateway's controller says")
}
