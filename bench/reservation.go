package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/storetest"
)

// What is measured of reservations. Brokers here are the library that every command
// uses, two of them, each with its own copy; Boskos is its own binary, asked as its
// clients do. Both keep what they know at the same API server.
const (
	leaseWorkers    = 8   // each has what it takes and gives back for itself
	leaseRounds     = 150 // of one worker
	manyRows        = 10_000
	manyWaiters     = 1_000
	crowded         = 50 // reservations that the waiters stand before
	manyAsked       = 200
	leaseAcquire    = "reservation: acquire"
	leaseRelease    = "reservation: release"
	boskosAcquire   = "boskos: acquire"
	boskosRelease   = "boskos: release"
	crowdedList     = "reservation: list, 10,000 and 1,000 waiting"
	crowdedAcquire  = "reservation: acquire, 10,000 and 1,000 waiting"
	leaseThroughput = "reservation: acquired and released a second"
)

func (b *bench) measureReservations(ctx context.Context) error {
	s, err := storetest.Start(filepath.Join(b.dir, "store"))
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	defer func() {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}()
	k, err := store.NewKube(s.Config)
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	brokers, err := twoBrokers(ctx, k, &running)
	if err != nil {
		return err
	}
	ours, err := b.measureLeases(ctx, k, brokers)
	if err != nil {
		return err
	}
	theirs, err := b.measureBoskos(ctx, s)
	if err != nil {
		return err
	}
	b.say("%s: %.0f, boskos: %.0f, ratio %.2f (%d workers)", leaseThroughput, ours, theirs, ours/theirs, leaseWorkers)
	b.ratios = append(b.ratios, ratio{name: "reservation/boskos, acquired and released a second", value: ours / theirs})
	return b.measureCrowd(ctx, k, brokers)
}

func twoBrokers(ctx context.Context, k *store.Kube, running *sync.WaitGroup) ([]*broker.Broker, error) {
	var out []*broker.Broker
	for range 2 {
		c := store.NewCached(k)
		ended, err := c.Run(ctx)
		if err != nil {
			return nil, err //nolint:wrapcheck // says what it was doing
		}
		running.Go(func() { <-ended })
		out = append(out, broker.New(broker.Options{Store: c}))
	}
	return out, nil
}

// measureLeases has workers take and give back, and tells how many a second they did.
func (b *bench) measureLeases(ctx context.Context, k *store.Kube, brokers []*broker.Broker) (float64, error) {
	var names []string
	for i := range leaseWorkers {
		names = append(names, fmt.Sprintf("bench-%d", i))
	}
	if err := createAll(ctx, k, names); err != nil {
		return 0, err
	}
	return b.race(leaseAcquire, leaseRelease, func(worker int, lap func(string, func() error) error) error {
		br, name := brokers[worker%len(brokers)], names[worker]
		var got []broker.Grant
		if err := lap(leaseAcquire, func() (err error) {
			got, err = br.Acquire(ctx, broker.Request{Reservations: []string{name}, Ticket: ticket(worker)})
			return err
		}); err != nil {
			return err
		}
		return lap(leaseRelease, func() error { return br.Release(ctx, name, got[0].Token, "") })
	})
}

func ticket(worker int) lease.Ticket {
	return lease.Ticket{Holder: fmt.Sprintf("worker-%d", worker), Purpose: "bench", Period: lease.Spans(time.Minute)}
}

// race has all workers do their rounds at once, notes how long each lap took, and tells
// how many rounds a second there were.
func (b *bench) race(first, second string, round func(worker int, lap func(string, func() error) error) error) (float64, error) {
	var mu sync.Mutex
	lap := func(name string, f func() error) error {
		began := time.Now()
		err := f()
		took := time.Since(began).Seconds()
		mu.Lock()
		defer mu.Unlock()
		b.add(name, took)
		return err
	}
	for _, name := range []string{first, second} { // in this order, whoever is first
		b.order = append(b.order, name)
		b.samples[name] = nil
	}
	errs := make([]error, leaseWorkers)
	var workers sync.WaitGroup
	began := time.Now()
	for w := range leaseWorkers {
		workers.Go(func() {
			for range leaseRounds {
				if errs[w] = round(w, lap); errs[w] != nil {
					return
				}
			}
		})
	}
	workers.Wait()
	return leaseWorkers * leaseRounds / time.Since(began).Seconds(), errors.Join(errs...)
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
				if _, err := k.Create(ctx, r); err != nil {
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
func (b *bench) measureCrowd(ctx context.Context, k *store.Kube, brokers []*broker.Broker) error {
	var names []string
	for i := range manyRows {
		names = append(names, fmt.Sprintf("many-%05d", i))
	}
	fmt.Fprintf(os.Stderr, "bench: %d reservations, %d waiting before %d of them\n", manyRows, manyWaiters, crowded)
	if err := createAll(ctx, k, names); err != nil {
		return err
	}
	waiting, leave := context.WithCancel(ctx)
	var waiters sync.WaitGroup
	defer func() { leave(); waiters.Wait() }()
	for i := range crowded {
		if _, err := brokers[0].Acquire(ctx, broker.Request{Reservations: names[i : i+1], Ticket: lease.Ticket{Holder: "holder"}}); err != nil {
			return err //nolint:wrapcheck // says what it was doing
		}
	}
	standing := make(chan struct{}, manyWaiters)
	for i := range manyWaiters {
		told := sync.OnceFunc(func() { standing <- struct{}{} })
		waiters.Go(func() {
			_, _ = brokers[i%len(brokers)].Acquire(waiting, broker.Request{ // it ends when it is told to
				Reservations: []string{names[i%crowded]}, Ticket: ticket(i), Wait: true, Progress: func([]broker.Place) { told() },
			})
		})
	}
	for range manyWaiters {
		select {
		case <-standing:
		case <-ctx.Done():
			return context.Cause(ctx) //nolint:wrapcheck // an interrupt
		}
	}
	for i := range manyAsked {
		began := time.Now()
		list, err := brokers[1].List(ctx)
		if err != nil {
			return err //nolint:wrapcheck // says what it was doing
		}
		b.add(crowdedList, time.Since(began).Seconds())
		if len(list) < manyRows {
			return fmt.Errorf("%d reservations are listed, not %d", len(list), manyRows)
		}
		name := names[crowded+i*7]
		began = time.Now()
		got, err := brokers[i%len(brokers)].Acquire(ctx, broker.Request{Reservations: []string{name}, Ticket: ticket(i)})
		if err != nil {
			return err //nolint:wrapcheck // says what it was doing
		}
		b.add(crowdedAcquire, time.Since(began).Seconds())
		if err := brokers[i%len(brokers)].Release(ctx, name, got[0].Token, ""); err != nil {
			return err //nolint:wrapcheck // says what it was doing
		}
	}
	return nil
}
