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

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// runFlags are those of reservation run.
type runFlags struct {
	store                        *storeFlags
	hooks                        *string
	file, schedule, batch        string
	once, listen, namespace      string
	ready                        readyFlags
	notice, warn                 time.Duration
	grace, period, poll, leading time.Duration
	out                          *format
}

func newReservationRun(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "run", Short: "Do by the clock what the schedule says", Args: cobra.NoArgs,
		Long: `Stands up what people have by day, takes it down in the evening and runs the batch at
night, each tried again while its window lasts and watched to its end; warns holders before
the end of their lease, ends what is over and cleans what is dirty. What fails is logged,
kept (kubectl get handovers) and told to Prometheus.

Any number may run: one works, the others wait for its Lease. One that is killed is gone on
after by the next, from what was written down. SIGTERM ends it: work that was begun is given
back and begun again by the next.

With --once one entry of the schedule is done now, by hand, to its end. Where a controller
runs, that one does it.

Exit codes: 0 told to end (or the entry was done), 1 the entry of --once failed, 3 the store
could not be asked or another controller may lead.`,
		Example: `  firstlight reservation run --listen :9478
  firstlight reservation run --kubeconfig store.yaml --namespace firstlight
  firstlight reservation run --once nightly-batch`,
	}
	f := &runFlags{store: addStoreFlags(cmd), hooks: addHooksFlag(cmd), out: addOutputFlag(cmd)}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "reservations.yaml", "the registry; it is applied to the store")
	flags.StringVar(&f.schedule, "schedule", "schedule.yaml", "the times")
	flags.StringVar(&f.batch, "batch", "batch.yaml", "what the nightly batch runs, where the schedule has one")
	flags.StringVar(&f.once, "once", "", "do this entry of the schedule now, and end")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:9478", "address of /metrics, /status, /healthz and /readyz; empty: none")
	flags.StringVar(&f.namespace, "namespace", "default", "where the Lease of the controllers is kept")
	flags.DurationVar(&f.notice, "notice", eveningNotice, "how long a holder keeps it in the evening")
	flags.DurationVar(&f.warn, "warn", 30*time.Minute, "how long before the end of a lease its holder is told")
	f.ready.add(cmd)
	flags.DurationVar(&f.grace, "grace", 30*time.Second, "how long a lease of which the term is over is watched before it ends")
	flags.DurationVar(&f.period, "period", time.Minute, "within what time leases that it works under are renewed")
	flags.DurationVar(&f.poll, "poll", time.Second, "how often what is over is looked for")
	flags.DurationVar(&f.leading, "leader-elect-lease-duration", 15*time.Second, "after what silence another controller may work")
	for _, name := range []string{"grace", "period", "poll"} {
		if err := flags.MarkHidden(name); err != nil {
			panic(err) // the flag was added above
		}
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) }
	return cmd
}

// running is what a controller works with.
type running struct {
	*controller.Controller
	config *rest.Config
	store  *store.Kube
	// cached is the copy that the controller looks at; broker makes steps on it.
	cached   *store.Cached
	broker   *broker.Broker
	schedule *calendar.Schedule
	clock    clock.Clock
	log      *slog.Logger
	identity string
}

func (f *runFlags) run(ctx context.Context, s Streams) error {
	r, err := f.open(ctx, s)
	if err != nil {
		return err
	}
	if f.once != "" {
		return f.doOnce(ctx, s, r)
	}
	served, err := serveController(ctx, f.listen, r)
	if err != nil {
		return infrastructure(err)
	}
	defer served.close()
	err = controller.RunAsLeader(ctx, r.config, controller.LeaderOptions{
		Namespace: f.namespace, Identity: r.identity, LeaseDuration: f.leading,
		OnNewLeader: func(who string) { r.log.Info("leads", "controller", who, "me", who == r.identity) },
	}, func(ctx context.Context) error {
		served.leads(true)
		defer served.leads(false)
		return r.Run(ctx) //nolint:wrapcheck // says what it was doing
	})
	if ctx.Err() != nil {
		return &exitError{code: ExitPassed} // it was told to end
	}
	return infrastructure(err)
}

