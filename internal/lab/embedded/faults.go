package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/policy"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world"
)

// Fault is an active fault. Suspect is a regular expression for the finding's suspect; Gate is the
// first gate that must fail.
type Fault struct {
	world.Fault
	Gate string `json:"gate,omitempty"`
	// Hop is the first hop of the autoscaling chain that must fail, if any.
	Hop     string `json:"hop,omitempty"`
	Suspect string `json:"suspect,omitempty"`
}

// Kinds is the response with the catalogue.
type Kinds struct {
	Kinds []world.FaultKind `json:"kinds"`
}

// Faults is the response with the active faults.
type Faults struct {
	Faults []Fault `json:"faults"`
}

const maxRequest = 1 << 20

// routes is the World's API below the lab's control socket.
func (e *embedded) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /kinds", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, Kinds{Kinds: append(world.Catalogue(), world.Variations()...)}, nil)
	})
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, r *http.Request) {
		if err := e.mu.LockContext(r.Context()); err != nil {
			reply(w, nil, err)
			return
		}
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
			reply(w, nil, fmt.Errorf("invalid fault: %w", err))
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

var errStarting = errors.New("the lab is starting: add faults when it is ready (firstlight lab up waits for that)")

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
	_ = json.NewEncoder(w).Encode(v) // the client disconnected
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
			d.Gate, d.Hop = k.Gate, k.Hop
		}
	}
	if re, err := e.world.SuspectPattern(f); err == nil && re != nil {
		d.Suspect = re.String()
	}
	return d
}

func (e *embedded) add(ctx context.Context, f world.Fault) (Fault, error) {
	if err := e.prepare(ctx, f.Kind); err != nil {
		return Fault{}, err
	}
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

// prepare adds the extra that a kind of fault needs.
func (e *embedded) prepare(ctx context.Context, kind string) error {
	if err := e.mu.LockContext(ctx); err != nil {
		return err
	}
	control, started := e.control, e.settled
	e.mu.Unlock()
	if !started {
		return errStarting
	}
	for _, k := range world.Catalogue() {
		if k.Kind != kind {
			continue
		}
		if k.Stack == string(component.StackReal) && e.opts.Stack != component.StackReal {
			return fmt.Errorf("fault %s needs a lab that NVIDIA's GPU Operator was started with: start another lab (firstlight lab up --name NAME --stack %s)", kind, k.Stack)
		}
		if k.Distribution != "" && k.Distribution != e.opts.Spec.Distribution {
			return fmt.Errorf("fault %s needs a lab of spine %s: start another lab (firstlight lab up --name NAME --spine %s)", kind, k.Distribution, k.Distribution)
		}
		if k.Needs != "" {
			return control.Ensure(ctx, []string{k.Needs})
		}
	}
	return nil
}

// undoTimeout bounds the return to the previous faults after a failed change.
const undoTimeout = 2 * time.Minute

// change alters the faults and returns when they are in effect everywhere. After an error the
// faults are the previous ones.
func (e *embedded) change(ctx context.Context, alter func() error) error {
	if err := e.mu.LockContext(ctx); err != nil {
		return err
	}
	defer e.mu.Unlock()
	if !e.settled {
		return errStarting
	}
	return transact(ctx, e.world, alter, e.applyFaults)
}

// transact alters the world's faults and settles them. If that fails, it restores the previous
// faults.
func transact(ctx context.Context, w *world.World, alter func() error, settle func(context.Context) error) error {
	before := w.Faults()
	if err := alter(); err != nil {
		return err
	}
	err := settle(ctx)
	if err == nil {
		return nil
	}
	w.RestoreFaults(before)
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if undoErr := settle(undo); undoErr != nil {
		return fmt.Errorf("change of faults failed: %w; the previous faults may not be in effect: %w", err, undoErr)
	}
	return fmt.Errorf("change of faults failed and was undone: %w", err)
}

// applyFaults puts the world's faults into effect: in the site file, the control plane, nodes and pods.
// It requires mu.
func (e *embedded) applyFaults(ctx context.Context) error {
	s := e.world.State()
	if err := e.control.SetPrometheusReplicaStale(ctx, s.PrometheusReplicaStale); err != nil {
		return err
	}
	if err := e.writeSite(); err != nil {
		return err
	}
	e.rules.set(s.RulesUnselected, s.RulesFrozen)
	return errors.Join(
		e.control.SetNoGangScheduler(ctx, s.NoGangScheduler),
		e.control.SetHalfGang(ctx, s.HalfGang),
		e.control.SetQueueClosed(ctx, s.QueueClosed),
		e.control.SetKueueDown(ctx, s.KueueDown),
		e.control.SetKubeRayDown(ctx, s.Ray.OperatorDown),
		e.control.SetJobOperatorsDown(ctx, s.JobOperatorsDown),
		e.control.SetAlertRouteMissing(ctx, s.AlertRouteMissing),
		e.control.SetAlertLabelDropped(ctx, s.AlertLabelDropped),
		e.control.SetOnCallSilent(ctx, s.OnCallSilent),
		e.control.SetNodeLabelOff(ctx, s.NodeLabelOff),
		e.control.SetPrometheusShared(ctx, s.PrometheusShared),
		e.control.SetExportersUnscraped(ctx, s.ExportersUnscraped),
		e.setOperatorDown(ctx, s.GPUOperatorDown),
		e.control.SetAdapterRuleWrong(ctx, s.Autoscale.AdapterRuleWrong),
		e.control.SetServiceRuleWrong(ctx, s.Autoscale.ServiceRuleWrong),
		e.control.SetAdapterDown(ctx, s.Autoscale.AdapterDown),
		e.control.SetAPIServiceUnavailable(ctx, s.Autoscale.APIServiceUnavailable),
		e.control.SetHonorLabelsOff(ctx, s.Autoscale.HonorLabelsOff),
		e.control.SetWebhookFailsOpen(ctx, s.Operator.WebhookFailsOpen),
		e.control.SetTrainerDown(ctx, s.Operator.Down),
		e.policies.Set(ctx, wantedOf(s.Autoscale.Policies)),
		e.cluster.Settle(ctx),
		e.settleMirror(ctx),
	)
}

// setOperatorDown stops the GPU Operator's process, or starts it. Without one, the World imitates
// its end.
func (e *embedded) setOperatorDown(ctx context.Context, on bool) error {
	if e.opts.Stack != component.StackReal {
		return nil
	}
	return e.control.SetGPUOperatorDown(ctx, on)
}

func wantedOf(policies []world.Policy) []policy.Wanted {
	var out []policy.Wanted
	for _, p := range policies {
		out = append(out, policy.Wanted{Name: p.Name, Spare: p.Spare})
	}
	return out
}

func (e *embedded) settleMirror(ctx context.Context) error {
	m := e.mirror.Load()
	return poll.Until(ctx, 50*time.Millisecond, "the mirror of the processes", m.settled)
}
