package pools

import "fmt"

// Kinds of observations, and what their figures are.
const (
	kindServed  = "inference-api"      // api
	kindPools   = "inference-pools"    // []pool
	kindRequest = "request-to-a-model" // answering.Answer
)

// api is what is served.
type api struct {
	// Version of the stable group that has pools; empty: none. Alpha is that of the other.
	Version string `json:"version,omitempty"`
	Alpha   string `json:"alpha,omitempty"`
}

// pool is an InferencePool with what it leads to.
type pool struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Parents   []parent `json:"parents"`
	// Picker is its endpoint picker's Service, with how many endpoints are ready.
	Picker      string `json:"picker"`
	PickerReady int    `json:"pickerReady"`
	// Servers are the pods that it selects, Ready those of them that are.
	Servers int `json:"servers"`
	Ready   int `json:"ready"`
}

// parent is a Gateway that routes to a pool.
type parent struct {
	Namespace  string `json:"namespace"`
	Gateway    string `json:"gateway"`
	Accepted   bool   `json:"accepted"`
	Resolved   bool   `json:"resolved"`
	Programmed bool   `json:"programmed"`
	// Service that the Gateway is reached by, as "namespace/name:port"; empty where none
	// is labelled as its.
	Service string `json:"service,omitempty"`
}

// programmed is the Gateway by which the pool can be asked, or what it lacks.
func (p pool) programmed() (parent, string) {
	switch {
	case p.PickerReady == 0:
		return parent{}, fmt.Sprintf("its endpoint picker %s has no ready endpoint", p.Picker)
	case p.Ready == 0:
		return parent{}, fmt.Sprintf("of the %d model servers that it selects none is ready", p.Servers)
	case len(p.Parents) == 0:
		return parent{}, "no Gateway routes to it"
	}
	for _, one := range p.Parents {
		if one.Accepted && one.Resolved && one.Programmed {
			return one, ""
		}
	}
	one := p.Parents[0]
	return parent{}, fmt.Sprintf("for Gateway %s/%s it is accepted: %t, resolved: %t, and the Gateway programmed: %t", one.Namespace, one.Gateway, one.Accepted, one.Resolved, one.Programmed)
}
