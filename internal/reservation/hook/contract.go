package hook

import (
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// APIVersion of requests, responses and the configuration.
const APIVersion = "hooks.firstlight.dev/v1"

// Verb is what a hook is asked to do.
type Verb string

// The verbs.
const (
	// Provision stands a deployment up, or answers the one that stands.
	Provision Verb = "provision"
	// Teardown removes a deployment with all that belongs to it.
	Teardown Verb = "teardown"
	// Census looks at the nodes of a deployment.
	GetNodes Verb = "census"
	// Discover lists the deployments that there are.
	Discover Verb = "discover"
	// Test runs what a version has to show on a deployment.
	Test Verb = "test"
)

// Verbs are all of them.
func Verbs() []Verb { return []Verb{Provision, Teardown, GetNodes, Discover, Test} }

// changes tells that a verb has side effects, and so needs a lease.
func (v Verb) hasSideEffects() bool { return v == Provision || v == Teardown || v == Test }

// Lease is in whose name something is done.
type Lease struct {
	// Token of the grant. A hook refuses a provision, a teardown or a test of a lower
	// token than it has seen of the reservation.
	Token  int64  `json:"token"`
	Holder string `json:"holder,omitempty"`
}

// Request is what a hook is told.
type Request struct {
	APIVersion string `json:"apiVersion"`
	Verb       Verb   `json:"verb"`
	// Owner is who runs the reservations, for the label of what is made.
	Owner string         `json:"owner"`
	Cloud config.Cloud `json:"cloud"`
	// Reservation is the registry's row; nil with discover of a whole cloud.
	Reservation *config.Reservation `json:"reservation,omitempty"`
	// Intent is what provision stands up, and test looks at.
	Intent config.Intent `json:"intent,omitempty"`
	// Version is what test runs: main, or a stable release, vX.Y.Z. Empty with other verbs.
	Version string `json:"version,omitempty"`
	// Deployment is the name; empty with discover.
	Deployment string `json:"deployment,omitempty"`
	// Lease is zero where nothing is changed and no lease is held.
	Lease Lease `json:"lease,omitzero"`
	// Deadline is when the attempt is ended.
	Deadline time.Time `json:"deadline"`
	// Attempt counts from 1.
	Attempt int `json:"attempt"`
}

// Response is what a hook answers. Each verb has one of the fields; where it failed,
// Error says why.
type Response struct {
	APIVersion string `json:"apiVersion"`
	Error      string `json:"error,omitempty"`
	// Deployment answers provision.
	Deployment *Deployment `json:"deployment,omitempty"`
	// Gone answers teardown: nothing of the deployment is left.
	Deleted bool `json:"deleted,omitempty"`
	// Nodes answer census; they may be none, but not left out.
	Nodes *[]Node `json:"nodes,omitempty"`
	// Deployments answer discover; they may be none, but not left out.
	Deployments *[]Deployment `json:"deployments,omitempty"`
	// Result answers test. A test that fails is an answer, not an error.
	Result *Result `json:"result,omitempty"`
}

// Deployment is one cluster that stands, or is being made or removed.
type Deployment struct {
	Name string `json:"name"`
	// Owner, Reservation, Intent, Token and Created are read from the labels that
	// provision put on it; empty where it has none.
	Owner       string          `json:"owner,omitempty"`
	Reservation string          `json:"reservation,omitempty"`
	Intent      config.Intent `json:"intent,omitempty"`
	Token       int64           `json:"token,omitempty"`
	Created     time.Time       `json:"created,omitzero"`
	// Access is how a person reaches it; nil while it can't be reached, and where a whole
	// cloud was discovered it may be left out.
	Access *Access `json:"access,omitempty"`
}

// Access is how a person gets a kubeconfig, by an identity of their own.
type Access struct {
	// Server is the URL of the API server.
	Server string `json:"server"`
	// CA are the certificates that it is known by, PEM; empty: the system's.
	CA string `json:"ca,omitempty"`
	// Exec is the plugin that gets the credential.
	Exec Exec `json:"exec"`
}

// Exec is a credential plugin of client-go: it prints an ExecCredential.
type Exec struct {
	// APIVersion is of the ExecCredential; empty: client.authentication.k8s.io/v1.
	APIVersion string   `json:"apiVersion,omitempty"`
	Command    string   `json:"command"`
	Args       []string `json:"args,omitempty"`
}

// Nodes are a deployment's, those of the reservation alone: the ones that have GPUs,
// or should.
type Nodes []Node

// Node is one as its API server shows it.
type Node struct {
	Name string `json:"name"`
	// UID tells a node from another of the same name.
	UID      string `json:"uid"`
	Ready    bool   `json:"ready"`
	Cordoned bool   `json:"cordoned"`
	// GPUs are those that pods can be given.
	GPUs int `json:"gpus"`
}
