package reservation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

type runFlags struct {
	store                        *storeFlags
	hooks                        *string
	file, schedule, batch        string
	once, listen, namespace      string
	ready                        readyFlags
	notice, warn                 time.Duration
	grace, period, poll, leading time.Duration
	retention                    time.Duration
	historyLimit                 int
	out                          *cmdutil.Output
}

func newRun(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the reservation controller: execute the schedule",
		Args:  cobra.NoArgs,
		Long: `Provision the daytime deployments, remove them in the evening and run the batch at night,
each retried while its window lasts; warn holders before their lease expires, end expired
leases and clean dirty reservations. Failures are logged, recorded (kubectl get handovers)
and exported as metrics.

Any number of controllers may run: one leads, the others wait for its Lease. If it is
killed, the next leader resumes from the recorded state. SIGTERM releases unfinished work
for the next leader.

With --once one entry of the schedule is executed now, to its end. If a controller runs,
it executes the entry.

Exit codes: 0 stopped by a signal, or the entry is done; 1 the entry of --once failed; 3
the store is unavailable, or leadership is lost.`,
		Example: `  # Run with metrics on port 9478
  firstlight reservation run --listen :9478

  # Run with the store in a cluster
  firstlight reservation run --kubeconfig store.yaml --namespace firstlight

  # Run the nightly batch now
  firstlight reservation run --once nightly-batch`,
	}
	f := &runFlags{store: addStoreFlags(cmd), hooks: addHooksFlag(cmd), out: cmdutil.AddOutputFlag(cmd)}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "reservations.yaml", "registry, applied to the store")
	flags.StringVar(&f.schedule, "schedule", "schedule.yaml", "schedule")
	flags.StringVar(&f.batch, "batch", "batch.yaml", "configuration of the nightly batch, if the schedule has one")
	flags.StringVar(&f.once, "once", "", "execute this entry of the schedule now, and exit")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:9478", "address of /metrics, /status, /healthz and /readyz (empty: none)")
	flags.StringVar(&f.namespace, "namespace", "default", "namespace of the leader-election Lease")
	flags.DurationVar(&f.notice, "notice", eveningNotice, "time between the evening notice to a holder and the removal")
	flags.DurationVar(&f.warn, "warn", 30*time.Minute, "time before the expiry of a lease at which its holder is warned")
	f.ready.add(cmd)
	flags.DurationVar(&f.grace, "grace", 30*time.Second, "grace period after the expiry of a lease")
	flags.DurationVar(&f.period, "period", time.Minute, "renewal interval of the controller's leases")
	flags.DurationVar(&f.poll, "poll", time.Second, "interval of the search for expired leases")
	flags.DurationVar(&f.retention, "retention", controller.DefaultRetention, "age at which hand-overs and archived history are deleted")
	flags.IntVar(&f.historyLimit, "history-limit", controller.DefaultHistoryLimit, "number of archived events kept for each reservation")
	flags.DurationVar(&f.leading, "leader-elect-lease-duration", 15*time.Second, "leader-election lease duration")
	cmdutil.HideFlags(cmd, "grace", "period", "poll")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) }
	return cmd
}

type running struct {
	*controller.Controller
	config *rest.Config
	store  *store.Kube
	// cached serves the reads of controller and broker.
	cached   *store.Cached
	broker   *broker.Broker
	schedule *calendar.Schedule
	clock    clock.Clock
	log      *slog.Logger
	identity string
	// unregistered are reservations in use whose rows have left the registry.
	unregistered []string
	// problems of the schedule at the start.
	problems []string
}

