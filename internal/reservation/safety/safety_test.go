package safety

import (
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/suite"
)

// seed chooses what happens; another each time, unless it is given.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := rand.Uint64N(1 << 32)
	if s := os.Getenv("FIRSTLIGHT_SAFETY_SEED"); s != "" {
		given, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		n = given
	}
	t.Logf("FIRSTLIGHT_SAFETY_SEED=%d", n)
	return n
}

// kept is where the pictures of a failure are kept; those of a defect that was put in
// go with the test.
func (d *driver) kept() string {
	if d.Defect != sound {
		return d.dir
	}
	dir, err := os.MkdirTemp("", "firstlight-safety-")
	if err != nil {
		d.t.Fatal(err)
	}
	return dir
}

// Never two holders at once, growing tokens, no lost ticket, with kills, pauses, repeated and late
// requests, and any clock.
func TestSafety(t *testing.T) {
	p := plan{Seed: seed(t), Ops: suite.Pick(1000, 3000, 3000), Workers: 3, Actors: 10, Phases: 1, Together: 5, Outages: 1, Every: 2 * time.Second, Within: 10 * time.Minute}
	if suite.Current() == suite.Soak {
		p.Ops, p.Phases, p.Together, p.Outages, p.Every, p.Within = 100_000, 14, 7, 6, 6*time.Second, 100*time.Minute
	}
	begin := time.Now()
	d := drive(t, shared.Store(t), p)
	took := time.Since(begin)
	for _, f := range d.judge() {
		t.Errorf("%s: %s", f.Check, f.Text)
	}
	t.Logf("%d operations in %s, judged in %s: %v", d.done, took.Round(time.Second), (time.Since(begin) - took).Round(time.Second), d.summary())
}

func (d *driver) summary() map[string]int {
	out := maps.Clone(d.counts)
	for _, o := range d.ops {
		answer := o.Outcome
		if answer == unanswered {
			answer = "unanswered"
		}
		out[string(o.Kind)+" "+string(answer)]++
	}
	return out
}
