package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

func says(r hook.Result, err error) func(context.Context) (hook.Result, error) {
	return func(context.Context) (hook.Result, error) { return r, err }
}

// Each cell has its own lease and deployment and is recorded as running first; a failed cell does
// not stop the others.
func TestANight(t *testing.T) {
	n := newNight(t, "main/training", "main/inference", "v1.2.0/training", "v1.2.0/inference", "v1.1.0/training", "v1.1.0/inference", "v1.0.0/training")
	n.cloud.tests["main/inference"] = says(hook.Result{Verdict: hook.Failed, Checks: 4, Evidence: "logs", Reason: "1 of 2 pods is pending"}, nil)
	n.cloud.tests["v1.2.0/training"] = says(hook.Result{Verdict: hook.Unobserved, Reason: "no node"}, nil)
	n.cloud.tests["v1.2.0/inference"] = says(hook.Result{Verdict: hook.Passed}, nil)
	n.cloud.tests["v1.1.0/training"] = says(hook.Result{}, errors.New("test fl-x: attempt 1: exit status 1"))
	n.cloud.tests["v1.1.0/inference"] = says(hook.Result{Verdict: "green", Checks: 1}, nil)
	n.cloud.before = func(_ context.Context, v hook.Verb, name string, l hook.Lease) error {
		if v == hook.Provision && !slices.ContainsFunc(n.last(), func(c matrix.Cell) bool {
			return c.Outcome == matrix.Running && c.Token == l.Token && c.Deployment == name && c.Ended == nil
		}) {
			t.Errorf("%s is provisioned before it is recorded: %+v", name, n.last())
		}
		return nil
	}
	got := n.run()
	n.want(got, "passed 1", "failed 1 1 of 2 pods", "failed 1 unobserved: no node", "failed 1 the test passed without checks",
		"failed 1 test fl-x: attempt 1", `failed 1 the test returned an unknown verdict "green"`, "passed 1")
	n.free()
	if c := got[1]; c.Checks != 4 || c.Evidence != "logs" {
		t.Errorf("the result is not recorded: %+v", c)
	}
	for i := range got[1:] {
		if got[i+1].Token <= got[i].Token || got[i+1].Deployment == got[i].Deployment {
			t.Errorf("two cells in one deployment, or under one token: %+v %+v", got[i], got[i+1])
		}
	}
	if h, err := n.k.History(t.Context(), n.leg.Row.Name, time.Time{}); err != nil || !slices.ContainsFunc(h, func(tr lease.Event) bool {
		return tr.Type == lease.Claimed && tr.Actor == "team-x/nightly" && tr.Reason == "v1.2.0/training"
	}) {
		t.Errorf("the history does not say what it was for: %v %v", err, h)
	}
}

// A test can have a result and an error, for example child processes that still run: the reason has both.
func TestResultWithAnError(t *testing.T) {
	t.Parallel()
	left := errors.New("processes [7] still run")
	for want, r := range map[string]hook.Result{
		"processes [7] still run":                                 {},
		"passed, but: processes [7] still run":                    {Verdict: hook.Passed, Checks: 3},
		"1 of 2 pods is pending; processes [7] still run":         {Verdict: hook.Failed, Checks: 4, Reason: "1 of 2 pods is pending"},
		"unobserved: no node; processes [7] still run":            {Verdict: hook.Unobserved, Reason: "no node"},
		"the test passed without checks; processes [7] still run": {Verdict: hook.Passed},
	} {
		if got := withResult(r, left); got != want {
			t.Errorf("%+v: got %q, want %q", r, got, want)
		}
	}
}

func TestWhatFailsBeforeTheTest(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.cloud.broken[hook.Provision] = 1
	first := true
	n.opts.Ready = func(context.Context, config.Reservation, string, hook.Lease) error {
		if first {
			first = false
			return errors.New("2 of 4 nodes")
		}
		return nil
	}
	n.want(n.run(), "failed 1 provision fl-night-r1-", "failed 1 deployment fl-night-r1-")
	n.free()
}

