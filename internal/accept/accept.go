package accept

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Options of a walk.
type Options struct {
	Site    *site.Site
	Profile *profile.Profile
	// SiteFile and ProfileFile are kept in the evidence as they are.
	SiteFile, ProfileFile []byte
	// Recipe names the recipe that the cluster is for, RecipeFile is it as resolved; empty
	// where there is none.
	Recipe     string
	RecipeFile []byte
	// Inputs are other files that the run is judged against, by name.
	Inputs map[string][]byte
	// Playbook makes the plan of a run.
	Playbook func(w Walk) (plan.Plan, error)
	// Cluster may wait for the cluster to come up.
	Cluster Reach
	// Charts draws the report's pictures.
	Charts evidence.ChartsFor

	// Namespace is one that an administrator made for the run; empty: the run makes its own.
	// A resumed run has its own.
	Namespace string
	// Hosts are the machines behind the site's hosts: by name, fingerprints of their SSH host
	// keys. A host that is not in it is known by its name alone.
	Hosts map[string]string

	EvidenceDir string
	// Resume is a run's ID or "latest"; Fresh never resumes by itself.
	Resume string
	Fresh  bool
	// From re-runs from a gate on; Only looks at one gate alone.
	From, Only string
	// Until ends the walk behind this step and leaves the run to be gone on with. Empty:
	// nothing does.
	Until string
	// Include are checks beside the gates; a resumed run has its own.
	Include []string
	// Parallel is how many steps may be under way at one time; 0: as many as may start.
	Parallel int
	// Holding are steps that leave something running until the walk ends.
	Holding []string
	// Keep leaves what the run created in the cluster.
	Keep bool
	// ClusterEnds: the cluster is removed when the walk is over.
	ClusterEnds bool

	// Tool, Command and Versions are for the evidence.
	Tool     string
	Command  []string
	Versions map[string]string
	// Digests, if set, are asked once the cluster answers: the SHA-256 of the programs
	// that it is made of, by program.
	Digests func(ctx context.Context) (map[string]string, error)

	Events func(plan.Event)
	Note   func(string)
	Clock  func() time.Time
	// Wait waits for a time; nil: by the real clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// Walk is what a plan is made for.
type Walk struct {
	// RunID is empty and Cluster nil when the plan is only described.
	RunID   string
	Cluster Reach
	// Include are the checks beside the gates.
	Include []string
}

// Reach gets at the cluster, once it is there.
type Reach func(ctx context.Context) (*kube.Cluster, error)

// walk is one walk under way.
type walk struct {
	opts        Options
	run         *evidence.Run
	earlier     map[string]plan.Result
	interrupted []string
	resumed     bool
	from, only  string
	include     []string
	namespace   string
	// killed are runs that were killed: what they left in the cluster is removed
	// before anything is done there.
	killed []leftRun

	limits  limits
	process process
	// unrenewed: the last renewal of the Lease failed. One goroutine renews.
	unrenewed bool
	// silent are the Leases that nobody renewed while they were watched, by run.
	silent   map[string]kube.RunLease
	holding  sync.Mutex // held while the run's Lease begins or ends
	renewing func()     // ends the renewal of the run's Lease, once it began
	cancel   context.CancelCauseFunc

	opening sync.Mutex // held while the cluster is being reached, which may take minutes
	mu      sync.Mutex
	cluster *kube.Cluster // once it was reached
	taken   error         // once another process works on the run
}

// cleanupTimeout bounds the removal of everything of a run.
const cleanupTimeout = 5 * time.Minute

// Run walks. The report is valid whenever its Run is set, also with an error.
func Run(ctx context.Context, o Options) (Report, error) {
	w, err := newWalk(o)
	if err != nil {
		return Report{}, err
	}
	if err := w.open(ctx); err != nil {
		return Report{}, err
	}
	ctx, w.cancel = context.WithCancelCause(ctx)
	defer w.cancel(nil)
	p, err := o.Playbook(Walk{RunID: w.run.ID(), Cluster: w.reach, Include: w.include})
	if err != nil {
		return Report{}, errors.Join(err, w.run.Close())
	}
	walker := plan.Executor{
		Plan: p, Store: w.run, Clock: o.Clock, Events: o.Events,
		From: w.fromHere(), Only: w.only, Until: o.Until, Earlier: w.earlier, Interrupted: w.interrupted,
		Capacity: w.freeGPUs, Parallel: o.Parallel,
		Cleanup: w.cleanGate,
	}
	identified := make(chan struct{})
	identifying, stop := context.WithCancel(ctx)
	go func() { defer close(identified); w.identify(identifying) }()
	outcome, walkErr := walker.Run(ctx)
	cleanErr := errors.Join(w.cleanRun(ctx), w.release(ctx))
	if cleanErr != nil {
		outcome.Notes = append(outcome.Notes, cleanErr.Error())
	}
	stop()
	<-identified
	finishErr := w.finish(outcome, walkErr)
	report := w.report(p, outcome)
	return report, errors.Join(w.lostTo(), walkErr, finishErr)
}

func newWalk(o Options) (*walk, error) {
	w := &walk{opts: o, from: o.From, only: o.Only, include: o.Include, namespace: o.Namespace, silent: map[string]kube.RunLease{}}
	var err error
	if w.limits, err = loadLimits(); err != nil {
		return nil, err
	}
	w.process, err = thisProcess()
	return w, err
}

// lost ends the walk: another process works on its run.
func (w *walk) lost(err error) {
	w.mu.Lock()
	if w.taken == nil {
		w.taken = err
	}
	w.mu.Unlock()
	w.cancel(err)
}

// lostTo says which process has the run; nil: this one.
func (w *walk) lostTo() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.taken
}