func (f *runFlags) run(ctx context.Context, s cmdutil.Streams) error {
	r, err := f.open(ctx, s)
	if err != nil {
		return err
	}
	if f.once != "" {
		return f.runOnce(ctx, s, r)
	}
	served, err := serveController(ctx, f.listen, r)
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	defer served.close()
	err = controller.RunAsLeader(ctx, r.config, controller.LeaderOptions{
		Namespace: f.namespace, Identity: r.identity, LeaseDuration: f.leading,
		OnNewLeader: func(leader string) { r.log.Info("leader elected", "leader", leader, "self", leader == r.identity) },
	}, func(ctx context.Context) error {
		served.leads(true)
		defer served.leads(false)
		return r.Run(ctx)
	})
	if ctx.Err() != nil {
		return &cmdutil.ExitError{Code: cmdutil.ExitPassed} // stopped by a signal
	}
	return cmdutil.Unobserved(err)
}

// open reads all files and connects to the store.
func (f *runFlags) open(ctx context.Context, s cmdutil.Streams) (*running, error) {
	reg, errReg := cmdutil.ParseFile(s, f.file, config.ParseRegistry)
	times, errTimes := cmdutil.ParseFile(s, f.schedule, calendar.Parse)
	var night *matrix.Config // nil if the schedule has no batch
	var errNight error
	if errTimes == nil && slices.ContainsFunc(times.Entries(), func(e calendar.Entry) bool { return e.Action == calendar.Batch }) {
		night, errNight = cmdutil.ParseFile(s, f.batch, matrix.Parse)
	}
	if err := errors.Join(errReg, errTimes, errNight); err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	if f.once != "" {
		if _, err := times.Entry(f.once); err != nil {
			return nil, cmdutil.UsageErrorf("--once: %w in %s", err, f.schedule)
		}
	}
	if err := f.checkDurations(); err != nil {
		return nil, err
	}
	if err := f.ready.check(); err != nil {
		return nil, err
	}
	now, err := f.store.clock()
	if err != nil {
		return nil, err
	}
	r := &running{schedule: times, clock: now, identity: identity(), problems: scheduleProblems(times, now.Now().UTC().Year())}
	r.log = slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{ReplaceAttr: timeOf(r.clock)}))
	for _, p := range r.problems {
		r.log.Error("the schedule breaks a rule", "problem", p, "remedy", "firstlight reservation schedule check --file "+f.schedule)
	}
	if err := f.ready.checkRows(deployed(reg, times)...); err != nil { // the other rows need the controller
		r.log.Error("the registry has rows that get no deployment", "file", f.file, "why", err)
	}
	config, err := f.store.config(ctx, s)
	if err != nil {
		return nil, err
	}
	k, err := store.NewKube(config)
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	applied, err := k.Apply(ctx, specs(reg))
	if err != nil {
		return nil, storeError(err)
	}
	for _, a := range applied {
		if a.Unregistered {
			r.unregistered = append(r.unregistered, a.Name)
			r.log.Error("not in the registry", "reservation", a.Name, "why", a.Reason, "remedy", controller.NotInRegistry(a.Name))
		}
	}
	r.config, r.store = config, k
	r.broker, r.cached, _, err = broker.OpenCached(ctx, config, broker.Options{Clock: r.clock, Grace: f.grace})
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	r.Controller, err = f.controller(s, r, reg, night)
	return r, err
}

// deployed returns the rows for which the schedule provisions deployments.
func deployed(reg *config.Registry, times *calendar.Schedule) (out []config.Reservation) {
	does := map[calendar.Action]bool{}
	for _, e := range times.Entries() {
		does[e.Action] = true
	}
	for _, row := range reg.Reservations {
		if does[calendar.Up] && row.DaytimeIntent != "" || does[calendar.Batch] && len(row.Nightly()) > 0 {
			out = append(out, row)
		}
	}
	return out
}

// minPeriod leaves a Job a second to end in the last third of the interval.
const minPeriod = 5 * time.Second

