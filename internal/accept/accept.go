package accept

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Options of a run.
type Options struct {
	Site    *site.Site
	Profile *profile.Profile
	// SiteFile and ProfileFile are the files for the evidence.
	SiteFile, ProfileFile []byte
	// Recipe is the name of the cluster's recipe, RecipeFile the resolved recipe; both may be
	// empty.
	Recipe     string
	RecipeFile []byte
	// Inputs are other files that the run is judged against, by name.
	Inputs map[string][]byte
	// Playbook makes the plan of a run.
	Playbook func(w Walk) (plan.Plan, error)
	// Cluster may wait until the cluster is ready.
	Cluster Reach
	// Charts draws the charts of the report.
	Charts evidence.ChartsFor

	// Namespace exists already; empty: the run creates its own. A resumed run keeps that of
	// its header.
	Namespace string
	// Hosts are the fingerprints of the hosts' SSH keys by name. Other hosts are identified
	// by name alone.
	Hosts map[string]string

	EvidenceDir string
	// Resume is a run's ID or "latest". Fresh disables the automatic resumption.
	Resume string
	Fresh  bool
	// From runs from a gate on; Only runs one gate alone.
	From, Only string
	// Until stops after this step and leaves the run to be resumed; empty: run all steps.
	Until string
	// Include are checks in addition to the gates. A resumed run keeps its own.
	Include []string
	// Parallel is the most steps at one time; 0: no limit.
	Parallel int
	// Holding are steps whose objects are kept until the end of the run.
	Holding []string
	// Keep disables the removal of the created objects.
	Keep bool
	// ClusterEnds: the cluster is removed after the run.
	ClusterEnds bool

	// Tool, Command and Versions are for the evidence.
	Tool     string
	Command  []string
	Versions map[string]string
	// Digests, if set, is called once the cluster answers: the SHA-256 of the cluster's
	// programs, by program.
	Digests func(ctx context.Context) (map[string]string, error)

	Events func(plan.Event)
	Note   func(string)
	Clock  func() time.Time
	// Wait waits for a duration; nil: on the real clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// Walk is the context of a plan.
type Walk struct {
	// RunID is empty and Cluster nil for a plan that is described, not executed.
	RunID   string
	Cluster Reach
	// Include are the checks in addition to the gates.
	Include []string
}

// Reach returns the cluster once it is ready.
type Reach func(ctx context.Context) (*kube.Cluster, error)

// walk is one execution of a run, by one process.
type walk struct {
	opts       Options
	run        *evidence.Run
	earlier    map[string]plan.Result
	resumed    bool
	from, only string
	include    []string
	namespace  string
	// killed are killed runs. Their objects are removed before the first use of the cluster.
	killed []leftRun

	limits  limits
	process process
	// renewedAt is the start of the last successful renewal of the Lease, unrenewed the error
	// of the renewals since. One goroutine renews.
	renewedAt time.Time
	unrenewed error
	// silent are the Leases that were not renewed while they were watched, by run.
	silent   map[string]kube.RunLease
	leasing  sync.Mutex // held while the run's Lease is acquired or released
	renewing func()     // stops the renewal of the run's Lease; nil before
	cancel   context.CancelCauseFunc
	// created is set before the first object of the run is created, and for a resumed run.
	created atomic.Bool

	opening sync.Mutex // held while the cluster is opened, which may take minutes
	mu      sync.Mutex
	cluster *kube.Cluster // nil until it is open
	taken   error         // set when the Lease of the run is lost
	// stopCleaning is set when the walk removes its objects, and the Lease with its namespace.
	stopCleaning context.CancelFunc
	// unlisted are notes on kinds that the clean-up could not list.
	unlisted []string
}

// cleanupTimeout limits the removal of a run's objects.
const cleanupTimeout = 5 * time.Minute

// Run executes or resumes a run. The report is valid if its Run is set, even with an error.
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
		From: w.fromHere(), Only: w.only, Until: o.Until, Earlier: w.earlier,
		Capacity: w.freeGPUs, Parallel: o.Parallel,
		Cleanup: w.cleanGate,
	}
	identified := make(chan struct{})
	identifying, stop := context.WithCancel(ctx)
	go func() { defer close(identified); w.identify(identifying) }()
	outcome, walkErr := walker.Run(ctx)
	if err := w.cleanRun(ctx); err != nil {
		outcome.AddUncleaned(err)
	}
	outcome.Notes = append(outcome.Notes, w.unlisted...)
	if err := w.release(ctx); err != nil {
		outcome.Notes = append(outcome.Notes, err.Error())
	}
	w.stopRenewing()
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

// lost ends the walk, also while it removes its objects, because another process took over
// its run or may do so.
func (w *walk) lost(err error) {
	w.mu.Lock()
	if w.taken == nil {
		w.taken = err
	}
	if w.stopCleaning != nil {
		w.stopCleaning()
	}
	w.mu.Unlock()
	w.cancel(err)
}

// lostTo says how the Lease of the run was lost; nil if it was not.
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
		return ctx.Err()
	}
}

