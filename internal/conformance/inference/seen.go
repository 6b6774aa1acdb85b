package inference

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// The kinds of what is observed. Each is observed once; those with targets once of
// each target.
const (
	kindClasses  = "gateway-classes"
	kindRoom     = "free-gpus"
	kindServers  = "model-servers"
	kindGateway  = "gateway"
	kindRoute    = "http-route"
	kindWay      = "way-to-gateway"
	kindRequests = "gateway-requests"
)

// The targets of requests, and of routes.
const (
	toWeights  = "weights"
	toHeader   = "header"
	toNowhere  = "nowhere"
	toNoRoute  = "no-route"
	routeSplit = "split"
	routeEmpty = toNowhere
)

// condition is one of an object's status.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Observed is the generation of the object that it is about.
	Observed int64 `json:"observedGeneration"`
}

type conditions []condition

func conditionsOf(list []metav1.Condition) conditions {
	out := conditions{}
	for _, c := range list {
		out = append(out, condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message, Observed: c.ObservedGeneration})
	}
	return out
}

// of finds a condition; the zero one says nothing.
func (c conditions) of(kind string) condition {
	for _, one := range c {
		if one.Type == kind {
			return one
		}
	}
	return condition{Type: kind}
}

// current: it is about the object as it is now.
func (c condition) current(generation int64) bool { return c.Status != "" && c.Observed >= generation }

// is: it has that status, now.
func (c condition) is(status metav1.ConditionStatus, generation int64) bool {
	return c.Status == string(status) && c.current(generation)
}

// classes are the cluster's.
type classes struct {
	// Served: the API server has gateway.networking.k8s.io/v1.
	Served  bool    `json:"served"`
	Classes []class `json:"classes"`
	// Used is the one whose controller is tried.
	Used string `json:"used,omitempty"`
}

type class struct {
	Name       string     `json:"name"`
	Controller string     `json:"controller"`
	Generation int64      `json:"generation"`
	Conditions conditions `json:"conditions"`
}

// room is which servers are started, and why.
type room struct {
	// StandIns: scripts without GPUs are started, because of Why.
	StandIns bool                  `json:"standIns"`
	Why      string                `json:"why,omitempty"`
	Nodes    []string              `json:"nodes"`
	Usage    map[string]kube.Usage `json:"usage"`
}

// server is one of the model servers, and what it answers when it is asked directly.
type server struct {
	Pod   string `json:"pod"`
	UID   string `json:"uid,omitempty"`
	Node  string `json:"node,omitempty"`
	State string `json:"state"`
	Ready bool   `json:"ready"`
	// Serves is the name of the model by which it is to be known.
	Serves string `json:"serves"`
	Direct answer `json:"direct"`
}

// up: it is ready and is who it is meant to be.
func (s server) up() bool { return s.Ready && s.Direct.Status == 200 && s.Direct.Model == s.Serves }

// gateway is the one that was created.
type gateway struct {
	Name       string     `json:"name"`
	UID        string     `json:"uid"`
	Class      string     `json:"class"`
	Generation int64      `json:"generation"`
	Conditions conditions `json:"conditions"`
	// Addresses that its status gives.
	Addresses []string `json:"addresses"`
	Port      int32    `json:"port"`
}

// route is one that was created, and what the class's controller says of it.
type route struct {
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation"`
	// Backends that it names, and whether Services of those names were there.
	Backends   []string   `json:"backends"`
	Controller string     `json:"controller,omitempty"`
	Conditions conditions `json:"conditions"`
}

// way is how requests reach the gateway.
type way struct {
	// Through is an address of the gateway's, or "port-forward to pod NS/NAME port N";
	// empty when there is none.
	Through string `json:"through"`
	// Tried are those that did not answer, and why.
	Tried []string `json:"tried,omitempty"`
	// Settled: the gateway answered as it is to, several times in a row, before
	// anything was counted.
	Settled bool `json:"settled"`
}

// requests are those of one kind, in order.
type requests struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers,omitempty"`
	Answers []answer          `json:"answers"`
}

// answer is one request's.
type answer struct {
	At time.Time `json:"at"`
	// Status is HTTP's; 0 when there was none, and Err says why.
	Status int    `json:"status"`
	Err    string `json:"err,omitempty"`
	// Model is the one that the answer names: who answered. Empty when it names none,
	// or several.
	Model string `json:"model,omitempty"`
}
