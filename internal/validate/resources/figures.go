package resources

// kindInventory is the kind of the only observation.
const kindInventory = "inventory"

// inventory is the result of the last read.
type inventory struct {
	Objects []state `json:"objects"`
	// Looks is the number of reads of all objects.
	Looks int `json:"looks"`
}

// state is the observed state of an expected object.
type state struct {
	Object
	Found bool `json:"found"`
	// NoNamespace: its namespace is missing too. NoKind: the API server does not serve the
	// kind.
	NoNamespace bool `json:"noNamespace,omitempty"`
	NoKind      bool `json:"noKind,omitempty"`
	// Deleted: it is being deleted.
	Deleted bool `json:"deleted,omitempty"`

	// Generation of the spec, and of the status.
	Generation int64 `json:"generation,omitempty"`
	Observed   int64 `json:"observedGeneration,omitempty"`
	// Numbers of pods: desired, existing, of the current template, ready and available. For a
	// Job: desired completions, active, -, -, succeeded.
	Desired   int32 `json:"desired"`
	Present   int32 `json:"present"`
	Updated   int32 `json:"updated"`
	Ready     int32 `json:"ready"`
	Available int32 `json:"available"`
	// OnDelete: the controller replaces a pod only after its deletion.
	OnDelete bool `json:"onDelete,omitempty"`
	// Complete and Failed are conditions of a Job.
	Complete bool `json:"complete,omitempty"`
	Failed   bool `json:"failed,omitempty"`
	// Conditions with an unexpected status, and pods that are not ready, with reasons.
	Conditions []string `json:"conditions,omitempty"`
	Pods       []string `json:"pods,omitempty"`
	// For a DaemonSet with zero desired pods: Nodes is the number of nodes, Selected the
	// number that its node selector and affinity match, Taints the untolerated taints of
	// these.
	Nodes    int      `json:"nodes,omitempty"`
	Selected int      `json:"selected,omitempty"`
	Selector string   `json:"selector,omitempty"`
	Taints   []string `json:"taints,omitempty"`
}

// complete reports whether missing is empty.
func (s state) complete() bool { return s.missing() == "" }

// optional reports whether the object is a deleted Job: Helm and the TTL controller delete
// finished Jobs.
func (s state) optional() bool { return s.Kind == kindJob && !s.Found }
