package access

import (
	"time"

	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// Kinds of observations, and what their figures are.
const (
	kindSlices    = "resource-slices" // []offer.Slice
	kindRoom      = "free-devices"    // room
	kindPod       = "pod"             // trial.Seen
	kindSight     = "devices-seen"    // sight, and the log as it came
	kindTogether  = "pods-together"   // []trial.Seen
	kindAdmission = "admission"       // admission
)

// The pods, and the containers of the first.
const (
	claimant  = "claimant"
	bystander = "bystander"
	asking    = "asking"

	claimed = "claimed"
	sibling = "sibling"
	looker  = "looker" // the container of the others
)

// The pods that are not created.
const (
	plain      = "plain"
	hostPath   = "host-path"
	privileged = "privileged"
)

// room is what is free, and the node that all pods are put on; empty: none.
type room struct {
	Rooms []offer.Room `json:"rooms"`
	Node  string       `json:"node,omitempty"`
}

// sight is what a container says it sees.
type sight struct {
	// UID is the pod's.
	UID string `json:"uid"`
	Sight
}

// admission is what the API server says to a pod in a dry run.
type admission struct {
	Taken bool `json:"taken"`
	// Code and Reason are the answer's, Message its words, when it was refused.
	Code    int    `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// ofPod finds a pod among those that were seen together.
func ofPod(all []trial.Seen, uid string) (trial.Seen, bool) {
	for _, s := range all {
		if s.UID == uid {
			return s, uid != ""
		}
	}
	return trial.Seen{}, false
}

// started is when the first of a pod's containers was.
func started(s trial.Seen) time.Time {
	var first time.Time
	for _, c := range s.Containers {
		if first.IsZero() || c.Since.Before(first) {
			first = c.Since
		}
	}
	return first
}
