package controller

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// run is what the check records where all is well, on a cluster whose controller is a
// pod; a case alters it.
type run struct {
	operators   operatorsFigures
	definitions []definitionFigures
	webhook     webhookFigures
	before      controllerFigures
	after       controllerFigures
	usage       map[string]kube.Usage
	plain       reconcileFigures
	killed      reconcileFigures
	invalid     denialFigures
	misshapen   denialFigures
	disruption  disruptionFigures
	calls       []apilog.Call
	// err are reads that failed, by kind and target; without are those not recorded.
	err     map[string]string
	without []string
}

func good() *run {
	pod := func(uid string) controllerFigures {
		return controllerFigures{Service: "kubeflow-system/trainer", Pods: []podState{{Name: "trainer-" + uid, UID: uid, Phase: "Running", Ready: true}}}
	}
	r := &run{
		operators: operatorsFigures{LookedFor: []string{"Kubeflow Trainer (trainjobs.trainer.kubeflow.org)"}, Found: []string{"kubeflow-trainer"}, Used: "kubeflow-trainer"},
		webhook:   webhookFigures{Name: "validator.trainjob.trainer.kubeflow.org", Found: true, Configuration: "validator", FailurePolicy: "Fail", Service: "kubeflow-system/trainer"},
		before:    pod("u1"), after: pod("u2"),
		usage:  map[string]kube.Usage{"gpu-01": {Allocatable: 8, Requested: 7}},
		plain:  ended("plain", 7*time.Second),
		killed: ended("killed", 30*time.Second),
		invalid: denialFigures{
			Why: "it is wrong", Code: 403, Reason: "Forbidden",
			Message: `admission webhook "validator.trainjob.trainer.kubeflow.org" denied the request: spec.trainer.env: Invalid value`,
		},
		misshapen:  denialFigures{Why: "it is misshapen", Code: 422, Reason: "Invalid", Message: `TrainJob "x" is invalid: spec.trainer.numNodes`, Causes: []string{"FieldValueTypeInvalid spec.trainer.numNodes"}},
		disruption: disruptionFigures{Run: true, Killed: []string{"pod kubeflow-system/trainer-u1 u1"}, At: began.Add(5 * time.Second), Begun: true},
		calls:      []apilog.Call{{Method: "GET", Path: "/api", Status: 200, Times: 1}},
	}
	for _, name := range []string{"trainjobs.trainer.kubeflow.org", "trainingruntimes.trainer.kubeflow.org", "clustertrainingruntimes.trainer.kubeflow.org", "jobsets.jobset.x-k8s.io"} {
		r.definitions = append(r.definitions, definitionFigures{Name: name, Found: true, Established: true, Served: []string{"v1alpha1"}})
	}
	return r
}

// ended is a resource that came to its end.
func ended(name string, after time.Duration) reconcileFigures {
	at := began.Add(after)
	return reconcileFigures{
		Name: name, UID: name + "-cr", Created: began, Deadline: metav1.Duration{Duration: 5 * time.Minute}, Ended: &at,
		Levels: []levelState{
			{Resource: "jobsets", Objects: []childState{{Name: name, UID: name + "-set", Owner: name + "-cr"}}},
			{Resource: "jobs", Objects: []childState{{Name: name, UID: name + "-job", Owner: name + "-set"}}},
			{Resource: "pods", Objects: []childState{{Name: name, UID: name + "-pod", Owner: name + "-job", Phase: "Succeeded", Node: "gpu-01"}}},
		},
		Conditions: []metav1.Condition{{Type: "Complete", Status: metav1.ConditionTrue, Reason: "AllJobsCompleted"}},
	}
}

// outside makes the controller a program outside of the cluster.
func (r *run) outside() {
	at := func(holder string) controllerFigures {
		return controllerFigures{
			Service: "kubeflow-system/trainer", Outside: "127.1.2.3:9443", Pods: []podState{},
			Lease: &leaseState{Name: "kubeflow-system/trainer.kubeflow.org", Holder: holder, Duration: 15, Moved: true},
		}
	}
	r.before, r.after = at("vm_1"), at("vm_2")
	r.disruption.Killed = []string{"program kubeflow-trainer, process 7"}
}

