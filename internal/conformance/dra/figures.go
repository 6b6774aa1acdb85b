package dra

import "github.com/firstlight/firstlight/internal/conformance/dra/offer"

// Kinds of observations, and what their figures are.
const (
	kindServed = "served-versions"  // served
	kindClass  = "device-class"     // class
	kindSlices = "resource-slices"  // []offer.Slice
	kindRoom   = "free-devices"     // room
	kindTrial  = "claim-with-a-pod" // trial.Seen
)

// Targets of kindTrial: the names of the pods, and the first once more after the
// second.
const (
	allocatable = "allocatable"
	impossible  = "impossible"
	still       = "allocatable, still"
)

// group is dynamic resource allocation's, and the version that is demanded.
const (
	group   = "resource.k8s.io"
	version = "v1"
)

// served is what the API server offers of the group.
type served struct {
	// Versions are those of the group; none when it is not served.
	Versions []string `json:"versions"`
	// Resources are those of version v1.
	Resources []string `json:"resources,omitempty"`
}

// class is the driver's DeviceClass.
type class struct {
	Name  string `json:"name"`
	Found bool   `json:"found"`
	// Selectors are its CEL expressions.
	Selectors []string `json:"selectors,omitempty"`
}

// room is what is free, and the nodes that the pods may be placed on.
type room struct {
	Rooms []offer.Room `json:"rooms"`
	Nodes []string     `json:"nodes"`
}
