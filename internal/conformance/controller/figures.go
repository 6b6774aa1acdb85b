package controller

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds of the check's observations.
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

// Targets of observations that there are several of.
const (
	targetPlain     = "left-alone"
	targetKilled    = "controller-killed"
	targetInvalid   = "invalid"
	targetMisshapen = "misshapen"
	targetBefore    = "before"
	targetAfter     = "after"
)

// operatorsFigures is which operators there are.
type operatorsFigures struct {
	LookedFor []string `json:"lookedFor"`
	Found     []string `json:"found"`
	// Used is the one that is proven.
	Used string `json:"used,omitempty"`
}

// definitionFigures is one CustomResourceDefinition.
type definitionFigures struct {
	Name        string   `json:"name"`
	Found       bool     `json:"found"`
	Established bool     `json:"established"`
	Served      []string `json:"served,omitempty"`
}

// webhookFigures is how the API server asks the operator.
type webhookFigures struct {
	Name  string `json:"name"`
	Found bool   `json:"found"`
	// Configuration is the object that has it.
	Configuration string `json:"configuration,omitempty"`
	UID           string `json:"uid,omitempty"`
	FailurePolicy string `json:"failurePolicy,omitempty"`
	// Service is where it leads, as namespace/name; URL where it leads to none.
	Service string `json:"service,omitempty"`
	URL     string `json:"url,omitempty"`
}

// controllerFigures is who serves the webhook and reconciles.
type controllerFigures struct {
	// Service has pods behind it, or leads out of the cluster to Outside.
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
	// Moved: it was renewed, or taken, since it was looked at before.
	Moved bool `json:"moved"`
	// Transitions counts the changes of its holder.
	Transitions int `json:"transitions"`
}

// reconcileFigures is one resource from its creation to its end, or to the deadline.
type reconcileFigures struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	// Refused is what the API server said when it did not take the resource.
	Refused  string        `json:"refused,omitempty"`
	Created  time.Time     `json:"created"`
	Deadline time.Duration `json:"deadlineNanoseconds"`
	// Levels are what was made of it, in the order of the operator's children. An
	// object is in it that was seen once.
	Levels     []levelState       `json:"levels"`
	Conditions []metav1.Condition `json:"conditions"`
	// WorkEnded is when all pods that were made of it were first seen to have ended; nil
	// when they were not.
	WorkEnded *time.Time `json:"workEnded,omitempty"`
	// Ended is when its end was seen; nil when it was not.
	Ended *time.Time `json:"ended,omitempty"`
	// Trouble is why it could not be followed to its end.
	Trouble string `json:"trouble,omitempty"`
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
	// Phase and Node are a pod's.
	Phase string `json:"phase,omitempty"`
	Node  string `json:"node,omitempty"`
}

// denialFigures is what the API server said to a resource that it must not take.
type denialFigures struct {
	Why string `json:"why"`
	// Admitted: it took it.
	Admitted bool     `json:"admitted"`
	Code     int32    `json:"code"`
	Reason   string   `json:"reason"`
	Message  string   `json:"message"`
	Causes   []string `json:"causes,omitempty"`
}

// disruptionFigures is the kill of the controller, or why there was none.
type disruptionFigures struct {
	// Run: the controller was killed.
	Run bool `json:"run"`
	// NotRun is why it was not.
	NotRun string `json:"notRun,omitempty"`
	// Killed is what: "pod ns/name uid", or a process.
	Killed []string  `json:"killed,omitempty"`
	At     time.Time `json:"at"`
	// Begun and Ended tell whether the resource was in the making when it happened:
	// something was made of it, and it had not ended.
	Begun bool `json:"begun"`
	Ended bool `json:"ended"`
}
