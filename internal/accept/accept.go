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

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/localhost"
	"github.com/firstlight/firstlight/internal/probe/ssh"
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
	Playbook func(c PlanContext) (plan.Plan, error)
	// Cluster may wait until the cluster is ready; nil: the site has no cluster.
	Cluster Reach
	// Machine identifies the machine of a run without a cluster.
	Machine func() (localhost.Machine, error)
	// Slurm runs a command on the login host of a Slurm cluster.
	Slurm func(ctx context.Context, argv ...string) (ssh.Output, error)
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
	// AllowFailed is the most failed nodes that the run leaves out; see plan.JudgePart.
	AllowFailed int
	// AddedTo is the accepted run that the run adds nodes to.
	AddedTo string
	// Soak is the ID of the soak that the run is a repetition of.
	Soak string
	// Created, if set, is called with the ID of a new run before its first gate.
	Created func(run string) error
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

// PlanContext is what the playbook of a run is made with.
type PlanContext struct {
	// RunID is empty and Cluster nil for a plan that is described, not executed.
	RunID   string
	Cluster Reach
	// Include are the checks in addition to the gates.
	Include []string
	// Killed are the killed runs whose objects this run removes.
	Killed []string
}

// Reach returns the cluster once it is ready.
type Reach func(ctx context.Context) (*kube.Cluster, error)

// execution is one execution of a run, by one process.
type execution struct {
	opts       Options
	run        *evidence.Run
	earlier    map[string]plan.Result
	resumed    bool
	from, only string
	include    []string
	namespace  string
	// killed are killed runs. Their objects are removed before the first use of the cluster; none
	// without a cluster.
	killed []leftRun
	// leftJobs are the IDs of killed runs of a Slurm cluster.
	leftJobs []string

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
	// submitted is set once a gate may have submitted jobs of Slurm.
	submitted atomic.Bool

	opening sync.Mutex // held while the cluster is opened, which may take minutes
	mu      sync.Mutex
	cluster *kube.Cluster // nil until it is open
	taken   error         // set when the Lease of the run is lost
	// stopCleaning is set when the run removes its objects, and the Lease with its namespace.
	stopCleaning context.CancelFunc
	// unidentified is why the cluster is not identified. The goroutine of identify writes it.
	unidentified error
	// unlisted are notes on kinds that the clean-up could not list, and nodes that it kept.
	unlisted []string
}

// cleanupTimeout limits the removal of a run's objects.
const cleanupTimeout = 5 * time.Minute

// Run executes or resumes a run. The report is valid if its Run is set, even with an error.
func Run(ctx context.Context, o Options) (Report, error) {
	x, err := newExecution(o)
	if err != nil {
		return Report{}, err
	}
	if err := x.open(ctx); err != nil {
		return Report{}, err
	}
	ctx, x.cancel = context.WithCancelCause(ctx)
	defer x.cancel(nil)
	p, err := o.Playbook(PlanContext{RunID: x.run.ID(), Cluster: x.reach, Include: x.include, Killed: x.killedRuns()})
	if err != nil {
		return Report{}, errors.Join(err, x.run.Close())
	}
	executor := plan.Executor{
		Plan: p, Store: x.run, Clock: o.Clock, Events: o.Events,
		From: x.fromHere(), Only: x.only, Until: o.Until, Earlier: x.earlier,
		Parallel: o.Parallel, Cleanup: x.cleanGate,
	}
	identify := x.identifyMachine
	switch {
	case o.Cluster != nil:
		executor.Capacity, identify = x.freeGPUs, x.identify
	case o.Slurm != nil:
		identify = x.identifySlurm
	}
	x.cancelLeft(ctx)
	identified := make(chan struct{})
	identifying, stop := context.WithCancel(ctx)
	go func() { defer close(identified); identify(identifying) }()
	outcome, runErr := executor.Run(ctx)
	if err := errors.Join(x.cleanRun(ctx), x.cancelOwn(ctx)); err != nil {
		outcome.AddUncleaned(err)
	}
	outcome.Notes = append(outcome.Notes, x.unlisted...)
	if err := x.release(ctx); err != nil {
		outcome.Notes = append(outcome.Notes, err.Error())
	}
	x.stopRenewing()
	stop()
	<-identified
	if err := x.unidentified; err != nil {
		outcome.Notes = append(outcome.Notes, err.Error())
	}
	finishErr := x.finish(outcome, runErr)
	report := x.report(p, outcome)
	return report, errors.Join(x.lostTo(), runErr, finishErr)
}