// A cell whose hook was cut off by its cluster, by a drained node for instance, has no result and runs again.
func TestDisruptedHook(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	cut := &hook.FailedError{Verb: hook.Test, Of: "fl-x", Attempts: 1, Err: fmt.Errorf("%w: pod x: EvictionByEvictionAPI", hook.ErrDisrupted)}
	n.cloud.tests["main/training"] = func(context.Context) (hook.Result, error) {
		if n.last()[0].Attempts == 1 {
			return hook.Result{}, cut
		}
		return hook.Result{Verdict: hook.Passed, Checks: 1}, nil
	}
	n.want(n.run(), "passed 2", "passed 1")
	n.free()
}

// A cluster that ends each attempt, of a node that is drained again and again, does not keep the later cells from their turn.
func TestHookThatIsAlwaysDisrupted(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	tries := 0
	n.cloud.tests["main/training"] = func(context.Context) (hook.Result, error) {
		if tries++; tries > 5 {
			return hook.Result{Verdict: hook.Passed, Checks: 1}, nil
		}
		return hook.Result{}, &hook.FailedError{Verb: hook.Test, Of: "fl-x", Attempts: 1, Err: fmt.Errorf("%w: pod x: EvictionByEvictionAPI", hook.ErrDisrupted)}
	}
	got := n.run()
	n.want(got, "failed 3", "passed 1")
	if !strings.Contains(got[0].Reason, "pod x: EvictionByEvictionAPI") {
		t.Errorf("the reason is %q", got[0].Reason)
	}
	n.free()
}

func TestTimedOut(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.cloud.tests["main/training"] = func(ctx context.Context) (hook.Result, error) {
		if err := n.clock.Jump(n.clock.Now().Add(time.Hour)); err != nil {
			return hook.Result{}, err
		}
		<-ctx.Done()
		return hook.Result{}, context.Cause(ctx)
	}
	n.want(n.run(), "timed-out 1 timeout after 1h0m0s", "passed 1")
	n.free()
}

// A cell that has begun is brought to its end after the cutoff; none begins.
func TestTheCutoff(t *testing.T) {
	n := newNight(t, "main/training", "main/inference", "v1.0.0/training")
	n.cloud.tests["main/training"] = func(context.Context) (hook.Result, error) {
		return hook.Result{Verdict: hook.Passed, Checks: 1}, n.clock.Jump(n.leg.Cutoff)
	}
	n.want(n.run(), "passed 1", "not-started 0 no cell starts after", "not-started 0 no cell starts after")
	n.free()
	if n.cloud.called("provision") != 1 {
		t.Errorf("provisioned after the cutoff: %v", n.cloud.calls)
	}
}

// A missed teardown blocks the batch; after an operator removes it, the batch continues with the
// same cell.
func TestTheGuard(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.sweeping()
	n.cloud.stands = []hook.Deployment{{Name: "fl-day-r1-old", Owner: "team-x", Reservation: n.leg.Row.Name, Token: 7}}
	ended := n.start(t.Context())
	const culprit = "deployment fl-day-r1-old exists, with token 7, of owner team-x: its teardown was missed"
	polltest.Until(n.t, "the culprit is written down", func() bool {
		last := n.last()
		return len(last) == 2 && last[0].Outcome == matrix.Pending && strings.Contains(last[0].Reason, culprit) && strings.Contains(last[0].Reason, "rotation down --reservation "+n.leg.Row.Name)
	})
	polltest.Until(n.t, "it waits in the queue", func() bool { return len(n.state().Queue) == 1 })
	if s := n.state(); s.CurrentState() != lease.Dirty || !s.DirtyInfo.ManualOnly || n.cloud.called("provision")+n.cloud.called("teardown") > 0 {
		t.Errorf("%s %+v: %v", s.CurrentState(), s.DirtyInfo, n.cloud.calls)
	}
	if out, err := n.rot.Down(t.Context(), n.leg.Row, "ada", n.clock.Now(), true); err != nil || out.Result != "cleaned" {
		t.Fatalf("%v %v", out, err)
	}
	got, err := ended()
	if err != nil {
		t.Fatal(err)
	}
	n.want(got, "passed 1", "passed 1")
	n.alone()
	n.free()
}

