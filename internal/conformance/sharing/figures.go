package sharing

import (
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// Kinds of observations, and what their figures are.
const (
	kindOffer  = "shared-offer"      // []nodeOffer
	kindRoom   = "free-devices"      // []offer.Room
	kindShared = "claim-of-two-pods" // shared
	kindParts  = "pods-with-parts"   // parts
)

// nodeOffer is what a node offers less than a whole GPU of.
type nodeOffer struct {
	Node string `json:"node"`
	// Capable: its GPUs can be partitioned, by its label nvidia.com/mig.capable.
	Capable bool `json:"capable"`
	// Strategy and Replicas are GPU feature discovery's words for time-slicing and MPS.
	Strategy string `json:"strategy,omitempty"`
	Replicas int    `json:"replicas,omitempty"`
	// Parts are the allocatable resources that are less than a GPU each.
	Parts map[string]int64 `json:"parts,omitempty"`
	// Devices are those that DRA offers as parts, or more than once.
	Devices int `json:"devices,omitempty"`
}

// offers says that the node offers parts in any way.
func (n nodeOffer) offers() bool { return len(n.Parts) > 0 || n.Devices > 0 }

// shared is what became of the claim that two pods name, and of the third pod.
type shared struct {
	Claim trial.ClaimState `json:"claim"`
	Pods  []trial.Seen     `json:"pods"`
	Alone trial.Seen       `json:"alone"`
}

// parts is what became of the pods with a part each.
type parts struct {
	Node     string       `json:"node"`
	Resource string       `json:"resource"`
	Pods     []trial.Seen `json:"pods"`
}

// rooms are what is free.
type rooms = []offer.Room