// undisturbed is what is recorded where the controller may not be killed.
func (r *run) undisturbed() {
	r.disruption = disruptionFigures{NotRun: "it needs --disruptive"}
	r.without = append(r.without, kindReconcile+" "+targetKilled, kindController+" "+targetAfter)
}

// observations are the run's, as a store gives them back.
func (r *run) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	for _, p := range []struct {
		kind, target string
		figures      any
	}{
		{kindOperators, "cluster", r.operators},
		{kindDefinitions, "kubeflow-trainer", r.definitions},
		{kindWebhook, r.webhook.Name, r.webhook},
		{kindController, targetBefore, r.before},
		{kindUsage, "cluster", r.usage},
		{kindReconcile, targetPlain, r.plain},
		{kindDenial, targetInvalid, r.invalid},
		{kindDenial, targetMisshapen, r.misshapen},
		{kindReconcile, targetKilled, r.killed},
		{kindDisruption, "cluster", r.disruption},
		{kindController, targetAfter, r.after},
		{apilog.Kind, "cluster", r.calls},
	} {
		key := p.kind + " " + p.target
		if slices.Contains(r.without, key) {
			continue
		}
		o, err := check.Observation{ID: key, Kind: p.kind, Target: p.target, Err: r.err[key]}.WithFigures(p.figures)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

func newCheck(t *testing.T) *Check {
	t.Helper()
	operators, err := Operators()
	if err != nil {
		t.Fatal(err)
	}
	return &Check{operators: operators}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	failed, unobserved := check.Failed, check.Unobserved
	for name, c := range map[string]struct {
		alter   func(r *run)
		verdict check.Verdict
		reason  string
	}{
		"all is well": {func(*run) {}, check.Passed, "pod kubeflow-system/trainer-u1 u1 killed in mid-reconcile"},
		"healthy, and the controller is not a pod": {
			func(r *run) { r.outside() }, check.Passed, "vm_1 holds lease kubeflow-system/trainer.kubeflow.org",
		},
		"not disturbed": {func(r *run) { r.undisturbed() }, unobserved, "partially shown: Kubeflow Trainer"},
		"not disturbed, and something is wrong": {
			func(r *run) { r.undisturbed(); r.invalid.Admitted = true }, failed, "was admitted",
		},

		"no operator": {
			func(r *run) { r.operators.Used, r.operators.Found = "", nil }, failed, "not found; looked for Kubeflow Trainer",
		},
		"an unknown operator":             {func(r *run) { r.operators.Used = "other" }, unobserved, "unknown operator"},
		"a definition is missing":         {func(r *run) { r.definitions[3].Found = false }, failed, "definition jobsets.jobset.x-k8s.io: not found"},
		"a definition was not looked for": {func(r *run) { r.definitions = r.definitions[:2] }, failed, "not found"},
		"a definition is not established": {func(r *run) { r.definitions[0].Established = false }, failed, "not Established"},

		"no webhook": {func(r *run) { r.webhook = webhookFigures{Name: r.webhook.Name} }, failed, "nothing denies"},
		"the controller's pod is not ready": {
			func(r *run) { r.before.Pods[0].Ready = false }, failed, "pod trainer-u1 is not ready",
		},
		"one of two pods is not ready": {
			func(r *run) {
				r.before.Pods = append(r.before.Pods, podState{Name: "other", UID: "u9", Phase: "Pending"})
			}, failed, "pod other is not ready",
		},
		"no pods, and nothing outside": {func(r *run) { r.before.Pods = nil }, failed, "has neither pods nor an external name"},
		"outside, and the lease has no holder": {
			func(r *run) { r.outside(); r.before.Lease.Holder = "" }, failed, "has no holder",
		},
		"outside, and no lease": {func(r *run) { r.outside(); r.before.Lease = nil }, failed, "no lease shows"},
		"outside, and the lease is stale": {
			func(r *run) { r.outside(); r.before.Lease.Moved = false }, failed, "was not renewed while watched",
		},

		"no GPU is free": {
			func(r *run) { r.usage["gpu-01"] = kube.Usage{Allocatable: 8, Requested: 8} }, unobserved, "no GPU of the inventory is free",
		},
		"a valid one is refused": {
			func(r *run) { r.plain = reconcileFigures{Refused: "failed calling webhook: connection refused"} }, failed, "a valid one was refused: failed calling webhook",
		},
		"nothing is made of it": {
			func(r *run) {
				r.plain.Ended, r.plain.Conditions, r.plain.Trouble = nil, nil, "it had not ended"
				r.plain.Levels = []levelState{{Resource: "jobsets"}, {Resource: "jobs"}, {Resource: "pods"}}
			}, failed, "no jobsets were created for plain",
		},
		"no pods are made": {func(r *run) { r.plain.Levels[2].Objects = nil }, failed, "no pods were created"},
		"children of another owner": {
			func(r *run) { r.plain.Levels[1].Objects[0].Owner = "other" }, failed, `jobs plain is owned by "other"`,
		},
		"children without identity": {func(r *run) { r.plain.Levels[2].Objects[0].UID = "" }, failed, "not by a child of the resource"},
		"no identity of its own":    {func(r *run) { r.plain.UID = "" }, failed, "it has no UID"},
		"a level was not observed":  {func(r *run) { r.plain.Levels = r.plain.Levels[:2] }, failed, "2 of 3 levels"},
		"levels of other kinds":     {func(r *run) { r.plain.Levels[0].Resource = "rayjobs" }, failed, "level 1 has rayjobs"},
		"it never ends": {
			func(r *run) {
				r.plain.Ended, r.plain.Conditions, r.plain.Trouble = nil, nil, "it had not ended 5m0s after it was created"
				r.plain.Levels[2].Objects[0].Phase = "Running"
			}, failed, "it is not Complete after 5m0s",
		},
		"its pods end, and no condition reports it": {
			func(r *run) {
				r.plain.Ended, r.plain.Conditions, r.plain.Trouble = nil, nil, "it had not ended 2m0s after all its pods had"
			}, failed, "2m0s after all its pods had",
		},
		// The API server of a starved cluster did not answer until the deadline.
		"its end cannot be read": {
			func(r *run) {
				r.plain.Ended, r.plain.Conditions, r.plain.Unread = nil, nil, "read plain: context deadline exceeded"
				r.plain.Levels = r.plain.Levels[:1]
			}, unobserved, "how it ended was not observed: read plain",
		},
		"it says that it is complete, and no pod is": {
			func(r *run) { r.plain.Levels[2].Objects[0].Phase = "Running" }, failed, "none of its pods succeeded",
		},
		"it fails": {
			func(r *run) {
				r.plain.Conditions = []metav1.Condition{{Type: "Failed", Status: metav1.ConditionTrue, Reason: "FailedJobs", Message: "a pod failed"}}
			}, failed, "it is Failed: FailedJobs a pod failed",
		},
		"complete is false": {func(r *run) { r.plain.Conditions[0].Status = metav1.ConditionFalse }, failed, "it is not Complete"},

		"the invalid one is admitted": {
			func(r *run) { r.invalid = denialFigures{Why: "it is wrong", Admitted: true} }, failed, "an invalid resource (it is wrong) was admitted",
		},
		"the invalid one is denied by the schema": {
			func(r *run) { r.invalid = r.misshapen }, failed, "the schema, not the webhook, denied",
		},
		"the webhook is unreachable": {
			func(r *run) {
				r.invalid.Code, r.invalid.Reason, r.invalid.Message = 500, "InternalError", `failed calling webhook "validator.trainjob.trainer.kubeflow.org": connection refused`
			}, failed, "could not call it",
		},
		"another webhook denies": {
			func(r *run) { r.invalid.Message = `admission webhook "other.example.com" denied the request: no` }, failed, "is not from it",
		},
		"the invalid one is forbidden to the user": {
			func(r *run) { r.invalid.Message = `trainjobs is forbidden: User "x" cannot create resource` }, failed, "is not from it",
		},
		"the misshapen one is admitted": {
			func(r *run) { r.misshapen = denialFigures{Admitted: true} }, failed, "its schema admits",
		},
		"the misshapen one is denied by the webhook": {func(r *run) { r.misshapen = r.invalid }, unobserved, "is not from the schema"},
		"invalid, and no causes":                     {func(r *run) { r.misshapen.Causes = nil }, unobserved, "is not from the schema"},

		"it does not end after the kill": {
			func(r *run) { r.killed.Ended, r.killed.Conditions = nil, nil }, failed, "trainjobs killed: it is not Complete",
		},
		"killed, and still there":               {func(r *run) { r.after = r.before }, unobserved, "pod trainer-u1 still exists"},
		"killed, and no pod is ready":           {func(r *run) { r.after.Pods[0].Ready = false }, unobserved, "pod trainer-u2 is not ready"},
		"outside, and the same holder":          {func(r *run) { r.outside(); r.after.Lease.Holder = "vm_1" }, unobserved, "still has the holder vm_1"},
		"killed before anything was made":       {func(r *run) { r.disruption.Begun = false }, unobserved, "proves nothing"},
		"killed after the end":                  {func(r *run) { r.disruption.Ended = true }, unobserved, "proves nothing"},
		"it had ended before the kill":          {func(r *run) { r.disruption.At = began.Add(time.Minute) }, unobserved, "had ended before it was killed"},
		"killed, and a pod is not named":        {func(r *run) { r.disruption.Killed = []string{""} }, unobserved, "the killed pods were not recorded"},
		"killed, and the pods are not recorded": {func(r *run) { r.disruption.Killed = nil }, unobserved, "the killed pods were not recorded"},
		"nothing to interrupt": {
			func(r *run) { r.disruption = disruptionFigures{NotRun: "no pods"}; r.killed.Levels[2].Objects = nil }, failed, "no pods were created",
		},
		"ended before it could be killed": {
			func(r *run) { r.disruption = disruptionFigures{NotRun: "too late"} }, unobserved, "it was not killed: too late",
		},

		"no calls are kept": {func(r *run) { r.calls = nil }, unobserved, "API calls of the check"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := good()
			c.alter(r)
			j := newCheck(t).Judge(r.observations(t))
			if j.Verdict != c.verdict || !strings.Contains(j.Reason, c.reason) {
				t.Errorf("%s: %s\nwant %s with %q", j.Verdict, j.Reason, c.verdict, c.reason)
			}
			if j.Verdict == check.Failed && len(j.Findings) == 0 {
				t.Error("a failure without a finding")
			}
			for _, f := range j.Findings {
				if f.Suspect == "" || f.Message == "" || f.Remedy == "" {
					t.Errorf("finding %+v lacks a part", f)
				}
			}
		})
	}
}