func (f *runFlags) checkDurations() error {
	switch {
	case f.notice < 0 || f.warn < 0:
		return cmdutil.UsageErrorf("invalid --notice %s or --warn %s: must not be negative", f.notice, f.warn)
	case min(f.grace, f.period, f.poll, f.leading) <= 0:
		return cmdutil.UsageErrorf("invalid --grace %s, --period %s, --poll %s or --leader-elect-lease-duration %s: must be positive", f.grace, f.period, f.poll, f.leading)
	case f.period < minPeriod:
		return cmdutil.UsageErrorf("invalid --period %s: must be at least %s", f.period, minPeriod)
	case f.retention <= 0 || f.historyLimit <= 0:
		return cmdutil.UsageErrorf("invalid --retention %s or --history-limit %d: must be positive", f.retention, f.historyLimit)
	default:
		return nil
	}
}

// scheduleProblems returns the problems of a schedule in a year and in the next, which the
// controller may reach. They do not prevent its start: without a controller no lease ends and no
// deployment is removed, and leases keep a batch and a day apart also where their margin is broken.
func scheduleProblems(times *calendar.Schedule, year int) []string {
	var out []string
	for _, y := range []int{year, year + 1} {
		for _, p := range times.Check(y) {
			if p.Severity == diag.Error {
				out = append(out, fmt.Sprintf("%d: %s", y, p))
			}
		}
	}
	return out
}

func (f *runFlags) controller(s cmdutil.Streams, r *running, reg *config.Registry, night *matrix.Config) (*controller.Controller, error) {
	leases := r.broker
	client, err := f.store.hooks(s, &reservations{Broker: leases, store: r.store}, *f.hooks)
	if err != nil {
		return nil, err
	}
	ready, err := f.ready.await(s, client)
	if err != nil {
		return nil, err
	}
	canProvision := func(row config.Reservation) error { return f.ready.checkRows(row) }
	days := controller.NewRotation(controller.RotationOptions{Broker: leases, Store: r.store, Hooks: client, Now: r.clock.Now, RenewInterval: f.period, Ready: ready, CanProvision: canProvision})
	o := controller.Options{
		Registry: reg, Unregistered: r.unregistered, Schedule: r.schedule, Store: r.cached, Broker: leases, Rotation: days, Clock: r.clock, Log: r.log,
		Notice: f.notice, WarnBefore: f.warn, SweepInterval: f.poll, Retention: f.retention, HistoryLimit: f.historyLimit,
	}
	if night != nil {
		o.Batch = nights{path: f.batch, config: night, Batch: controller.NewBatch(controller.BatchOptions{
			Broker: leases, Store: r.store, Hooks: client, Ready: ready, CanProvision: canProvision, Clean: days.Clean, Clock: r.clock, RenewInterval: f.period, Log: r.log,
		})}
	}
	return controller.New(o), nil
}

// identity is the unique name of this controller.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s_%d_%d", host, os.Getpid(), time.Now().UnixNano())
}

// timeOf makes log lines have the time of a clock.
func timeOf(c clock.Clock) func([]string, slog.Attr) slog.Attr {
	return func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.String(slog.TimeKey, c.Now().UTC().Format("2006-01-02T15:04:05Z"))
		}
		return a
	}
}

// leadTimeout is how long --once tries to lead before it leaves the entry to the running
// controller.
const leadTimeout = 3 * time.Second

// runOnce executes an entry, or makes the running controller execute it.
func (f *runFlags) runOnce(ctx context.Context, s cmdutil.Streams, r *running) error {
	var done *store.HandOver
	err := controller.RunAsLeader(ctx, r.config, controller.LeaderOptions{Namespace: f.namespace, Identity: r.identity, LeaseDuration: f.leading, WaitTimeout: leadTimeout}, func(ctx context.Context) (err error) {
		done, err = r.Once(ctx, f.once, defaultHolder())
		return err
	})
	if errors.Is(err, controller.ErrNotLeader) {
		r.log.Info("the running controller executes the entry", "reason", err)
		done, err = f.follow(ctx, r)
	}
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	if done == nil {
		return &cmdutil.ExitError{Code: cmdutil.ExitUnobserved, Err: fmt.Errorf("%s did not finish: %w", f.once, errors.Join(context.Cause(ctx), errNotDone))}
	}
	return f.show(s, done)
}
