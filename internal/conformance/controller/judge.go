package controller

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const again = "run the check again"

// judge is a Builder with the observations.
type judge struct {
	check.Builder
	obs      []check.Observation
	operator Operator
	// shown lists what was shown, for the reason of a pass; notRun is why the controller was not killed.
	shown  []string
	notRun string
}

func (j *judge) show(format string, args ...any) {
	j.shown = append(j.shown, fmt.Sprintf(format, args...))
}

// require decodes the only observation of a kind and target ("" is any).
func require[T any](j *judge, kind, target, subject string) (v T, id string, ok bool) {
	v, o, ok := check.Require[T](&j.Builder, j.obs, kind, target, subject, conformance.APIRemedy(j.obs, kind))
	return v, o.ID, ok
}

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	j := &judge{obs: obs}
	if !j.selectOperator(c.operators) {
		return j.Judgement("")
	}
	title := j.operator.Title
	j.definitions()
	hook := j.webhook()
	before, observed := j.controller()
	const calls = "API calls of the check"
	if made, id, ok := require[[]apilog.Call](j, apilog.Kind, "", calls); ok && len(made) == 0 {
		j.Unobserved(id, calls, again, "none was recorded")
	}
	if j.gpuFree() {
		j.reconciled(targetPlain)
		j.denied(hook)
		j.misshapen()
		j.survived(before, observed)
	}
	reason := title + ": " + strings.Join(j.shown, "; ")
	if len(j.shown) == 0 {
		reason = ""
	}
	out := j.Judgement(reason)
	if j.Clean() && j.notRun != "" {
		out.Verdict, out.Reason = check.Unobserved, submission.PartlyShown+reason+"; not run: "+j.notRun
	}
	return out
}

// selectOperator finds the operator that was observed among the known ones.
func (j *judge) selectOperator(known []Operator) bool {
	f, id, ok := require[operatorsFigures](j, kindOperators, "", "the complex AI operators")
	if !ok {
		return false
	}
	if f.Used == "" {
		j.Fail(id, "complex AI operator", "install one of them, with its definitions and its webhook", "not found; looked for %s", strings.Join(f.LookedFor, ", "))
		return false
	}
	i := slices.IndexFunc(known, func(o Operator) bool { return o.Name == f.Used })
	if i < 0 {
		j.Unobserved(id, "complex AI operator "+f.Used, "judge with the version that observed it", "unknown operator: another version of the program observed it")
		return false
	}
	j.operator = known[i]
	return true
}

func (j *judge) definitions() {
	all, id, ok := require[[]definitionFigures](j, kindDefinitions, "", "the definitions of "+j.operator.Title)
	if !ok {
		return
	}
	for _, want := range j.operator.Definitions {
		i := slices.IndexFunc(all, func(f definitionFigures) bool { return f.Name == want })
		switch {
		case i < 0 || !all[i].Found:
			j.Fail(id, "definition "+want, "install all definitions of "+j.operator.Title, "not found")
		case !all[i].Established:
			j.Fail(id, "definition "+want, "kubectl describe crd "+want, "it is not Established: the API server does not serve it")
		}
	}
	j.show("%d definitions Established", len(all))
}

func (j *judge) webhook() webhookFigures {
	hook, id, ok := require[webhookFigures](j, kindWebhook, "", "the webhook "+j.operator.Webhook)
	if ok && !hook.Found {
		j.Fail(id, "webhook "+j.operator.Webhook, "install the ValidatingWebhookConfiguration of "+j.operator.Title, "no configuration contains it, so nothing denies resources that the schema cannot deny")
	}
	return hook
}

// controller judges the controller before the check changes anything.
func (j *judge) controller() (f controllerFigures, observed bool) {
	f, id, ok := require[controllerFigures](j, kindController, targetBefore, "the controller of "+j.operator.Title)
	if !ok {
		return f, false
	}
	if problem := unhealthy(f); problem != "" {
		j.Fail(id, "controller of "+j.operator.Title, "see that its pods run, that its Service selects them, and its log", "%s", problem)
		return f, true
	}
	if len(f.Pods) > 0 {
		j.show("%d pods of service %s ready", len(f.Pods), f.Service)
	} else {
		j.show("webhook served at %s, outside of the cluster's pods; %s holds lease %s and renews it", f.Outside, f.Lease.Holder, f.Lease.Name)
	}
	return f, true
}

// gpuFree reports whether a GPU was free for the pods of resources.
func (j *judge) gpuFree() bool {
	usage, id, ok := require[map[string]kube.Usage](j, kindUsage, "", "the free GPUs")
	if !ok {
		return false
	}
	if freeGPUs(usage) == 0 {
		j.Unobserved(id, "free GPUs", "run the check when one is free; the observation lists the holders", "no GPU of the inventory is free for the pod of a resource")
		return false
	}
	return true
}
