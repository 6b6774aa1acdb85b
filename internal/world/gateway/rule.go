package gateway

import (
	"sync"

	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// backend is what a rule leads to.
type backend struct {
	namespace, service string
	port               int32
	weight             int
	// invalid: it is none that can be led to, and its share of the requests fails.
	invalid bool
}

// rule is where the requests go that one of its matches takes.
type rule struct {
	key      string // of its route, with its generation
	backends []backend
	wheel    *wheel
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
	r.wheel = newWheel(weights)
	return r
}

// known: a reference to a Service of the route's own namespace, with a port.
func known(ref gwv1.BackendRef, namespace string) bool { return whyUnknown(ref, namespace) == "" }

func whyUnknown(ref gwv1.BackendRef, namespace string) gwv1.RouteConditionReason {
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

// pick is the backend of the next request; false when none gets any.
func (r *rule) pick(ignoreWeights bool) (backend, bool) {
	if ignoreWeights && len(r.backends) > 0 {
		return r.backends[0], true
	}
	i := r.wheel.next()
	if i < 0 {
		return backend{}, false
	}
	return r.backends[i], true
}

// wheel is a smooth weighted round robin, as nginx has it: in every turn of as many
// steps as the weights are together each has as many as its weight, spread evenly.
type wheel struct {
	weights []int
	total   int

	mu      sync.Mutex
	current []int
}

func newWheel(weights []int) *wheel {
	w := &wheel{weights: weights, current: make([]int, len(weights))}
	for _, n := range weights {
		w.total += n
	}
	return w
}

// next is the index of the next; -1 when all weights are 0.
func (w *wheel) next() int {
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
