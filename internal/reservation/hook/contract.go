package hook

import (
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// APIVersion of requests, responses and the configuration.
const APIVersion = "hooks.firstlight.dev/v1"

// Verb of a hook.
type Verb string

// Verbs of hooks.
const (
	// Provision creates a deployment, or returns the existing one.
	Provision Verb = "provision"
	// Teardown deletes a deployment with everything that belongs to it.
	Teardown Verb = "teardown"
	// GetNodes returns the nodes of a deployment.
	GetNodes Verb = "nodes"
	// Discover lists deployments.
	Discover Verb = "discover"
	// Test runs the tests of a version on a deployment.
	Test Verb = "test"
)

// Verbs returns all verbs.
func Verbs() []Verb { return []Verb{Provision, Teardown, GetNodes, Discover, Test} }

// hasSideEffects reports whether a verb changes something, and so needs a lease.
func (v Verb) hasSideEffects() bool { return v == Provision || v == Teardown || v == Test }

// Lease under which a verb runs.
type Lease struct {
	// Token of the grant. A hook must refuse provision, teardown and test with a lower token than
	// it has seen for the reservation.
	Token  int64  `json:"token"`
	Holder string `json:"holder,omitempty"`
}

// Request is the input of a hook.
type Request struct {
	APIVersion string `json:"apiVersion"`
	Verb       Verb   `json:"verb"`
	// Owner is the value of the owner label.
	Owner string       `json:"owner"`
	Cloud config.Cloud `json:"cloud"`
	// Reservation is the row of the registry; nil for discover of a whole cloud.
	Reservation *config.Reservation `json:"reservation,omitempty"`
	// Intent of provision and test.
	Intent config.Intent `json:"intent,omitempty"`
	// Version to test: main, or a stable release, vX.Y.Z. Empty for other verbs.
	Version string `json:"version,omitempty"`
	// Deployment is the name; empty for discover.
	Deployment string `json:"deployment,omitempty"`
	// Lease is zero for a verb without side effects and without a lease.
	Lease Lease `json:"lease,omitzero"`
	// Deadline of the attempt.
	Deadline time.Time `json:"deadline"`
	// Attempt counts from 1.
	Attempt int `json:"attempt"`
}

// Response is the output of a hook. Each verb sets one field; a failed hook sets Error.
type Response struct {
	APIVersion string `json:"apiVersion"`
	Error      string `json:"error,omitempty"`
	// Deployment is the result of provision.
	Deployment *Deployment `json:"deployment,omitempty"`
	// Deleted is the result of teardown: nothing of the deployment is left.
	Deleted bool `json:"deleted,omitempty"`
	// Nodes is the result of nodes; it may be empty but not absent.
	Nodes *[]Node `json:"nodes,omitempty"`
	// Deployments is the result of discover; it may be empty but not absent.
	Deployments *[]Deployment `json:"deployments,omitempty"`
	// Result is the result of test. A failed test is a result and not an error.
	Result *Result `json:"result,omitempty"`
}

// Deployment is a cluster that exists, or is being created or deleted.
type Deployment struct {
	Name string `json:"name"`
	// Owner, Reservation, Intent, Token and Created are read from the labels that provision set;
	// empty if there is no label.
	Owner       string        `json:"owner,omitempty"`
	Reservation string        `json:"reservation,omitempty"`
	Intent      config.Intent `json:"intent,omitempty"`
	Token       int64         `json:"token,omitempty"`
	Created     time.Time     `json:"created,omitzero"`
	// Access says how to reach it; nil while it is not reachable, and optional in a list of a
	// whole cloud.
	Access *Access `json:"access,omitempty"`
}

// Access says how a person gets a kubeconfig with their own identity.
type Access struct {
	// Server is the URL of the API server.
	Server string `json:"server"`
	// CA has the CA certificates, PEM; empty: those of the system.
	CA string `json:"ca,omitempty"`
	// Exec is the credential plugin.
	Exec Exec `json:"exec"`
}

// Exec is a credential plugin of client-go; it prints an ExecCredential.
type Exec struct {
	// APIVersion of the ExecCredential; empty: client.authentication.k8s.io/v1.
	APIVersion string   `json:"apiVersion,omitempty"`
	Command    string   `json:"command"`
	Args       []string `json:"args,omitempty"`
}

// Nodes are the GPU nodes of a deployment.
type Nodes []Node

// Node is a node as reported by its API server.
type Node struct {
	Name string `json:"name"`
	// UID distinguishes nodes that reuse a name.
	UID      string `json:"uid"`
	Ready    bool   `json:"ready"`
	Cordoned bool   `json:"cordoned"`
	// GPUs is the number of allocatable GPUs.
	GPUs int `json:"gpus"`
}
