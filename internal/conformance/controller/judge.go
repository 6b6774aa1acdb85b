package controller

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// partially begins the reason of what is shown but for the half that was not run.
const partially = "partially shown: "

// conclusions gathers what the parts of the judgement say.
type conclusions struct {
	wrong, unseen []check.Finding
	figures       []check.Figure
	// seen says what was shown, part by part; notRun why a part was not to be run.
	seen   []string
	notRun string
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

const again = "run the check again"

// one decodes the only observation of a kind, and of a target unless that is empty.
// Any other number of them is no observation at all.
func one[T any](c *conclusions, obs []check.Observation, kind, target, what string) (check.Observation, T, bool) {
	var figures T
	found := check.OfKind(obs, kind)
	if target != "" {
		found = slices.DeleteFunc(found, func(o check.Observation) bool { return o.Target != target })
	}
	if len(found) != 1 {
		c.missing(check.Observation{}, what, fmt.Sprintf("%d observations of it instead of one", len(found)), again)
		return check.Observation{}, figures, false
	}
	figures, err := check.Decode[T](found[0])
	if err != nil {
		remedy := "make the API server reachable with this kubeconfig, then run the check again"
		if strings.Contains(err.Error(), "forbidden") {
			remedy = "give the user of this kubeconfig the permissions that firstlight's RBAC lists"
		}
		c.missing(found[0], what, "could not be seen: "+err.Error(), remedy)
		return found[0], figures, false
	}
	return found[0], figures, true
}

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	var k conclusions
	operator, ok := c.judgeOperators(&k, obs)
	if !ok {
		return k.judgement("")
	}
	j := judge{conclusions: &k, obs: obs, operator: operator}
	j.definitions()
	hook := j.webhook()
	before, there := j.controller()
	if o, made, ok := one[[]calls.Call](&k, obs, calls.Kind, "", "the calls that the check made"); ok && len(made) == 0 {
		k.missing(o, "the calls that the check made", "there are none", again)
	}
	if j.room() {
		j.reconciled(targetPlain)
		j.denied(hook)
		j.misshapen()
		j.survived(before, there)
	}
	return k.judgement(operator.Title)
}

// judge is one judgement under way.
type judge struct {
	*conclusions
	obs      []check.Observation
	operator Operator
}

// judgeOperators finds what is known of the operator that was used.
func (c *Check) judgeOperators(k *conclusions, obs []check.Observation) (Operator, bool) {
	o, seen, ok := one[operatorsFigures](k, obs, kindOperators, "", "the complex AI operators")
	if !ok {
		return Operator{}, false
	}
	if seen.Used == "" {
		k.fail(o, "complex AI operator", "none is there; looked for "+strings.Join(seen.LookedFor, ", "),
			"install one of them, with its definitions and its webhook")
		return Operator{}, false
	}
	for _, op := range c.operators {
		if op.Name == seen.Used {
			return op, true
		}
	}
	k.missing(o, "complex AI operator "+seen.Used, "it is not known here: another version of the program has seen it", "judge with the version that observed")
	return Operator{}, false
}

func (j judge) definitions() {
	o, seen, ok := one[[]definitionFigures](j.conclusions, j.obs, kindDefinitions, "", "the definitions of "+j.operator.Title)
	if !ok {
		return
	}
	bad := 0
	for _, want := range j.operator.Definitions {
		i := slices.IndexFunc(seen, func(f definitionFigures) bool { return f.Name == want })
		switch {
		case i < 0 || !seen[i].Found:
			j.fail(o, "definition "+want, "it is not there", "install all definitions of "+j.operator.Title)
		case !seen[i].Established:
			j.fail(o, "definition "+want, "it is not Established: the API server does not serve it", "kubectl describe crd "+want)
		default:
			continue
		}
		bad++
	}
	if bad == 0 {
		j.show("%d definitions Established", len(seen))
	}
}

// webhook is where the API server asks.
func (j judge) webhook() webhookFigures {
	o, seen, ok := one[webhookFigures](j.conclusions, j.obs, kindWebhook, "", "the webhook "+j.operator.Webhook)
	if !ok {
		return seen
	}
	if !seen.Found {
		j.fail(o, "webhook "+j.operator.Webhook, "no configuration has it: nobody denies what only it can know to be wrong",
			"install the ValidatingWebhookConfiguration of "+j.operator.Title)
	}
	return seen
}

// controller is who serves and reconciles, before anything was done to it.
func (j judge) controller() (controllerFigures, bool) {
	o, seen, ok := one[controllerFigures](j.conclusions, j.obs, kindController, targetBefore, "the controller of "+j.operator.Title)
	if !ok {
		return seen, false
	}
	if why := unwell(seen); why != "" {
		j.fail(o, "controller of "+j.operator.Title, why, "see that its pods run, that its Service leads to them, and what its log says")
		return seen, true
	}
	if len(seen.Pods) > 0 {
		j.show("%d pods of service %s ready", len(seen.Pods), seen.Service)
	} else {
		j.show("webhook served at %s, outside of the cluster's pods; %s holds lease %s and renews it", seen.Outside, seen.Lease.Holder, seen.Lease.Name)
	}
	return seen, true
}

// room: a GPU was free for the pods of resources.
func (j judge) room() bool {
	o, usage, ok := one[map[string]kube.Usage](j.conclusions, j.obs, kindUsage, "", "the free GPUs")
	if !ok {
		return false
	}
	if free(usage) == 0 {
		j.missing(o, "free GPUs", "no GPU of the inventory is free for the pod of a resource", "run the check when one is; the observation names who holds them")
		return false
	}
	return true
}

func (j judge) show(format string, args ...any) {
	j.seen = append(j.seen, fmt.Sprintf(format, args...))
}

func (c *conclusions) judgement(title string) check.Judgement {
	out := check.Judgement{Figures: c.figures, Findings: append(slices.Clone(c.wrong), c.unseen...)}
	switch {
	case len(c.wrong) > 0:
		out.Verdict, out.Reason = check.Failed, summary(c.wrong)
	case len(c.unseen) > 0:
		out.Verdict, out.Reason = check.Unobserved, summary(c.unseen)
	case c.notRun != "":
		out.Verdict, out.Reason = check.Unobserved, partially+title+": "+strings.Join(c.seen, "; ")+"; not run: "+c.notRun
	case title == "" || len(c.seen) == 0:
		out.Verdict, out.Reason = check.Unobserved, "nothing was seen"
	default:
		out.Verdict, out.Reason = check.Passed, title+": "+strings.Join(c.seen, "; ")
	}
	return out
}

// summary names the first finding and counts the rest.
func summary(findings []check.Finding) string {
	text := findings[0].Suspect + ": " + findings[0].Message
	if more := len(findings) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}
