package sequential_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firstlight/firstlight/internal/gate/collective/sequential"
)

// nodes of which one may be slow; each repetition has noise of its own.
type nodes struct {
	names []string
	loss  map[string]float64
	noise float64
	rng   *rand.Rand
	runs  int
}

func newNodes(seed uint64, n int, noise float64) *nodes {
	c := &nodes{loss: map[string]float64{}, noise: noise, rng: rand.New(rand.NewPCG(seed, 2))}
	for i := range n {
		c.names = append(c.names, fmt.Sprintf("gpu-%02d", i+1))
	}
	return c
}

func (c *nodes) run(pair []string, repetitions int) sequential.Sample {
	s := sequential.Sample{Nodes: [2]string{pair[0], pair[1]}}
	for range repetitions {
		s.Busbw = append(s.Busbw, 480*(1-max(c.loss[pair[0]], c.loss[pair[1]]))*(1+c.noise*c.rng.NormFloat64()))
	}
	c.runs++
	return s
}

func (c *nodes) solve(t *testing.T) (sequential.Step, int) {
	t.Helper()
	var samples []sequential.Sample
	for rounds := 0; ; rounds++ {
		step := sequential.Next(c.names, samples)
		if len(step.Round) == 0 {
			return step, rounds
		}
		if rounds > 60 {
			t.Fatal("no end")
		}
		busy := map[string]bool{}
		for _, pair := range step.Round {
			if len(pair) != 2 || busy[pair[0]] || busy[pair[1]] || pair[0] == pair[1] {
				t.Fatalf("round %v", step.Round)
			}
			busy[pair[0]], busy[pair[1]] = true, true
			samples = append(samples, c.run(pair, 3))
		}
	}
}

// 200 runs with 2 % noise on each repetition raise nothing.
func TestNoiseRaisesNothing(t *testing.T) {
	t.Parallel()
	undecided, most := 0, 0
	for seed := range uint64(200) {
		step, rounds := newNodes(seed, 64, 0.02).solve(t)
		if len(step.Slow) > 0 {
			t.Errorf("seed %d: %+v", seed, step.Slow)
		}
		undecided, most = undecided+len(step.Undecided), max(most, rounds)
	}
	t.Logf("%d nodes undecided, at most %d rounds", undecided, most)
	if undecided > 0 {
		t.Errorf("%d nodes are undecided", undecided)
	}
}

// 200 runs with a loss of 3 % on one of 64 nodes and 2 % noise name that node and no other.
func TestALossOfThreePerCentIsFound(t *testing.T) {
	t.Parallel()
	most := 0
	for seed := range uint64(200) {
		c := newNodes(seed, 64, 0.02)
		bad := c.names[c.rng.IntN(64)]
		c.loss[bad] = 0.03
		step, rounds := c.solve(t)
		if len(step.Slow) != 1 || step.Slow[0].Node != bad || step.Slow[0].Loss < 0.01 || step.Slow[0].Loss > 0.06 {
			t.Errorf("seed %d: %s is slow, found %+v, undecided %v", seed, bad, step.Slow, step.Undecided)
		}
		most = max(most, rounds)
	}
	t.Logf("at most %d rounds", most)
}

// One bad partner is not enough, nor two: three must show the loss.
func TestFewPartnersNameNoNode(t *testing.T) {
	t.Parallel()
	c := newNodes(1, 8, 0.002)
	var samples []sequential.Sample
	for i := range 6 {
		samples = append(samples, c.run([]string{c.names[i+1], c.names[i+2]}, 3))
	}
	c.loss["gpu-01"] = 0.3
	for i, partner := range []string{"gpu-04", "gpu-05", "gpu-06"} {
		samples = append(samples, c.run([]string{"gpu-01", partner}, 3))
		step := sequential.Next(c.names, samples)
		if named := len(step.Slow) == 1 && step.Slow[0].Node == "gpu-01"; named != (i == 2) || len(step.Slow) > 1 {
			t.Errorf("%d partners: %+v", i+1, step.Slow)
		}
	}
}

// A lab has four nodes: half of all pairs have the slow one.
func TestOneOfFourNodes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		c := newNodes(seed, 4, 0.004)
		if step, _ := c.solve(t); len(step.Slow)+len(step.Undecided) > 0 {
			t.Errorf("seed %d: %+v", seed, step)
		}
		c.loss["gpu-03"] = 0.03
		if step, _ := c.solve(t); len(step.Slow) != 1 || step.Slow[0].Node != "gpu-03" {
			t.Errorf("seed %d: %+v", seed, step)
		}
	}
}

// Runs without a result decide nothing.
func TestWithoutResultsEveryNodeIsUndecided(t *testing.T) {
	t.Parallel()
	c := newNodes(1, 8, 0)
	var samples []sequential.Sample
	for rounds := 0; ; rounds++ {
		step := sequential.Next(c.names, samples)
		if len(step.Slow) > 0 || len(step.Undecided) != 8 {
			t.Fatalf("%+v", step)
		}
		if len(step.Round) == 0 {
			return
		}
		if rounds > 30 {
			t.Fatal("no end")
		}
		for _, pair := range step.Round {
			samples = append(samples, sequential.Sample{Nodes: [2]string{pair[0], pair[1]}})
		}
	}
}
