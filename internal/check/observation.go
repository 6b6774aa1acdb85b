package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Observation is the result of one command, query or API call. It is stored before it is
// judged.
type Observation struct {
	// ID is set by the store: a sequence number within the run, then Kind and Target.
	ID string `json:"id"`
	// Check is the name of the check that recorded it; set by the engine.
	Check string `json:"check"`
	// Kind determines the type of Figures: "sminfo", "nvidia-smi", "dcgmi-diag",
	// "prometheus-query", ...
	Kind string `json:"kind"`
	// Target is a node's name, "cluster", or a URL without credentials.
	Target string `json:"target"`
	// Group is the group of nodes that it is of; empty for a site without groups, and for
	// observations of the whole site.
	Group string `json:"group,omitempty"`
	// Command is the command line or API call as made, without secrets.
	Command string `json:"command"`
	// Origin is where the command ran: the target over SSH, or a pod with its container and
	// image. Empty for an API call.
	Origin string `json:"origin,omitempty"`
	// At is the start time. Took is the duration; in JSON a Go duration string ("1.2s").
	At   time.Time       `json:"at"`
	Took metav1.Duration `json:"took"`
	// Exit is the exit code of a command; nil for an API call.
	Exit *int `json:"exit,omitempty"`
	// Err is the reason for missing figures (unreachable, unparsable, interrupted).
	// Raw may still hold partial output.
	Err string `json:"err,omitempty"`
	// APIReason is the API server's reason for Err ("Forbidden"); empty for other errors.
	APIReason metav1.StatusReason `json:"apiReason,omitempty"`
	// Figures are the parsed values of Raw, as JSON, with units in the names.
	Figures json.RawMessage `json:"figures,omitempty"`
	// Raw is the unparsed output. The store keeps it in a separate file.
	Raw []byte `json:"-"`
}

// WithFigures returns o with v encoded as its figures. A nil slice is an empty list that was
// observed, not a missing one.
func (o Observation) WithFigures(v any) (Observation, error) {
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice && list.IsNil() {
		v = []struct{}{}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return o, fmt.Errorf("encode figures of %s on %s: %w", o.Kind, o.Target, err)
	}
	o.Figures = data
	return o, nil
}

// Failed reports whether the observation has no figures.
func (o Observation) Failed() bool { return o.Err != "" || o.empty() }

// empty reports whether the figures are missing. JSON null decodes as the zero value of any
// type, which was not observed.
func (o Observation) empty() bool {
	return len(o.Figures) == 0 || string(bytes.TrimSpace(o.Figures)) == "null"
}

// Forbidden reports whether the API server refused the read for lack of permissions.
func (o Observation) Forbidden() bool { return o.APIReason == metav1.StatusReasonForbidden }

// Decode decodes the figures of o. An observation without figures is an error.
func Decode[T any](o Observation) (v T, err error) {
	err = decode(o, &v)
	return v, err
}

// decode decodes the figures into the struct that figures points to.
func decode(o Observation, figures any) error {
	if o.Err != "" {
		return fmt.Errorf("%s on %s: %s", o.Kind, o.Target, o.Err)
	}
	if o.empty() {
		return fmt.Errorf("%s on %s: no figures", o.Kind, o.Target)
	}
	if err := json.Unmarshal(o.Figures, figures); err != nil {
		return fmt.Errorf("decode figures of %s on %s: %w", o.Kind, o.Target, err)
	}
	return nil
}

// OfKind returns the observations of one kind, in order.
func OfKind(obs []Observation, kind string) []Observation {
	var out []Observation
	for _, o := range obs {
		if o.Kind == kind {
			out = append(out, o)
		}
	}
	return out
}

// One decodes the only observation of a kind and returns its ID. Any other number of
// observations is an error. A check that uses Builder reads with Require instead.
func One[T any](obs []Observation, kind string) (v T, id string, err error) {
	found := OfKind(obs, kind)
	if len(found) != 1 {
		return v, "", fmt.Errorf("%s was observed %d times, want exactly one observation", kind, len(found))
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