func newExecution(o Options) (*execution, error) {
	x := &execution{opts: o, from: o.From, only: o.Only, include: o.Include, namespace: o.Namespace, silent: map[string]kube.RunLease{}}
	var err error
	if x.limits, err = loadLimits(); err != nil {
		return nil, err
	}
	x.process, err = thisProcess()
	return x, err
}

// lost ends the execution, also while it removes its objects, because another process took over
// its run or may do so.
func (x *execution) lost(err error) {
	x.mu.Lock()
	if x.taken == nil {
		x.taken = err
	}
	if x.stopCleaning != nil {
		x.stopCleaning()
	}
	x.mu.Unlock()
	x.cancel(err)
}

// lostTo says how the Lease of the run was lost; nil if it was not.
func (x *execution) lostTo() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.taken
}

func (x *execution) wait(ctx context.Context, d time.Duration) error {
	if x.opts.Wait != nil {
		return x.opts.Wait(ctx, d)
	}
	if poll.Sleep(ctx, d) != nil {
		return ctx.Err()
	}
	return nil
}

func (x *execution) now() time.Time {
	if x.opts.Clock == nil {
		return time.Now()
	}
	return x.opts.Clock()
}

// fromHere is empty for a resumed run, which continues where it stopped.
func (x *execution) fromHere() string {
	if x.resumed {
		return ""
	}
	return x.from
}

func (x *execution) finish(outcome plan.Outcome, runErr error) error {
	notes := slices.Concat(outcome.Notes, outcome.Uncleaned)
	if err := errors.Join(x.lostTo(), runErr); err != nil {
		return x.run.Close(append(notes, err.Error())...)
	}
	if x.opts.Until != "" && len(outcome.Omitted) > 0 {
		return x.run.Close(notes...)
	}
	return x.run.Finish(outcome, x.opts.Charts)
}

func (x *execution) note(format string, args ...any) {
	if x.opts.Note != nil {
		x.opts.Note(fmt.Sprintf(format, args...))
	}
}

// identifyInterval is the time between the attempts to identify the cluster, identifyTimeout the limit of
// the last attempt, at the end of the run.
const (
	identifyInterval = 5 * time.Second
	identifyTimeout  = 10 * time.Second
)

// identify records the identity of the cluster, and whether it is simulated, once the cluster answers. It
// repeats a failed attempt until the run ends, and then once more: a request that fails at the start, or a control
// plane that a gate's preparation installs, would leave the verdicts of the whole run without a cluster.
func (x *execution) identify(ctx context.Context) {
	_, _ = x.reach(ctx) // the gates that need the cluster report the error, and open it later
	for {
		last := ctx.Err() != nil
		if c := x.reached(); c != nil && x.identified(ctx, c) {
			return
		}
		if last {
			return
		}
		_ = x.wait(ctx, identifyInterval) // ends with the run
	}
}

// identified makes one attempt. Its error is kept for the notes of the run.
func (x *execution) identified(ctx context.Context, c *kube.Cluster) bool {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), identifyTimeout)
		defer cancel()
	}
	observed, err := observeIdentity(ctx, c)
	if err != nil {
		x.unidentified = fmt.Errorf("cannot identify the cluster: %w", err)
		return false
	}
	x.unidentified = nil
	x.recordIdentity(ctx, c, observed)
	return true
}

func (x *execution) recordIdentity(ctx context.Context, c *kube.Cluster, observed Identity) {
	o, err := observed.Observation(x.now())
	if err == nil {
		_, err = x.run.Record(0, o)
	}
	if err != nil {
		x.note("%v", err)
		return
	}
	id := observed.identity()
	// First, since verdicts of an unknown cluster are never kept.
	err = x.run.Amend(func(h *evidence.Header) { h.Cluster, h.Simulated, h.SimulatedWhy = id.uid, id.simulated, id.why })
	if err != nil {
		x.note("%v", err)
	}
	server, err := c.Client.Discovery().ServerVersion()
	if err != nil {
		x.note("cannot read the Kubernetes version: %v", err)
		return
	}
	var digests map[string]string
	if x.opts.Digests != nil {
		if digests, err = x.opts.Digests(ctx); err != nil {
			x.note("cannot read the digests of the cluster's programs: %v", err)
		}
	}
	err = x.run.Amend(func(h *evidence.Header) {
		h.Digests = digests
		versions := map[string]string{apiServer: server.GitVersion}
		maps.Copy(versions, h.Versions) // a lab has versions of all its programs
		h.Versions = versions
	})
	if err != nil {
		x.note("%v", err)
	}
}