func TestBlockedUntilTheCutoff(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.sweeping()
	n.cloud.stands = []hook.Deployment{{Name: "theirs", Owner: "team-y", Reservation: n.leg.Row.Name}}
	waiting := make(chan time.Time, 8)
	n.leg.Waiting = func(until time.Time) func() { waiting <- until; return func() { waiting <- time.Time{} } }
	ended := n.start(t.Context())
	if until := <-waiting; !until.Equal(n.leg.Cutoff) {
		t.Errorf("it waits until %s, want %s", until, n.leg.Cutoff)
	}
	polltest.Until(n.t, "it is blocked", func() bool { return n.state().CurrentState() == lease.Dirty && len(n.state().Queue) == 1 })
	if err := n.clock.Jump(n.leg.Cutoff); err != nil {
		t.Fatal(err)
	}
	got, err := ended()
	if err != nil {
		t.Fatal(err)
	}
	n.want(got, "blocked 0 deployment theirs exists, of owner team-y", "blocked 0 deployment theirs exists, of owner team-y")
	if s := n.state(); s.CurrentState() != lease.Dirty || !s.DirtyInfo.ManualOnly || len(s.Queue) > 0 || len(n.cloud.stands) != 1 {
		t.Errorf("%s, %v wait, %v", s.CurrentState(), s.Queue, n.cloud.stands)
	}
	if back := <-waiting; !back.IsZero() {
		t.Errorf("it waits again until %s", back)
	}
}

// If the cloud cannot be listed, nothing is provisioned.
func TestACloudThatCanNotBeLookedAt(t *testing.T) {
	n := newNight(t, "main/training")
	n.sweeping()
	n.cloud.broken[hook.Discover] = 5
	blind := false
	record := n.leg.Record
	n.leg.Record = func(ctx context.Context, cells []matrix.Cell) error {
		blind = blind || cells[0].Outcome == matrix.Pending && strings.Contains(cells[0].Reason, "cannot list existing deployments")
		return record(ctx, cells)
	}
	n.cloud.before = func(_ context.Context, v hook.Verb, _ string, _ hook.Lease) error {
		if v == hook.Provision && n.cloud.broken[hook.Discover] > 0 {
			t.Errorf("provisioned anyway: %v", n.cloud.calls)
		}
		return nil
	}
	n.want(n.run(), "passed 1")
	n.free()
	if !blind {
		t.Errorf("it is not written down: %+v", n.written)
	}
}

func TestACloudThatIsNotSeenUntilTheCutoff(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.sweeping()
	n.cloud.broken[hook.Discover] = 1 << 30
	ended := n.start(t.Context())
	polltest.Until(n.t, "it was tried", func() bool { return n.last() != nil && n.last()[0].Reason != "" && n.cloud.called("discover") > 5 })
	if err := n.clock.Jump(n.leg.Cutoff); err != nil {
		t.Fatal(err)
	}
	got, err := ended()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got {
		if c.Outcome != matrix.Blocked || !strings.Contains(c.Reason, "no permission") || c.Attempts != 0 {
			t.Errorf("%+v", c)
		}
	}
	if n.cloud.called("provision") > 0 {
		t.Errorf("provisioned: %v", n.cloud.calls)
	}
}

// A failed teardown delays the batch, and never leads to a second deployment.
func TestATeardownThatFails(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.cloud.broken["teardown"] = 3
	n.sweeping()
	n.want(n.run(), "passed 1", "passed 1")
	n.free()
	if got := n.cloud.called("teardown"); got != 5 {
		t.Errorf("%d teardowns: %v", got, n.cloud.calls)
	}
}

func TestATeardownThatFailsUntilTheCutoff(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.cloud.broken["teardown"] = 1 << 30
	ended := n.start(t.Context())
	polltest.Until(n.t, "the second cell waits", func() bool { return n.last() != nil && n.last()[1].Reason != "" })
	if err := n.clock.Jump(n.leg.Cutoff); err != nil {
		t.Fatal(err)
	}
	got, err := ended()
	if err != nil {
		t.Fatal(err)
	}
	n.want(got, "passed 1", "blocked 0 it is dirty, and 1 attempts to clean it failed")
	if s := n.state(); s.CurrentState() != lease.Dirty || s.DirtyInfo.ManualOnly || len(n.cloud.stands) != 1 {
		t.Errorf("%s %+v, %v", s.CurrentState(), s.DirtyInfo, n.cloud.stands)
	}
}

