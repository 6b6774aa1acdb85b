package gateway

import (
	"sync"

	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// backend is one backend of a rule.
type backend struct {
	namespace, service string
	port               int32
	weight             int
	// invalid: the reference does not resolve; its share of requests fails.
	invalid bool
}

// rule has the backends of matching requests.
type rule struct {
	key        string // of its route, with the generation
	backends   []backend
	roundRobin *roundRobin
}

func ruleOf(key, namespace string, refs []gwv1.HTTPBackendRef) *rule {
	r := &rule{key: key}
	weights := make([]int, 0, len(refs))
	for _, ref := range refs {
		b := backend{namespace: namespace, service: string(ref.Name), weight: 1, invalid: !known(ref.BackendRef, namespace)}
		if ref.Port != nil {
			b.port = *ref.Port
		}
		if ref.Weight != nil {
			b.weight = int(*ref.Weight)
		}
		r.backends, weights = append(r.backends, b), append(weights, b.weight)
	}
	r.roundRobin = newRoundRobin(weights)
	return r
}

// known reports whether a reference is to a port of a Service in the route's namespace.
func known(ref gwv1.BackendRef, namespace string) bool { return invalidReason(ref, namespace) == "" }

func invalidReason(ref gwv1.BackendRef, namespace string) gwv1.RouteConditionReason {
	switch {
	case ref.Group != nil && *ref.Group != "", ref.Kind != nil && *ref.Kind != "Service":
		return gwv1.RouteReasonInvalidKind
	case ref.Namespace != nil && string(*ref.Namespace) != namespace:
		return gwv1.RouteReasonRefNotPermitted
	case ref.Port == nil:
		return gwv1.RouteReasonBackendNotFound
	}
	return ""
}

// pick returns the backend of the next request; false if no backend has weight.
func (r *rule) pick(ignoreWeights bool) (backend, bool) {
	if ignoreWeights && len(r.backends) > 0 {
		return r.backends[0], true
	}
	i := r.roundRobin.next()
	if i < 0 {
		return backend{}, false
	}
	return r.backends[i], true
}

// roundRobin is a smooth weighted round robin as in nginx: in each cycle of as many steps as the sum of
// weights, every backend is chosen as often as its weight, spread evenly.
type roundRobin struct {
	weights []int
	total   int

	mu      sync.Mutex
	current []int
}

func newRoundRobin(weights []int) *roundRobin {
	w := &roundRobin{weights: weights, current: make([]int, len(weights))}
	for _, n := range weights {
		w.total += n
	}
	return w
}

// next returns the next index; -1 if all weights are 0.
func (w *roundRobin) next() int {
	if w.total <= 0 {
		return -1
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	best := -1
	for i, weight := range w.weights {
		w.current[i] += weight
		if weight > 0 && (best < 0 || w.current[i] > w.current[best]) {
			best = i
		}
	}
	w.current[best] -= w.total
	return best
}