func (w *walk) wait(ctx context.Context, d time.Duration) error {
	if w.opts.Wait != nil {
		return w.opts.Wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // the context's own
	}
}

func (w *walk) now() time.Time {
	if w.opts.Clock == nil {
		return time.Now()
	}
	return w.opts.Clock()
}

// fromHere: a resumed run goes on where it was, whatever it began with.
func (w *walk) fromHere() string {
	if w.resumed {
		return ""
	}
	return w.from
}

func (w *walk) finish(outcome plan.Outcome, walkErr error) error {
	if err := w.lostTo(); err != nil {
		return w.run.Close(append(outcome.Notes, err.Error())...) //nolint:wrapcheck // says what it was doing
	}
	if walkErr != nil {
		return w.run.Close(append(outcome.Notes, walkErr.Error())...) //nolint:wrapcheck // says what it was doing
	}
	if w.opts.Until != "" && len(outcome.Omitted) > 0 {
		return w.run.Close(outcome.Notes...) //nolint:wrapcheck // likewise
	}
	return w.run.Finish(outcome, w.opts.Charts) //nolint:wrapcheck // says what it was doing
}

func (w *walk) note(format string, args ...any) {
	if w.opts.Note != nil {
		w.opts.Note(fmt.Sprintf(format, args...))
	}
}

// identify notes in the evidence which cluster it is and whether it is
// simulated, once it can be asked.
func (w *walk) identify(ctx context.Context) {
	c, err := w.reach(ctx)
	if err != nil {
		return // whoever needs the cluster says so
	}
	seen, err := lookAt(ctx, c)
	if err != nil {
		w.note("which cluster this is cannot be asked: %v", err)
		return
	}
	o, err := seen.Observation(w.now())
	if err == nil {
		_, err = w.run.Record(0, o)
	}
	if err != nil {
		w.note("%v", err)
		return
	}
	is := seen.identity()
	// First of all: verdicts of an unknown cluster are never kept.
	err = w.run.Amend(func(h *evidence.Header) { h.Cluster, h.Simulated, h.SimulatedWhy = is.uid, is.simulated, is.why })
	if err != nil {
		w.note("%v", err)
	}
	server, err := c.Client.Discovery().ServerVersion()
	if err != nil {
		w.note("which version of Kubernetes this is could not be asked: %v", err)
		return
	}
	var digests map[string]string
	if w.opts.Digests != nil {
		if digests, err = w.opts.Digests(ctx); err != nil {
			w.note("which programs the cluster is made of could not be seen: %v", err)
		}
	}
	err = w.run.Amend(func(h *evidence.Header) {
		h.Digests = digests
		versions := map[string]string{apiServer: server.GitVersion}
		maps.Copy(versions, h.Versions) // a lab's are of its programs
		h.Versions = versions
	})
	if err != nil {
		w.note("%v", err)
	}
}

// apiServer is what versions call the API server.
const apiServer = "kube-apiserver"

func (w *walk) reach(ctx context.Context) (*kube.Cluster, error) {
	w.opening.Lock()
	defer w.opening.Unlock()
	if c := w.reached(); c != nil {
		return c, nil
	}
	c, err := w.opts.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.removeLeft(ctx, c); err != nil {
		return nil, err
	}
	c = c.In(w.namespace)
	c.RenewLease = w.hold
	w.mu.Lock()
	w.cluster = c
	w.mu.Unlock()
	return c, nil
}

// reached is the cluster if it was reached. It never waits: a gate that needs
// no cluster is cleaned up after while the cluster is still coming up.
func (w *walk) reached() *kube.Cluster {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cluster
}

// freeGPUs is the capacity that claims are fitted into.
func (w *walk) freeGPUs(ctx context.Context) (int, error) {
	c, err := w.reach(ctx)
	if err != nil {
		return 0, err
	}
	var nodes []string
	for _, n := range w.opts.Site.Inventory.Nodes {
		nodes = append(nodes, n.Name)
	}
	free, err := c.FreeGPUs(ctx, nodes)
	if err != nil {
		return 0, fmt.Errorf("count free GPUs: %w", err)
	}
	total := 0
	for _, n := range free {
		total += n
	}
	return total, nil
}

// cleanRun removes everything of the run from a cluster that was reached, and
// what a killed run may have left in one that was not.
func (w *walk) cleanRun(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if w.opts.Keep {
		what := "namespace,priorityclass,nodepools"
		if w.namespace != "" {
			what = "-n " + w.namespace + " all,priorityclass,nodepools"
		}
		w.note("what run %s created is kept; to remove it: kubectl delete %s -l %s=%s", w.run.ID(), what, kube.LabelRun, w.run.ID())
		return nil
	}
	if err := w.lostTo(); err != nil {
		return fmt.Errorf("what run %s created was not removed: %w", w.run.ID(), err)
	}
	w.note("removing what the run created")
	c := w.reached()
	if c == nil && len(w.killed) > 0 {
		var err error
		if c, err = w.reach(ctx); err != nil {
			return fmt.Errorf("what killed runs may have left in the cluster was not removed: %w", err)
		}
	}
	if c == nil {
		return nil
	}
	if err := (kube.Guest{Cluster: c, ClusterEnds: w.opts.ClusterEnds}).Cleanup(ctx, w.run.ID()); err != nil {
		return fmt.Errorf("clean up after run %s: %w", w.run.ID(), err)
	}
	return nil
}
