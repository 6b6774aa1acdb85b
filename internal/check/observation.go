package check

import (
	"encoding/json"
	"fmt"
	"time"
)

// Observation is one thing seen. It is stored before it is judged.
type Observation struct {
	// ID is set by the store: a sequence number within the run, then Kind and Target.
	ID string `json:"id"`
	// Check is the name of the check that looked; set by the engine.
	Check string `json:"check"`
	// Kind says what was looked at, and so which Figures to expect: "sminfo",
	// "nvidia-smi", "dcgmi-diag", "prometheus-query", ...
	Kind string `json:"kind"`
	// Target is where: a node's name, "cluster", a URL without credentials.
	Target string `json:"target"`
	// Command is the command line or API call as made, without secrets.
	Command string `json:"command"`
	// At is when the looking began, Took how long it lasted.
	At   time.Time     `json:"at"`
	Took time.Duration `json:"took"`
	// Exit is the exit code of a command; nil where there was none.
	Exit *int `json:"exit,omitempty"`
	// Err says why nothing could be seen (unreachable, unparsable, ended early).
	// Raw may still hold what there was.
	Err string `json:"err,omitempty"`
	// Figures is what the parser made of Raw, as JSON, with units in the names.
	Figures json.RawMessage `json:"figures,omitempty"`
	// Raw is the output as it came. Stored beside the observation.
	Raw []byte `json:"-"`
}

// WithFigures returns o with v encoded as its figures.
func (o Observation) WithFigures(v any) (Observation, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return o, fmt.Errorf("encode figures of %s on %s: %w", o.Kind, o.Target, err)
	}
	o.Figures = data
	return o, nil
}

// Failed says that nothing could be seen.
func (o Observation) Failed() bool { return o.Err != "" || len(o.Figures) == 0 }

// Decode reads the figures of o.
func Decode[T any](o Observation) (T, error) {
	var v T
	if o.Err != "" {
		return v, fmt.Errorf("%s on %s: %s", o.Kind, o.Target, o.Err)
	}
	if len(o.Figures) == 0 {
		return v, fmt.Errorf("%s on %s: no figures", o.Kind, o.Target)
	}
	if err := json.Unmarshal(o.Figures, &v); err != nil {
		return v, fmt.Errorf("decode figures of %s on %s: %w", o.Kind, o.Target, err)
	}
	return v, nil
}

// OfKind selects the observations of one kind, in order.
func OfKind(obs []Observation, kind string) []Observation {
	var out []Observation
	for _, o := range obs {
		if o.Kind == kind {
			out = append(out, o)
		}
	}
	return out
}

// One decodes the only observation of a kind, and has its ID. Any other number of them
// is no observation, and so is one that could not be made.
func One[T any](obs []Observation, kind string) (v T, id string, err error) {
	found := OfKind(obs, kind)
	if len(found) != 1 {
		return v, "", fmt.Errorf("%s was observed %d times, not once", kind, len(found))
	}
	id = found[0].ID
	if found[0].Err != "" {
		return v, id, fmt.Errorf("%s could not be observed: %s", kind, found[0].Err)
	}
	if v, err = Decode[T](found[0]); err != nil {
		return v, id, fmt.Errorf("read the observation %s: %w", kind, err)
	}
	return v, id, nil
}