// A missing or failed observation is never a pass.
func TestNothingMissingIsAPass(t *testing.T) {
	t.Parallel()
	all := good().observations(t)
	for i, o := range all {
		some := slices.Delete(slices.Clone(all), i, i+1)
		if j := newCheck(t).Judge(some); j.Verdict == check.Passed {
			t.Errorf("passed without %s", o.ID)
		}
		twice := append(slices.Clone(all), o)
		if j := newCheck(t).Judge(twice); j.Verdict == check.Passed {
			t.Errorf("passed with two of %s", o.ID)
		}
		r := good()
		r.err = map[string]string{o.ID: "the server is gone"}
		if j := newCheck(t).Judge(r.observations(t)); j.Verdict == check.Passed {
			t.Errorf("passed although %s could not be seen", o.ID)
		}
	}
	if j := newCheck(t).Judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("nothing at all is %s", j.Verdict)
	}
}

func TestVictims(t *testing.T) {
	t.Parallel()
	two := controllerFigures{Pods: []podState{{Name: "a-1", UID: "1"}, {Name: "a-2", UID: "2"}}}
	if got := victims(two); len(got) != 2 {
		t.Errorf("without a lease %v are killed, want both", got)
	}
	two.Lease = &leaseState{Holder: "a-2_6f1c"}
	if got := victims(two); len(got) != 1 || got[0].UID != "2" {
		t.Errorf("%v are killed, want who holds the lease", got)
	}
	two.Lease.Holder = "somebody"
	if got := victims(two); len(got) != 2 {
		t.Errorf("with a lease of another holder %v are killed, want both", got)
	}
}
