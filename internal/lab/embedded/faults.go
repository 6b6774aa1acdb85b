package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/firstlight/firstlight/internal/world"
)

// Fault is an active fault as the lab tells it: Suspect is the expression that
// a finding's suspect must match, Gate the first gate that must fail.
type Fault struct {
	world.Fault
	Gate    string `json:"gate,omitempty"`
	Suspect string `json:"suspect,omitempty"`
}

// Kinds is the catalogue as served.
type Kinds struct {
	Kinds []world.FaultKind `json:"kinds"`
}

// Faults are the active ones as served.
type Faults struct {
	Faults []Fault `json:"faults"`
}

// maxRequest bounds a request's body.
const maxRequest = 1 << 20

// routes serve the World under the lab's control socket.
func (e *embedded) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /kinds", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, Kinds{Kinds: append(world.Catalogue(), world.Variations()...)}, nil)
	})
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.world == nil {
			reply(w, nil, errStarting)
			return
		}
		reply(w, e.list(), nil)
	})
	mux.HandleFunc("POST /faults", func(w http.ResponseWriter, r *http.Request) {
		var f world.Fault
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&f); err != nil {
			reply(w, nil, fmt.Errorf("read the fault: %w", err))
			return
		}
		added, err := e.add(r.Context(), f)
		reply(w, added, err)
	})
	mux.HandleFunc("DELETE /faults/{id}", func(w http.ResponseWriter, r *http.Request) {
		reply(w, struct{}{}, e.change(r.Context(), func() error { return e.world.ClearFault(r.PathValue("id")) }))
	})
	mux.HandleFunc("DELETE /faults", func(w http.ResponseWriter, r *http.Request) {
		reply(w, struct{}{}, e.change(r.Context(), func() error { e.world.ClearAll(); return nil }))
	})
	return mux
}

var errStarting = errors.New("the lab is still starting: add faults once it is up (firstlight lab up waits for that)")

func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		code := http.StatusBadRequest
		if errors.Is(err, world.ErrNoSuchFault) {
			code = http.StatusNotFound
		}
		http.Error(w, err.Error(), code)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that went away needs no answer
}

func (e *embedded) list() Faults {
	out := Faults{Faults: []Fault{}}
	for _, f := range e.world.Faults() {
		out.Faults = append(out.Faults, e.describe(f))
	}
	return out
}

func (e *embedded) describe(f world.Fault) Fault {
	d := Fault{Fault: f}
	for _, k := range world.Catalogue() {
		if k.Kind == f.Kind {
			d.Gate = k.Gate
		}
	}
	if re, err := e.world.SuspectPattern(f); err == nil && re != nil {
		d.Suspect = re.String()
	}
	return d
}

func (e *embedded) add(ctx context.Context, f world.Fault) (Fault, error) {
	var added world.Fault
	err := e.change(ctx, func() (err error) {
		added, err = e.world.AddFault(f)
		return err
	})
	if err != nil {
		return Fault{}, err
	}
	return e.describe(added), nil
}

// change alters the faults and returns when the lab shows it everywhere: the
// site file, the control plane's own faults, the nodes and pods.
func (e *embedded) change(ctx context.Context, alter func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cluster == nil {
		return errStarting
	}
	if err := alter(); err != nil {
		return err
	}
	if err := e.writeSite(); err != nil {
		return err
	}
	s := e.world.State()
	return errors.Join(
		e.control.SetNoGangScheduler(ctx, s.NoGangScheduler),
		e.control.SetHalfGang(ctx, s.HalfGang),
		e.control.SetAlertRouteMissing(ctx, s.AlertRouteMissing),
		e.cluster.Settle(ctx),
	)
}
