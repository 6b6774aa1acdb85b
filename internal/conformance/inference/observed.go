package inference

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Kinds of observations: one observation each, or one for each target.
const (
	kindClasses  = "gateway-classes"  // classes
	kindFree     = "free-gpus"        // placement
	kindServers  = "model-servers"    // []server
	kindGateway  = "gateway"          // gateway
	kindRoute    = "http-route"       // route, one a route
	kindPath     = "way-to-gateway"   // gatewayPath
	kindRequests = "gateway-requests" // requests, one a target
)

// Targets of requests, and of routes.
const (
	toWeights  = "weights"
	toHeader   = "header"
	toNowhere  = "nowhere"
	toNoRoute  = "no-route"
	routeSplit = "split"
	routeEmpty = toNowhere
)

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Observed is the generation of the object that the controller observed.
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

// of finds a condition; without one its status is empty.
func (c conditions) of(kind string) condition {
	for _, one := range c {
		if one.Type == kind {
			return one
		}
	}
	return condition{Type: kind}
}

// current reports whether it is about the current generation.
func (c condition) current(generation int64) bool { return c.Status != "" && c.Observed >= generation }

// is reports whether it is current with the given status.
func (c condition) is(status metav1.ConditionStatus, generation int64) bool {
	return c.Status == string(status) && c.current(generation)
}

// classes are the GatewayClasses of the cluster.
type classes struct {
	// Served: the API server serves gateway.networking.k8s.io/v1.
	Served  bool    `json:"served"`
	Classes []class `json:"classes"`
	// Wanted is the class that the site names, if it does.
	Wanted string `json:"wanted,omitempty"`
	// Used is the class under test.
	Used string `json:"used,omitempty"`
}

type class struct {
	Name       string     `json:"name"`
	Controller string     `json:"controller"`
	Generation int64      `json:"generation"`
	Conditions conditions `json:"conditions"`
}

// placement is which servers are started, and where.
type placement struct {
	// Scripts: scripts without GPUs are started instead, because of Why.
	Scripts bool                  `json:"standIns"`
	Why     string                `json:"why,omitempty"`
	Nodes   []string              `json:"nodes"`
	Usage   map[string]kube.Usage `json:"usage"`
}

// server is a model server, and its answer to a direct request.
type server struct {
	Pod   string `json:"pod"`
	UID   string `json:"uid,omitempty"`
	Node  string `json:"node,omitempty"`
	State string `json:"state"`
	Ready bool   `json:"ready"`
	// Serves is the name of the model that identifies it.
	Serves string `json:"serves"`
	Direct answer `json:"direct"`
}

// up reports whether it is ready and serves its model.
func (s server) up() bool { return s.Ready && s.Direct.Status == 200 && s.Direct.Model == s.Serves }

// gateway is the created Gateway.
type gateway struct {
	Name       string     `json:"name"`
	UID        string     `json:"uid"`
	Class      string     `json:"class"`
	Generation int64      `json:"generation"`
	Conditions conditions `json:"conditions"`
	// Addresses in its status.
	Addresses []string `json:"addresses"`
	Port      int32    `json:"port"`
}

// route is a created HTTPRoute, with the status of the class's controller.
type route struct {
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation"`
	// Backends are the names of its Services.
	Backends   []string   `json:"backends"`
	Controller string     `json:"controller,omitempty"`
	Conditions conditions `json:"conditions"`
}

// gatewayPath is how requests reach the gateway.
type gatewayPath struct {
	// Through is an address of the gateway, or "port-forward to pod NS/NAME port N"; empty
	// without either.
	Through string `json:"through"`
	// Tried lists what did not answer, and why.
	Tried []string `json:"tried,omitempty"`
	// Rounds of requests, one of each kind, that were sent until the gateway had settled, or the
	// time for it was over.
	Rounds int `json:"rounds"`
	// Settled: the gateway gave the expected answers several times in a row before requests
	// were counted.
	Settled bool `json:"settled"`
}

// requests are all requests of one kind, in order.
type requests struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers,omitempty"`
	Answers []answer          `json:"answers"`
}

type answer struct {
	At time.Time `json:"at"`
	// Status is the HTTP status; 0 when there was no answer, for the reason in Err.
	Status int    `json:"status"`
	Err    string `json:"err,omitempty"`
	// Model identifies the server that answered; empty without one model in the answer.
	Model string `json:"model,omitempty"`
}
