package resources

import "github.com/firstlight/firstlight/internal/check"

// kindInventory is the kind of the one observation.
const kindInventory = "inventory"

// inventory is what the last look saw.
type inventory struct {
	Objects []state `json:"objects"`
	// Looks is how many there were.
	Looks int `json:"looks"`
}

// state is what was seen of one object that is expected.
type state struct {
	Object
	Found bool `json:"found"`
	// NoNamespace: its namespace is not there either. NoKind: the API server serves
	// nothing of the kind.
	NoNamespace bool `json:"noNamespace,omitempty"`
	NoKind      bool `json:"noKind,omitempty"`
	// Deleted: it is being deleted.
	Deleted bool `json:"deleted,omitempty"`

	// Generation of the spec, and the one that the status is of.
	Generation int64 `json:"generation,omitempty"`
	Observed   int64 `json:"observedGeneration,omitempty"`
	// Pods: how many are wanted, there, of the current template, ready and available.
	// Of a Job: completions wanted, active, -, -, succeeded.
	Desired   int32 `json:"desired"`
	Present   int32 `json:"present"`
	Updated   int32 `json:"updated"`
	Ready     int32 `json:"ready"`
	Available int32 `json:"available"`
	// OnDelete: pods are replaced only when somebody deletes them.
	OnDelete bool `json:"onDelete,omitempty"`
	// Complete and Failed are a Job's.
	Complete bool `json:"complete,omitempty"`
	Failed   bool `json:"failed,omitempty"`
	// Conditions that say what is wrong, and pods that are not ready, with why.
	Conditions []string `json:"conditions,omitempty"`
	Pods       []string `json:"pods,omitempty"`
	// Nodes is, of a DaemonSet that wants no pod, how many nodes there are, Selected
	// how many of them its node selector and affinity choose, and Taints those that
	// keep it off these.
	Nodes    int      `json:"nodes,omitempty"`
	Selected int      `json:"selected,omitempty"`
	Selector string   `json:"selector,omitempty"`
	Taints   []string `json:"taints,omitempty"`
}

// complete says whether nothing is missing; missing says what is.
func (s state) complete() bool { return s.missing() == "" }

// optional says of a Job that it may be gone: Helm and the TTL controller delete
// those that are done.
func (s state) optional() bool { return s.Kind == kindJob && !s.Found }

func verdictOf(wrong, unseen []check.Finding) check.Verdict {
	switch {
	case len(wrong) > 0:
		return check.Failed
	case len(unseen) > 0:
		return check.Unobserved
	default:
		return check.Passed
	}
}