// apiServer is the key of the API server in versions.
const apiServer = "kube-apiserver"

func (x *execution) reach(ctx context.Context) (*kube.Cluster, error) {
	x.opening.Lock()
	defer x.opening.Unlock()
	if c := x.reached(); c != nil {
		return c, nil
	}
	if x.opts.Cluster == nil {
		return nil, errNoCluster
	}
	c, err := x.opts.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	if err := x.removeLeft(ctx, c); err != nil {
		return nil, err
	}
	c = c.In(x.namespace)
	c.Creating, c.RenewLease, c.ReleaseLease = func() { x.created.Store(true) }, x.acquire, x.release
	x.mu.Lock()
	x.cluster = c
	x.mu.Unlock()
	return c, nil
}

// reached is the open cluster, or nil. It never waits: gates that need no cluster run while
// the cluster starts.
func (x *execution) reached() *kube.Cluster {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.cluster
}

// freeGPUs is the capacity for claims.
func (x *execution) freeGPUs(ctx context.Context) (int, error) {
	c, err := x.reach(ctx)
	if err != nil {
		return 0, err
	}
	var nodes []string
	for _, n := range x.opts.Site.Inventory.Nodes {
		nodes = append(nodes, n.Name)
	}
	class, err := inventory.Class(ctx, c, x.opts.Site.GPUStack, nodes)
	if err != nil {
		return 0, fmt.Errorf("count free GPUs: %w", err)
	}
	usage, err := inventory.UsageBy(ctx, c, class, nodes)
	if err != nil {
		return 0, fmt.Errorf("count free GPUs: %w", err)
	}
	total := 0
	for _, u := range usage {
		total += u.Free()
	}
	return total, nil
}

// cleanRun removes the objects of this run, and those of killed runs. A run that created
// nothing needs no permission to list what it did not create.
func (x *execution) cleanRun(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if x.opts.Keep {
		x.note("objects of run %s are kept; remove them with kubectl delete %s", x.run.ID(), x.objects())
		return nil
	}
	x.mu.Lock()
	x.stopCleaning = cancel
	x.mu.Unlock()
	if err := x.lostTo(); err != nil {
		return fmt.Errorf("objects of run %s were not removed: %w", x.run.ID(), err)
	}
	c := x.reached()
	if c == nil && len(x.killed) > 0 {
		var err error
		if c, err = x.reach(ctx); err != nil {
			return fmt.Errorf("objects of killed runs were not removed: %w", err)
		}
	}
	if c == nil || !x.created.Load() {
		return nil
	}
	x.note("removing the objects of the run")
	err := x.removeObjects(ctx, kube.Guest{Cluster: c, ClusterEnds: x.opts.ClusterEnds}, x.run.ID())
	switch {
	case err != nil && kube.OnlyAPIUnavailable(err):
		return fmt.Errorf("clean up after run %s: %w", x.run.ID(), err)
	case err != nil:
		return fmt.Errorf("objects of run %s are left; remove them with kubectl delete %s: %w", x.run.ID(), x.objects(), err)
	}
	return nil
}

// withoutUnlisted is the error of a clean-up without the kinds that the account may neither list nor
// create, and without the nodes on which pods of others run: these are notes of the report.
func (x *execution) withoutUnlisted(run string, err error) error {
	notListed, err := kube.NotListed(err)
	if notListed != nil {
		x.mu.Lock()
		x.unlisted = append(x.unlisted, fmt.Sprintf("clean-up of run %s: %v", run, notListed))
		x.mu.Unlock()
	}
	occupied, err := kube.Occupied(err)
	if occupied != nil {
		x.mu.Lock()
		x.unlisted = append(x.unlisted, fmt.Sprintf("clean-up of run %s: %v", run, occupied))
		x.mu.Unlock()
	}
	return err
}

// objects are the kinds and the selector of the run's objects for kubectl.
func (x *execution) objects() string {
	kinds := "namespace,priorityclass,nodepools"
	if x.namespace != "" {
		kinds = "-n " + x.namespace + " all,priorityclass,nodepools"
	}
	return kinds + " -l " + kube.LabelRun + "=" + x.run.ID()
}