func (w *walk) now() time.Time {
	if w.opts.Clock == nil {
		return time.Now()
	}
	return w.opts.Clock()
}

// fromHere is empty for a resumed run, which continues where it stopped.
func (w *walk) fromHere() string {
	if w.resumed {
		return ""
	}
	return w.from
}

func (w *walk) finish(outcome plan.Outcome, walkErr error) error {
	notes := slices.Concat(outcome.Notes, outcome.Uncleaned)
	if err := errors.Join(w.lostTo(), walkErr); err != nil {
		return w.run.Close(append(notes, err.Error())...)
	}
	if w.opts.Until != "" && len(outcome.Omitted) > 0 {
		return w.run.Close(notes...)
	}
	return w.run.Finish(outcome, w.opts.Charts)
}

func (w *walk) note(format string, args ...any) {
	if w.opts.Note != nil {
		w.opts.Note(fmt.Sprintf(format, args...))
	}
}

// identify records the identity of the cluster, and whether it is simulated, once the
// cluster answers.
func (w *walk) identify(ctx context.Context) {
	c, err := w.reach(ctx)
	if err != nil {
		return // the gates that need the cluster report it
	}
	observed, err := observeIdentity(ctx, c)
	if err != nil {
		w.note("cannot identify the cluster: %v", err)
		return
	}
	o, err := observed.Observation(w.now())
	if err == nil {
		_, err = w.run.Record(0, o)
	}
	if err != nil {
		w.note("%v", err)
		return
	}
	id := observed.identity()
	// First, since verdicts of an unknown cluster are never kept.
	err = w.run.Amend(func(h *evidence.Header) { h.Cluster, h.Simulated, h.SimulatedWhy = id.uid, id.simulated, id.why })
	if err != nil {
		w.note("%v", err)
	}
	server, err := c.Client.Discovery().ServerVersion()
	if err != nil {
		w.note("cannot read the Kubernetes version: %v", err)
		return
	}
	var digests map[string]string
	if w.opts.Digests != nil {
		if digests, err = w.opts.Digests(ctx); err != nil {
			w.note("cannot read the digests of the cluster's programs: %v", err)
		}
	}
	err = w.run.Amend(func(h *evidence.Header) {
		h.Digests = digests
		versions := map[string]string{apiServer: server.GitVersion}
		maps.Copy(versions, h.Versions) // a lab has versions of all its programs
		h.Versions = versions
	})
	if err != nil {
		w.note("%v", err)
	}
}

// apiServer is the key of the API server in versions.
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
	c.Creating, c.RenewLease, c.ReleaseLease = func() { w.created.Store(true) }, w.acquire, w.release
	w.mu.Lock()
	w.cluster = c
	w.mu.Unlock()
	return c, nil
}

// reached is the open cluster, or nil. It never waits: gates that need no cluster run while
// the cluster starts.
func (w *walk) reached() *kube.Cluster {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cluster
}

// freeGPUs is the capacity for claims.
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

// cleanRun removes the objects of this run, and those of killed runs. A run that created
// nothing needs no permission to list what it did not create.
func (w *walk) cleanRun(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if w.opts.Keep {
		w.note("objects of run %s are kept; remove them with kubectl delete %s", w.run.ID(), w.objects())
		return nil
	}
	w.mu.Lock()
	w.stopCleaning = cancel
	w.mu.Unlock()
	if err := w.lostTo(); err != nil {
		return fmt.Errorf("objects of run %s were not removed: %w", w.run.ID(), err)
	}
	c := w.reached()
	if c == nil && len(w.killed) > 0 {
		var err error
		if c, err = w.reach(ctx); err != nil {
			return fmt.Errorf("objects of killed runs were not removed: %w", err)
		}
	}
	if c == nil || !w.created.Load() {
		return nil
	}
	w.note("removing the objects of the run")
	err := w.withoutUnlisted(w.run.ID(), kube.Guest{Cluster: c, ClusterEnds: w.opts.ClusterEnds}.Cleanup(ctx, w.run.ID()))
	switch {
	case err != nil && kube.OnlyAPIUnavailable(err):
		return fmt.Errorf("clean up after run %s: %w", w.run.ID(), err)
	case err != nil:
		return fmt.Errorf("objects of run %s are left; remove them with kubectl delete %s: %w", w.run.ID(), w.objects(), err)
	}
	return nil
}

// withoutUnlisted is the error of a clean-up without the kinds that the account may neither list nor
// create, which are a note of the report.
func (w *walk) withoutUnlisted(run string, err error) error {
	notListed, err := kube.NotListed(err)
	if notListed != nil {
		w.mu.Lock()
		w.unlisted = append(w.unlisted, fmt.Sprintf("clean-up of run %s: %v", run, notListed))
		w.mu.Unlock()
	}
	return err
}

// objects are the kinds and the selector of the run's objects for kubectl.
func (w *walk) objects() string {
	kinds := "namespace,priorityclass,nodepools"
	if w.namespace != "" {
		kinds = "-n " + w.namespace + " all,priorityclass,nodepools"
	}
	return kinds + " -l " + kube.LabelRun + "=" + w.run.ID()
}