// A teardown that does not end is left to the sweep when the window ends.
func TestTheWindowEnds(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.cloud.before = func(ctx context.Context, v hook.Verb, _ string, _ hook.Lease) error {
		if v != hook.Teardown {
			return nil
		}
		if err := n.clock.Jump(n.leg.Until); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	n.want(n.run(), "passed 1", "not-started 0 no cell starts after")
	if s := n.state(); s.CurrentState() != lease.Dirty || len(n.cloud.stands) != 1 {
		t.Errorf("it is %s, with deployments %v", s.CurrentState(), n.cloud.stands)
	}
}

// crash ends the leg's process, so to speak, in the middle of its first cell.
func (n *night) crash() []matrix.Cell {
	n.t.Helper()
	ctx, cancel := context.WithCancel(n.t.Context())
	defer cancel()
	n.cloud.tests["main/training"] = func(ctx context.Context) (hook.Result, error) {
		cancel()
		<-ctx.Done()
		return hook.Result{}, context.Cause(ctx)
	}
	opts := n.opts
	opts.Broker = broker.New(broker.Options{Store: killed{n.k, ctx}, Clock: n.clock, Poll: 10 * time.Millisecond})
	opts.RenewInterval = 2 * time.Second // it expires after that
	got, err := NewBatch(opts).Run(ctx, n.leg)
	if !errors.Is(err, context.Canceled) || got[0].Outcome != matrix.Running || got[0].Token != n.state().Token || n.state().CurrentState() != lease.Leased {
		n.t.Fatalf("%v: %+v, and it is %s", err, got, n.state().CurrentState())
	}
	delete(n.cloud.tests, "main/training")
	return got
}

// killed is the store of a process that writes nothing after its end.
type killed struct {
	*store.Kube
	life context.Context //nolint:containedctx // of the process
}

func (k killed) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	if k.life.Err() != nil {
		return nil, context.Cause(k.life)
	}
	return k.Kube.Save(ctx, r)
}

// A controller that stops ends its work first, so it releases the lease of a cell.
func TestStoppedControllerReleasesTheLeaseOfACell(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n.cloud.tests["main/training"] = func(ctx context.Context) (hook.Result, error) {
		cancel()
		<-ctx.Done()
		return hook.Result{}, context.Cause(ctx)
	}
	got, err := NewBatch(n.opts).Run(ctx, n.leg)
	if !errors.Is(err, context.Canceled) || got[0].Outcome != matrix.Running || n.state().CurrentState() != lease.Dirty {
		t.Fatalf("%v: %+v, and it is %s", err, got, n.state().CurrentState())
	}
	delete(n.cloud.tests, "main/training")
	n.leg.Cells = got
	n.want(n.run(), "passed 2", "passed 1")
	n.free()
}

// The next leader does not end the lease of a running cell: its runner may be cut off or stopped,
// and its hooks still at work.
func TestNextLeaderWaitsForTheLeaseOfARunningCell(t *testing.T) {
	n := newNight(t, "main/training")
	n.opts.RenewInterval = 6 * time.Second // shorter, a busy machine does not renew in time
	begun, end := make(chan struct{}), make(chan struct{})
	n.cloud.tests["main/training"] = func(context.Context) (hook.Result, error) {
		close(begun)
		<-end // it does not notice that its runner leads no more
		return hook.Result{Verdict: hook.Passed, Checks: 1}, nil
	}
	old := n.start(t.Context())
	<-begun
	delete(n.cloud.tests, "main/training")
	n.leg.Cells = n.last()
	next := n.start(t.Context())
	polltest.Until(n.t, "the next leader queues", func() bool { return len(n.state().Queue) > 0 })
	renewed := n.state().Lease.Heartbeats
	polltest.Until(n.t, "the lease is renewed", func() bool {
		l := n.state().Lease
		if l == nil || l.Token != n.leg.Cells[0].Token {
			t.Fatalf("the lease of the running cell has ended: %+v", n.state())
		}
		return l.Heartbeats > renewed+2
	})
	close(end)
	_, _ = old()
	got, err := next()
	if err != nil {
		t.Fatal(err)
	}
	n.want(got, "passed 2")
	n.alone()
	n.free()
}

func TestGoingOnAfterACrash(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.leg.Cells = n.crash()
	lost := n.leg.Cells[0].Token
	got := n.run()
	n.want(got, "passed 2", "passed 1")
	n.free()
	if got[0].Token <= lost {
		t.Errorf("the lost attempt's lease was used on: %d after %d", got[0].Token, lost)
	}
}

