package world

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is one injected defect, active from Since until it is cleared.
type Fault struct {
	ID      string            `json:"id"`
	Kind    string            `json:"kind"`
	Target  string            `json:"target"`
	Options map[string]string `json:"options,omitempty"`
	Since   time.Time         `json:"since"`
}

// FaultKind is one row of the catalogue.
type FaultKind struct {
	Kind string `json:"kind"`
	// Gate is the first gate that must fail; empty for a variation.
	Gate string `json:"gate,omitempty"`
	// Hop is the first hop of the autoscaling chain that must fail, if any.
	Hop string `json:"hop,omitempty"`
	// Requirement is the conformance requirement whose check must fail, if any.
	Requirement string `json:"requirement,omitempty"`
	Summary     string `json:"summary"`
	// TargetForm has a Form constant.
	TargetForm string `json:"targetForm"`
	// DefaultTarget is used without a target. If the world does not have it, the default is the
	// first target of the form.
	DefaultTarget string        `json:"defaultTarget"`
	Options       []FaultOption `json:"options,omitempty"`
	// Suspect is a regular expression for a finding's suspect or, at a hop of the chain, its
	// message. {node}, {gpu}, {hca}, {switch}, {port}, {link}, {pdu} and {domain} (NVLink
	// domain) are replaced by the target's.
	Suspect string `json:"suspect,omitempty"`
	// Needs is the extra that the lab must have: adapter, gateway, karpenter, kai, kueue, ray or trainer.
	Needs string `json:"needs,omitempty"`
	// Stack is the GPU stack that the lab must have; empty: any.
	Stack string `json:"stack,omitempty"`
	// Distribution of Kubernetes that the lab must have; empty: any.
	Distribution string `json:"distribution,omitempty"`
	// Fabric is the kind of fabric that the lab must have; empty: any, or none.
	Fabric string `json:"fabric,omitempty"`
	// MultiNode marks a fault of NVLink between nodes.
	MultiNode bool `json:"multiNode,omitempty"`
	// Become marks a fault of sites with reach.ssh.become.
	Become bool `json:"become,omitempty"`
	// Variation marks a kind that is not a defect.
	Variation bool `json:"variation,omitempty"`
	// Expect is the required verdict of a variation, or of a fault's gate if it is not failed: a
	// fault that hides errors can only be unobserved.
	Expect string `json:"expect,omitempty"`

	apply func(*draft, target, Fault)
}

// FaultOption is an option of a kind: one of Values, or with Max above 0 a number in Min..Max.
type FaultOption struct {
	Name    string   `json:"name"`
	Default string   `json:"default"`
	Summary string   `json:"summary"`
	Values  []string `json:"values,omitempty"`
	Min     float64  `json:"min,omitempty"`
	Max     float64  `json:"max,omitempty"`
}

// ErrNoSuchFault is returned for an unknown fault ID.
var ErrNoSuchFault = errors.New("fault not found")

// AddFault injects a fault and returns it with ID, target and options. Errors list the valid
// values.
func (w *World) AddFault(f Fault) (Fault, error) {
	kind, ok := findKind(f.Kind)
	if !ok {
		return Fault{}, fmt.Errorf("unknown fault %q: want one of %s", f.Kind, strings.Join(kindNames(), ", "))
	}
	state := w.State()
	if missing := state.lacks(kind); missing != "" {
		return Fault{}, fmt.Errorf("fault %s: hardware %s has no %s; %s has one", f.Kind, w.spec.Hardware, missing, kind.Hardware())
	}
	if f.Target == "" {
		f.Target = state.defaultTarget(kind)
	}
	if _, err := state.resolve(kind.TargetForm, f.Target); err != nil {
		return Fault{}, fmt.Errorf("fault %s: %w", f.Kind, err)
	}
	options, err := kind.fill(f.Options)
	if err != nil {
		return Fault{}, fmt.Errorf("fault %s: %w", f.Kind, err)
	}
	f.Options = options
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, have := range w.faults {
		if have.Kind == f.Kind && have.Target == f.Target {
			return Fault{}, fmt.Errorf("fault %s is already active on %s as %s: clear it first", f.Kind, f.Target, have.ID)
		}
	}
	w.nextID++
	f.ID, f.Since = "f"+strconv.Itoa(w.nextID), w.clock()
	w.faults = append(w.faults, f)
	w.notify()
	return f.clone(), nil
}

// ClearFault removes one fault.
func (w *World) ClearFault(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, f := range w.faults {
		if f.ID == id {
			w.faults = slices.Delete(slices.Clone(w.faults), i, i+1)
			w.notify()
			return nil
		}
	}
	return fmt.Errorf("clear fault %q: %w", id, ErrNoSuchFault)
}

// ClearAll removes all faults.
func (w *World) ClearAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.faults) > 0 {
		w.faults = nil
		w.notify()
	}
}

// RestoreFaults replaces all faults with those of an earlier Faults.
func (w *World) RestoreFaults(faults []Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = slices.Clone(faults)
	w.notify()
}

// Faults returns the active faults, oldest first.
func (w *World) Faults() []Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Fault, 0, len(w.faults))
	for _, f := range w.faults {
		out = append(out, f.clone())
	}
	return out
}

func (f Fault) clone() Fault {
	f.Options = maps.Clone(f.Options)
	return f
}

// number returns a numeric option that fill has validated.
func (f Fault) number(name string) float64 {
	v, err := strconv.ParseFloat(f.Options[name], 64)
	if err != nil {
		return 0
	}
	return v
}

// fill validates options and adds defaults.
func (k FaultKind) fill(given map[string]string) (map[string]string, error) {
	out := map[string]string{}
	var names []string
	for _, o := range k.Options {
		out[o.Name] = o.Default
		names = append(names, o.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(k.Options, func(o FaultOption) bool { return o.Name == name })
		if i < 0 {
			if len(names) == 0 {
				return nil, fmt.Errorf("unknown option %q: the kind has no options", name)
			}
			return nil, fmt.Errorf("unknown option %q: want one of %s", name, strings.Join(names, ", "))
		}
		if err := k.Options[i].check(given[name]); err != nil {
			return nil, err
		}
		out[name] = given[name]
	}
	return out, nil
}

func (o FaultOption) check(v string) error {
	if len(o.Values) > 0 {
		if !slices.Contains(o.Values, v) {
			return fmt.Errorf("invalid option %s=%q: must be one of %s", o.Name, v, strings.Join(o.Values, ", "))
		}
		return nil
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || n < o.Min || n > o.Max {
		return fmt.Errorf("invalid option %s=%q: must be a number from %g to %g", o.Name, v, o.Min, o.Max)
	}
	return nil
}
