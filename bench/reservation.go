package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/lab/localstore"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

// The measurements of reservations use the brokers of the commands, with the credentials of the local
// store: broker.Open opens the broker of `reservation acquire`, `release` and `exec`, and
// broker.OpenCached that of `reservation run`. A command keeps nothing for the next: each has a new
// broker. The start of a process and its TLS handshake are excluded: a worker has one connection, as
// Boskos' clients have. Boskos runs as its own binary, with the requests of its clients.
// Both store their state in the same API server and run in alternation, so that other load affects both.
const (
	leaseWorkers    = 16 // each has what it takes and gives back for itself
	leaseRounds     = 50 // of one worker in a turn
	leaseTurns      = 5
	manyRows        = 10_000
	manyWaiters     = 1_000
	crowded         = 50 // reservations that the waiters stand before
	manyAsked       = 200
	crowdedLists    = 5  // by a command
	copiedLists     = 40 // from the copy of `run`, for each of them
	handOvers       = 50
	execAcquire     = "reservation: acquire, as reservation exec"
	execRelease     = "reservation: release, as reservation exec"
	twoAcquire      = "reservation: acquire, as two commands"
	twoRelease      = "reservation: release, as two commands"
	copiedAcquire   = "reservation: acquire, as reservation run"
	copiedRelease   = "reservation: release, as reservation run"
	boskosAcquire   = "boskos: acquire"
	boskosRelease   = "boskos: release"
	handOver        = "reservation: released until the next has it"
	crowdedList     = "reservation: list as run, 10,000 and 1,000 waiting"
	crowdedHolders  = "reservation: holders, 10,000 and 1,000 waiting"
	crowdedAcquire  = "reservation: acquire, 10,000 and 1,000 waiting"
	leaseThroughput = "reservation: acquired and released a second"
	execThroughput  = leaseThroughput + ", as reservation exec"
	twoThroughput   = leaseThroughput + ", as two commands"
)