// open reads the files, all of them, and reaches the store.
func (f *runFlags) open(ctx context.Context, s Streams) (*running, error) {
	reg, errReg := reservationFile(s, f.file, config.ParseRegistry)
	times, errTimes := reservationFile(s, f.schedule, calendar.Parse)
	var night *matrix.Config // nil: the schedule has no batch
	var errNight error
	if errTimes == nil && slices.ContainsFunc(times.Entries(), func(e calendar.Entry) bool { return e.Action == calendar.Batch }) {
		night, errNight = reservationFile(s, f.batch, matrix.Parse)
	}
	if err := errors.Join(errReg, errTimes, errNight); err != nil {
		return nil, usage("%w", err)
	}
	if f.once != "" {
		if _, err := times.Entry(f.once); err != nil {
			return nil, usage("--once: %w in %s", err, f.schedule)
		}
	}
	config, err := f.store.config(ctx, s)
	if err != nil {
		return nil, err
	}
	kept, err := store.NewKube(config)
	if err != nil {
		return nil, infrastructure(err)
	}
	if _, err := kept.Apply(ctx, specs(reg)); err != nil {
		return nil, explainStore(err)
	}
	r := &running{config: config, store: kept, schedule: times, identity: identity()}
	if r.clock, err = f.store.clock(); err != nil {
		return nil, err
	}
	r.log = slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{ReplaceAttr: timeOf(r.clock)}))
	r.broker, r.cached, _, err = broker.OpenCached(ctx, config, broker.Options{Clock: r.clock, Grace: f.grace})
	if err != nil {
		return nil, infrastructure(err)
	}
	r.Controller, err = f.controller(s, r, reg, night)
	return r, err
}

func (f *runFlags) controller(s Streams, r *running, reg *config.Registry, night *matrix.Config) (*controller.Controller, error) {
	leases := r.broker
	client, err := f.store.hooks(s, &reservations{Broker: leases, store: r.store}, *f.hooks)
	if err != nil {
		return nil, err
	}
	ready, err := f.ready.await(s, client)
	if err != nil {
		return nil, err
	}
	days := controller.NewRotation(controller.RotationOptions{Broker: leases, Store: r.store, Hooks: client, Now: r.clock.Now, RenewInterval: f.period, Ready: ready})
	o := controller.Options{
		Registry: reg, Schedule: r.schedule, Store: r.cached, Broker: leases, Rotation: days, Clock: r.clock, Log: r.log,
		Notice: f.notice, WarnBefore: f.warn, SweepInterval: f.poll,
	}
	if night != nil {
		o.Batch = nights{path: f.batch, config: night, Batch: controller.NewBatch(controller.BatchOptions{
			Broker: leases, Store: r.store, Hooks: client, Ready: ready, Clean: days.Clean, Clock: r.clock, RenewInterval: f.period, Log: r.log,
		})}
	}
	return controller.New(o), nil
}

// identity tells this controller from all others.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "somewhere"
	}
	return fmt.Sprintf("%s_%d_%d", host, os.Getpid(), time.Now().UnixNano())
}

// timeOf writes log lines at a clock's time.
func timeOf(c clock.Clock) func([]string, slog.Attr) slog.Attr {
	return func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.String(slog.TimeKey, c.Now().UTC().Format("2006-01-02T15:04:05Z"))
		}
		return a
	}
}

// takeTurn is how long --once waits for its turn before it leaves the work to the
// controller that runs.
const takeTurn = 3 * time.Second

// doOnce does an entry by hand, or has the controller that runs do it, and follows that.
func (f *runFlags) doOnce(ctx context.Context, s Streams, r *running) error {
	var done *store.HandOver
	err := controller.RunAsLeader(ctx, r.config, controller.LeaderOptions{Namespace: f.namespace, Identity: r.identity, LeaseDuration: f.leading, WaitTimeout: takeTurn}, func(ctx context.Context) (err error) {
		done, err = r.Once(ctx, f.once, whoIsThis())
		return err //nolint:wrapcheck // says what it was doing
	})
	if errors.Is(err, controller.ErrNotLeader) {
		r.log.Info("a controller runs: it does it", "why", err)
		done, err = f.follow(ctx, r)
	}
	if err != nil {
		return infrastructure(err)
	}
	if done == nil {
		return &exitError{code: ExitUnobserved, err: fmt.Errorf("%s was not done to its end: %w", f.once, errors.Join(context.Cause(ctx), errNotDone))}
	}
	return f.show(s, done)
}