func TestGoingOnWhenTheLeaseHasExpired(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.leg.Cells = n.crash()
	n.sweeping()
	polltest.Until(n.t, "the lease expires, and its deployment is removed", func() bool { return n.state().CurrentState() == lease.Free })
	n.opts.RenewInterval = 0
	n.want(n.run(), "passed 2", "passed 1")
	n.free()
}

func TestGoingOnAfterTheCutoff(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.leg.Cells = n.crash()
	n.sweeping()
	if err := n.clock.Jump(n.leg.Cutoff); err != nil {
		t.Fatal(err)
	}
	n.want(n.run(), "interrupted 1 its runner stopped before it ended; no cell starts after", "not-started 0")
	n.free()
}

// Finished cells stay unchanged, and their reservation is cleaned.
func TestGoingOnBetweenTwoCells(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	record := n.leg.Record
	n.leg.Record = func(ctx context.Context, cells []matrix.Cell) error {
		if cells[0].Outcome == matrix.Passed {
			cancel()
		}
		return record(ctx, cells)
	}
	got, err := NewBatch(n.opts).Run(ctx, n.leg)
	if !errors.Is(err, context.Canceled) || got[0].Outcome != matrix.Passed || got[1].Outcome != matrix.Pending {
		t.Fatalf("%v: %+v", err, got)
	}
	first := got[0].Token
	n.leg.Cells, n.leg.Record = got, record
	again := n.run()
	n.want(again, "passed 1", "passed 1")
	n.free()
	if again[0].Token != first || n.cloud.called("provision") != 2 {
		t.Errorf("a finished cell ran again: %v", n.cloud.calls)
	}
}

// A result counts only if the lease was held all the time.
func TestALostLease(t *testing.T) {
	for name, then := range map[string]func(ctx context.Context) (hook.Result, error){
		"and the test ends for it": func(ctx context.Context) (hook.Result, error) {
			select {
			case <-ctx.Done():
				return hook.Result{}, context.Cause(ctx)
			case <-time.After(2 * time.Minute):
				return hook.Result{}, errors.New("the work continued without a lease")
			}
		},
		"and the test has not noticed": says(hook.Result{Verdict: hook.Passed, Checks: 1}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			n := newNight(t, "main/training", "main/inference")
			n.opts.RenewInterval = 6 * time.Second // shorter, a busy machine does not renew in time
			evicted := false
			n.cloud.tests["main/training"] = func(ctx context.Context) (hook.Result, error) {
				if evicted {
					return hook.Result{Verdict: hook.Passed, Checks: 2}, nil
				}
				evicted = true
				if err := n.b.Evict(ctx, n.leg.Row.Name, n.state().Token, "somebody", "it is needed"); err != nil {
					return hook.Result{}, err
				}
				return then(ctx)
			}
			n.sweeping()
			got := n.run()
			n.want(got, "passed 2", "passed 1")
			n.free()
			if got[0].Checks != 2 {
				t.Errorf("the lost attempt counts: %+v", got[0])
			}
		})
	}
}

func TestALeaseThatIsLostUntilTheCutoff(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.cloud.tests["main/training"] = func(ctx context.Context) (hook.Result, error) {
		if err := n.b.Evict(ctx, n.leg.Row.Name, n.state().Token, "somebody", "it is needed"); err != nil {
			return hook.Result{}, err
		}
		return hook.Result{Verdict: hook.Passed, Checks: 1}, nil
	}
	waiting := make(chan time.Time, 1)
	n.leg.Waiting = func(until time.Time) func() { waiting <- until; return func() {} }
	ended := n.start(t.Context()) // no cleaning
	<-waiting
	if err := n.clock.Jump(n.leg.Cutoff); err != nil {
		t.Fatal(err)
	}
	got, err := ended()
	if err != nil {
		t.Fatal(err)
	}
	n.want(got, "interrupted 1 lease lost", "blocked 0 it is dirty since")
}

