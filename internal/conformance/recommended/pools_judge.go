package recommended

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check. One programmed pool is enough.
func (c *Pools) Judge(obs []check.Observation) check.Judgement {
	var a assessment
	api, id, ok := require[poolAPI](&a, obs, kindPoolAPI, "")
	if !ok {
		return a.judgement()
	}
	if api.Version == "" {
		message := "the API server serves neither " + poolGroup + " nor " + poolAlphaGroup
		if api.Alpha != "" {
			message = "the API server serves " + poolResource + " only as " + poolAlphaGroup + "/" + api.Alpha + ", not the stable version"
		}
		a.unmet(id, "Gateway API Inference Extension", "install its CRDs, a gateway that implements them, and an endpoint picker with an InferencePool", "%s", message)
		return a.judgement()
	}
	a.met("%s of %s/%s is served", poolResource, poolGroup, api.Version)
	all, id, ok := require[[]pool](&a, obs, kindPools, "")
	switch {
	case !ok:
	case len(all) == 0:
		a.unmet(id, "InferencePool", "deploy a model with its endpoint picker behind a Gateway, then run the check again", "not found: nothing shows that a gateway implements InferencePools")
	default:
		judgePools(&a, id, all, obs)
	}
	return a.judgement()
}

func judgePools(a *assessment, id string, all []pool, obs []check.Observation) {
	var problems []string
	for _, p := range all {
		name := p.Namespace + "/" + p.Name
		gateway, problem := p.gateway()
		if problem != "" {
			problems = append(problems, name+": "+problem)
			continue
		}
		if gateway.Service == "" {
			problems = append(problems, name+": no Service has the label of Gateway "+gateway.Namespace+"/"+gateway.Gateway+": cannot send a request")
			continue
		}
		a.met("InferencePool %s is programmed on Gateway %s/%s, with %d model servers and its picker %s ready", name, gateway.Namespace, gateway.Gateway, p.Ready, p.Picker)
		answer, requestID, ok := require[ModelAnswer](a, obs, kindRequest, "")
		switch {
		case !ok:
		case !answer.answered():
			a.unmet(requestID, "Service "+answer.Service, "see whether its routes match a host or a path of their own; if so, link evidence of an answer in the product file", "a request through it failed: %s", answer.Err)
		default:
			a.met("%s answered through %s", answer.Models[0], answer.Service)
		}
		return
	}
	a.unmet(id, "InferencePool", "see the conditions in its status, and the log of its Gateway's controller", "%s", strings.Join(problems, "; "))
}
