package controller

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kinds of observations.
const (
	kindOperators   = "operators"
	kindDefinitions = "definitions"
	kindWebhook     = "webhook"
	kindController  = "controller"
	kindUsage       = "gpu-usage"
	kindReconcile   = "reconcile"
	kindDenial      = "denial"
	kindDisruption  = "disruption"
)

// Targets of kinds with several observations.
const (
	targetPlain     = "left-alone"
	targetKilled    = "controller-killed"
	targetInvalid   = "invalid"
	targetMisshapen = "misshapen"
	targetBefore    = "before"
	targetAfter     = "after"
)

// operatorsFigures are the installed operators.
type operatorsFigures struct {
	LookedFor []string `json:"lookedFor"`
	Found     []string `json:"found"`
	// Used is the operator under test.
	Used string `json:"used,omitempty"`
}

// definitionFigures describe a CustomResourceDefinition.
type definitionFigures struct {
	Name        string   `json:"name"`
	Found       bool     `json:"found"`
	Established bool     `json:"established"`
	Served      []string `json:"served,omitempty"`
}

// webhookFigures describe the webhook of the operator.
type webhookFigures struct {
	Name  string `json:"name"`
	Found bool   `json:"found"`
	// Configuration is the object that contains it.
	Configuration string `json:"configuration,omitempty"`
	UID           string `json:"uid,omitempty"`
	FailurePolicy string `json:"failurePolicy,omitempty"`
	// Service as namespace/name; URL where it has none.
	Service string `json:"service,omitempty"`
	URL     string `json:"url,omitempty"`
}

// controllerFigures describe the controller, which serves the webhook and reconciles.
type controllerFigures struct {
	// Service has pods, or an external name Outside.
	Service string      `json:"service"`
	Outside string      `json:"outside,omitempty"`
	Pods    []podState  `json:"pods"`
	Lease   *leaseState `json:"lease,omitempty"`
}

type podState struct {
	Name    string `json:"name"`
	UID     string `json:"uid"`
	Phase   string `json:"phase"`
	Ready   bool   `json:"ready"`
	Leaving bool   `json:"leaving,omitempty"`
}

type leaseState struct {
	Name     string    `json:"name"`
	Holder   string    `json:"holder"`
	Renewed  time.Time `json:"renewed"`
	Duration int       `json:"durationSeconds"`
	// Moved: it was renewed or acquired since it was read before.
	Moved       bool `json:"moved"`
	Transitions int  `json:"transitions"`
}

// reconcileFigures describe a resource from its creation to its end, or to the deadline.
type reconcileFigures struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	// Refused is the error of the API server when it did not admit the resource.
	Refused  string          `json:"refused,omitempty"`
	Created  time.Time       `json:"created"`
	Deadline metav1.Duration `json:"deadline"`
	// DeadlineNanoseconds is the deadline of runs that were recorded before Deadline existed.
	DeadlineNanoseconds time.Duration `json:"deadlineNanoseconds,omitempty"`
	// Levels are all of its children ever observed, in the order of the operator's children.
	Levels     []levelState       `json:"levels"`
	Conditions []metav1.Condition `json:"conditions"`
	// WorkEnded is when all of its pods were first observed to have ended; nil when they were
	// not.
	WorkEnded *time.Time `json:"workEnded,omitempty"`
	// Ended is when its end was observed; nil when it was not.
	Ended *time.Time `json:"ended,omitempty"`
	// Trouble is why it counts as not ended, Unread the error of the last read, if it could not
	// be read in the end.
	Trouble string `json:"trouble,omitempty"`
	Unread  string `json:"unread,omitempty"`
}

func (r reconcileFigures) deadline() time.Duration {
	return cmp.Or(r.Deadline.Duration, r.DeadlineNanoseconds)
}

type levelState struct {
	Resource string       `json:"resource"`
	Objects  []childState `json:"objects"`
}

type childState struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	// Owner is the UID of the object that controls it.
	Owner string `json:"owner"`
	// Phase and Node are set for pods.
	Phase string `json:"phase,omitempty"`
	Node  string `json:"node,omitempty"`
}

// denialFigures are the API server's answer to a resource that must be denied.
type denialFigures struct {
	Why      string   `json:"why"`
	Admitted bool     `json:"admitted"`
	Code     int32    `json:"code"`
	Reason   string   `json:"reason"`
	Message  string   `json:"message"`
	Causes   []string `json:"causes,omitempty"`
}

// disruptionFigures describe the kill of the controller, or why the check did not kill it.
type disruptionFigures struct {
	// Run: the controller was killed.
	Run bool `json:"run"`
	// NotRun is why it was not.
	NotRun string `json:"notRun,omitempty"`
	// Killed lists "pod ns/name uid", or a process.
	Killed []string  `json:"killed,omitempty"`
	At     time.Time `json:"at"`
	// Begun and Ended are whether the resource had running pods, and had ended, at that time.
	Begun bool `json:"begun"`
	Ended bool `json:"ended"`
}