// The batch has precedence over queued people, but not over the holder, and keeps it between its
// cells.
func TestAQueueWithPeople(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.sweeping()
	ask := func(holder string, wait bool) (broker.Grant, error) {
		g, err := n.b.Acquire(t.Context(), broker.Request{
			Reservations: []string{n.leg.Row.Name}, Wait: wait, Ticket: lease.Ticket{Holder: holder, Purpose: "debugging", Class: lease.People, RenewInterval: lease.Duration(time.Minute)},
		})
		if err != nil {
			return broker.Grant{}, err
		}
		return g[0], nil
	}
	ada, err := ask("ada", false)
	if err != nil {
		t.Fatal(err)
	}
	bob := make(chan broker.Grant, 1)
	go func() {
		if g, err := ask("bob", true); err == nil {
			bob <- g
		}
	}()
	polltest.Until(n.t, "bob waits", func() bool { return len(n.state().Queue) == 1 })
	ended := n.start(t.Context())
	polltest.Until(n.t, "the batch waits first", func() bool { q := n.state().Queue; return len(q) == 2 && q[0].Holder == "team-x/nightly" })
	polltest.Until(n.t, "it is written down", func() bool { return n.last() != nil && n.last()[0].Reason == "ada holds it for debugging" })
	if err := n.b.Release(t.Context(), n.leg.Row.Name, ada.Token, "done"); err != nil {
		t.Fatal(err)
	}
	got, err := ended()
	if err != nil {
		t.Fatal(err)
	}
	n.want(got, "passed 1", "passed 1")
	n.alone()
	select {
	case g := <-bob:
		if g.Token <= got[1].Token || got[0].Token <= ada.Token {
			t.Errorf("ada %d, the batch %d and %d, bob %d", ada.Token, got[0].Token, got[1].Token, g.Token)
		}
	case <-time.After(2 * time.Minute):
		t.Error("bob did not get the reservation")
	}
}

func TestSuperseded(t *testing.T) {
	n := newNight(t, "main/training", "main/inference", "v1.0.0/training")
	n.leg.Newer = func() bool { return n.cloud.called("provision") > 0 }
	n.want(n.run(), "passed 1", "superseded 0 a newer batch", "superseded 0 a newer batch")
	n.free()
}

// A waiting leg is superseded too.
func TestSupersededWhileItWaits(t *testing.T) {
	n := newNight(t, "main/training")
	if _, err := n.b.Acquire(t.Context(), broker.Request{Reservations: []string{n.leg.Row.Name}, Ticket: lease.Ticket{Holder: "ada"}}); err != nil {
		t.Fatal(err)
	}
	n.leg.Newer = func() bool { return n.last() != nil && n.last()[0].Reason != "" }
	n.want(n.run(), "superseded 0 a newer batch has started")
	if s := n.state(); len(s.Queue) > 0 || s.Lease.Holder != "ada" {
		t.Errorf("%v wait, and %s has it", s.Queue, s.Lease.Holder)
	}
}

// A step that cannot be recorded is not done.
func TestWhatCanNotBeWrittenDown(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	taken := errors.New("another controller has it")
	n.leg.Record = func(context.Context, []matrix.Cell) error { return taken }
	got, err := NewBatch(n.opts).Run(t.Context(), n.leg)
	if !errors.Is(err, taken) {
		t.Fatalf("%v: %+v", err, got)
	}
	if n.cloud.called("provision") > 0 || n.state().CurrentState() == lease.Leased {
		t.Errorf("%v, and it is %s", n.cloud.calls, n.state().CurrentState())
	}
}

func TestALegOfAReservationThatThereIsNot(t *testing.T) {
	n := newNight(t, "main/training")
	n.leg.Row.Name = "none"
	if got, err := NewBatch(n.opts).Run(t.Context(), n.leg); err == nil || !strings.Contains(err.Error(), "reservation not found") {
		t.Errorf("%v: %+v", err, got)
	}
}

// Without a limit a cell may use the rest of the window.
func TestACellWithoutALimit(t *testing.T) {
	n := newNight(t, "main/training", "main/inference")
	n.leg.Limit = 0
	n.cloud.tests["main/training"] = func(ctx context.Context) (hook.Result, error) {
		for range 10 { // as long as a few questions take, at least
			if n.state(); ctx.Err() != nil {
				return hook.Result{}, context.Cause(ctx)
			}
		}
		return hook.Result{Verdict: hook.Passed, Checks: 1}, nil
	}
	n.want(n.run(), "passed 1", "passed 1")
	n.free()
}
