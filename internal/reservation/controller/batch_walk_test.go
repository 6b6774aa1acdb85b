package controller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// TestAnyNight runs nights with random failures: clouds that cannot be listed, failing teardowns,
// evictions, and kills before or after a record is written. In every case two deployments never
// exist at once, each cell passes in its own deployment, and nothing is left.
func TestAnyNight(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			n := newNight(t, "main/training", "main/inference", "v1.0.0/training")
			n.opts.RenewInterval = 600 * time.Millisecond
			var mu sync.Mutex
			rng := rand.New(rand.NewPCG(seed, 1))
			chance := func(p float64) bool {
				mu.Lock()
				defer mu.Unlock()
				return rng.Float64() < p
			}
			for _, c := range n.leg.Cells {
				n.cloud.tests[c.Name()] = func(ctx context.Context) (hook.Result, error) {
					if chance(0.25) {
						_ = n.b.Evict(ctx, n.leg.Row.Name, n.state().Token, "somebody", "it is needed") // or it is lost already
					}
					return hook.Result{Verdict: hook.Passed, Checks: 1}, nil
				}
			}
			n.cloud.before = func(_ context.Context, v hook.Verb, _ string, _ hook.Lease) error {
				if v != hook.Provision && chance(0.15) {
					return fmt.Errorf("%s: not now", v)
				}
				return nil
			}
			n.sweeping()
			record := n.leg.Record
			killed := 0
			for {
				ctx, cancel := context.WithCancelCause(t.Context())
				n.leg.Record = func(c context.Context, cells []matrix.Cell) error {
					if chance(0.15) {
						cancel(errKilled)
						return context.Cause(c)
					}
					err := record(c, cells)
					if chance(0.15) {
						cancel(errKilled)
					}
					return err
				}
				got, err := NewBatch(n.opts).Run(ctx, n.leg)
				cancel(nil)
				if err == nil {
					n.want(got, "passed", "passed", "passed")
					break
				}
				if !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				killed++
				if last := n.last(); last != nil {
					n.leg.Cells = last
				}
			}
			n.alone()
			n.free()
			seen := map[string]bool{}
			for _, c := range n.last() {
				if seen[c.Deployment] {
					t.Errorf("two cells in %s", c.Deployment)
				}
				seen[c.Deployment] = true
			}
			h, err := n.k.History(t.Context(), n.leg.Row.Name, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			claimed := 0
			for _, tr := range h {
				if tr.Type == lease.Claimed {
					claimed++
				}
			}
			t.Logf("killed %d times, %d leases, %d transitions", killed, claimed, len(h))
		})
	}
}

var errKilled = errors.New("killed")