func (b *bench) measureReservations(ctx context.Context) error {
	s, err := storetest.Start(filepath.Join(b.dir, "store"))
	if err != nil {
		return err
	}
	defer func() {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}()
	r := &leases{bench: b, config: localstore.AsUser(s.Config)}
	if _, r.kube, err = broker.Open(r.config, broker.Options{}); err != nil {
		return err
	}
	if err := r.apply(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	controller, copied, ended, err := broker.OpenCached(ctx, r.config, broker.Options{Clock: clock.Machine()})
	if err != nil {
		stop()
		return err
	}
	defer func() { stop(); <-ended }()
	theirs, halt, err := b.openBoskos(ctx, s)
	if err != nil {
		return err
	}
	err = r.compare(ctx, controller, theirs)
	halt()
	if err != nil {
		return err
	}
	if err := r.measureHandOver(ctx); err != nil {
		return err
	}
	return r.measureCrowd(ctx, copied)
}

// leases measures reservations in one store.
type leases struct {
	*bench
	config *rest.Config
	kube   *store.Kube
}

// connect connects to the API server as a command does.
func (r *leases) connect(ctx context.Context, name string) (*store.Kube, error) {
	_, k, err := broker.Open(r.config, broker.Options{})
	if err != nil {
		return nil, err
	}
	_, err = k.Get(ctx, name)
	return k, err
}

// newCommand returns the broker of a new command on a connection.
func newCommand(k *store.Kube) *broker.Broker {
	return broker.New(broker.Options{Store: k, Clock: clock.Machine()})
}

// command opens the broker of a command, with a connection of its own.
func (r *leases) command(ctx context.Context, name string) (*broker.Broker, error) {
	k, err := r.connect(ctx, name)
	return newCommand(k), err
}

func ofWorker(worker int) string { return fmt.Sprintf("bench-%d", worker) }
func ofMany(i int) string        { return fmt.Sprintf("many-%05d", i) }

// inCrowd is a free reservation among the many that is asked for.
func inCrowd(i int) string { return ofMany(crowded + i*7) }

// apply makes the reservations that are taken, as `+"`reservation apply`"+` does.
func (r *leases) apply(ctx context.Context) error {
	rows := map[string]store.Spec{"bench-next": {NeedsNoCleaning: true}}
	for i := range leaseWorkers {
		rows[ofWorker(i)] = store.Spec{NeedsNoCleaning: true}
	}
	for i := range crowded {
		rows[ofMany(i)] = store.Spec{NeedsNoCleaning: true}
	}
	for i := range manyAsked {
		rows[inCrowd(i)] = store.Spec{NeedsNoCleaning: true}
	}
	_, err := r.kube.Apply(ctx, rows)
	return err
}

// way is one way to acquire and release, and the figures of its measurements.
type way struct {
	acquire, release, throughput string
	do                           round
}

// compare has commands, the controller and Boskos take turns.
func (r *leases) compare(ctx context.Context, copied *broker.Broker, theirs round) error {
	kubes := make([]*store.Kube, leaseWorkers)
	for w := range kubes {
		var err error
		if kubes[w], err = r.connect(ctx, ofWorker(w)); err != nil {
			return err
		}
	}
	ways := []way{
		{execAcquire, execRelease, execThroughput, func(worker int, acquire, release lap) error {
			br := newCommand(kubes[worker])
			return leaseRound(ctx, worker, br, br, acquire, release)
		}},
		{twoAcquire, twoRelease, twoThroughput, func(worker int, acquire, release lap) error {
			return leaseRound(ctx, worker, newCommand(kubes[worker]), newCommand(kubes[worker]), acquire, release)
		}},
		{copiedAcquire, copiedRelease, copiedThroughput, func(worker int, acquire, release lap) error {
			return leaseRound(ctx, worker, copied, copied, acquire, release)
		}},
		{boskosAcquire, boskosRelease, boskosThroughput, theirs},
	}
	for range leaseTurns {
		for _, w := range ways {
			n, err := r.race(w)
			if err != nil {
				return err
			}
			r.add(w.throughput, n)
		}
	}
	r.say("reservations: %d workers, %d turns", leaseWorkers, leaseTurns)
	return nil
}

// leaseRound acquires the reservation of a worker with one broker and releases it with another.
func leaseRound(ctx context.Context, worker int, first, second *broker.Broker, acquire, release lap) error {
	var got []broker.Grant
	err := acquire(func() (err error) {
		got, err = first.Acquire(ctx, broker.Request{Reservations: []string{ofWorker(worker)}, Ticket: ticket(worker)})
		return err
	})
	if err != nil {
		return err
	}
	return release(func() error { return second.Release(ctx, ofWorker(worker), got[0].Token, "") })
}

func ticket(worker int) lease.Ticket {
	return lease.Ticket{Holder: fmt.Sprintf("worker-%d", worker), Purpose: "bench", RenewInterval: lease.Duration(time.Minute)}
}

// lap times a function.
type lap func(func() error) error

// round takes and gives back once; it does either within the function that times it.
type round func(worker int, acquire, release lap) error

// race has all workers do their rounds at once, notes how long each half of a round took,
// and tells how many rounds a second there were.
func (b *bench) race(w way) (float64, error) {
	var mu sync.Mutex
	timed := func(name string) lap {
		return func(f func() error) error {
			began := time.Now()
			err := f()
			took := time.Since(began).Seconds()
			mu.Lock()
			defer mu.Unlock()
			b.add(name, took)
			return err
		}
	}
	errs := make([]error, leaseWorkers)
	var workers sync.WaitGroup
	began := time.Now()
	for i := range leaseWorkers {
		workers.Go(func() {
			for range leaseRounds {
				if errs[i] = w.do(i, timed(w.acquire), timed(w.release)); errs[i] != nil {
					return
				}
			}
		})
	}
	workers.Wait()
	return leaseWorkers * leaseRounds / time.Since(began).Seconds(), errors.Join(errs...)
}

// measureHandOver measures the time from a release to the grant to the next in the queue.
func (r *leases) measureHandOver(ctx context.Context) error {
	const name = "bench-next"
	take := func(wait bool, told func()) ([]broker.Grant, error) {
		br, err := r.command(ctx, name)
		if err != nil {
			return nil, err
		}
		return br.Acquire(ctx, broker.Request{
			Reservations: []string{name}, Ticket: ticket(0), Wait: wait, Progress: func([]broker.Place) { told() },
		})
	}
	got, err := take(false, func() {})
	if err != nil {
		return err
	}
	for range handOvers {
		standing, taken := make(chan struct{}), make(chan error, 1)
		var next []broker.Grant
		go func() {
			var err error
			next, err = take(true, sync.OnceFunc(func() { close(standing) }))
			taken <- err
		}()
		select {
		case <-standing:
		case err := <-taken:
			return errors.Join(err, errors.New("it did not have to wait"))
		}
		br, err := r.command(ctx, name)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := br.Release(ctx, name, got[0].Token, ""); err != nil {
			return err
		}
		if err := <-taken; err != nil {
			return err
		}
		r.add(handOver, time.Since(began).Seconds())
		got = next
	}
	return nil
}

// createAll makes reservations that need no cleaning, several at a time.
func createAll(ctx context.Context, k *store.Kube, names []string) error {
	work := make(chan string)
	errs := make(chan error, 1)
	var makers sync.WaitGroup
	for range leaseWorkers {
		makers.Go(func() {
			for name := range work {
				r := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: store.Spec{NeedsNoCleaning: true}}
				if _, err := k.Create(ctx, r); err != nil && !apierrors.IsAlreadyExists(err) {
					select {
					case errs <- err:
					default: // one says enough
					}
				}
			}
		})
	}
	for _, n := range names {
		work <- n
	}
	close(work)
	makers.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// measureCrowd lists and acquires where there are many, and many wait.
func (r *leases) measureCrowd(ctx context.Context, copied *store.Cached) error {
	var names []string
	for i := range manyRows {
		names = append(names, ofMany(i))
	}
	fmt.Fprintf(os.Stderr, "bench: %d reservations, %d waiting before %d of them\n", manyRows, manyWaiters, crowded)
	if err := createAll(ctx, r.kube, names); err != nil {
		return err
	}
	leave, err := r.crowd(ctx)
	defer leave()
	if err != nil {
		return err
	}
	// Apart from the acquisitions: they are other commands, and the garbage of a list of 10,000 would be
	// collected while the next command acquires.
	for range crowdedLists {
		if err := r.timedList(ctx, crowdedHolders, r.kube.List); err != nil {
			return err
		}
		for range copiedLists {
			if err := r.timedList(ctx, crowdedList, copied.List); err != nil {
				return err
			}
		}
	}
	for i := range manyAsked {
		br, err := r.command(ctx, inCrowd(i))
		if err != nil {
			return err
		}
		began := time.Now()
		got, err := br.Acquire(ctx, broker.Request{Reservations: []string{inCrowd(i)}, Ticket: ticket(i)})
		if err != nil {
			return err
		}
		r.add(crowdedAcquire, time.Since(began).Seconds())
		if err := br.Release(ctx, inCrowd(i), got[0].Token, ""); err != nil {
			return err
		}
	}
	return nil
}

func (r *leases) timedList(ctx context.Context, name string, list func(context.Context) ([]*store.Reservation, error)) error {
	began := time.Now()
	all, err := list(ctx)
	if err != nil {
		return err
	}
	r.add(name, time.Since(began).Seconds())
	if len(all) < manyRows {
		return fmt.Errorf("%d reservations are listed, not %d", len(all), manyRows)
	}
	return nil
}

// crowd has commands wait, each with a broker of its own, until leave is called. They arrive a few at a
// time: 1,000 new connections in one second are another measurement, in which tickets expire before
// their first heartbeat.
func (r *leases) crowd(ctx context.Context) (leave func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var waiters sync.WaitGroup
	leave = func() { cancel(); waiters.Wait() }
	br, err := r.command(ctx, ofMany(0))
	if err != nil {
		return leave, err
	}
	for i := range crowded {
		if _, err := br.Acquire(ctx, broker.Request{Reservations: []string{ofMany(i)}, Ticket: lease.Ticket{Holder: "holder"}}); err != nil {
			return leave, err
		}
	}
	standing := make(chan error, manyWaiters)
	arriving := make(chan struct{}, leaseWorkers)
	for i := range manyWaiters {
		arrived := sync.OnceFunc(func() { <-arriving })
		told := sync.OnceFunc(func() { arrived(); standing <- nil })
		waiters.Go(func() {
			arriving <- struct{}{}
			defer arrived()
			br, err := r.command(ctx, ofMany(i%crowded))
			if err == nil {
				_, err = br.Acquire(ctx, broker.Request{
					Reservations: []string{ofMany(i % crowded)}, Ticket: ticket(i), Wait: true, Progress: func([]broker.Place) { told() },
				})
			}
			if ctx.Err() == nil { // nothing is released while they wait
				standing <- fmt.Errorf("waiter %d waits no more: %w", i, err)
			}
		})
	}
	for range manyWaiters {
		select {
		case err := <-standing:
			if err != nil {
				return leave, err
			}
		case <-ctx.Done():
			return leave, context.Cause(ctx)
		}
	}
	return leave, nil
}
