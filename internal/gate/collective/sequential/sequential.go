// Package sequential finds nodes that are a few per cent slower than the others, from collectives
// on pairs of nodes.
//
// Wald's sequential probability ratio test compares two hypotheses for each node: no loss, and a
// loss of Loss. A node stays in the test until one of them is certain, so that a clear case takes
// three rounds, and noise takes more repetitions instead of a wrong verdict. The reference is the
// median over the nodes' medians. The noise is the larger of the spread within pairs and between
// nodes (median absolute deviation): a few slow nodes move neither.
//
// Invariants: Next is pure. The evidence that one partner gives is bounded, so that no
// node is slow by fewer than three partners. Pairs with a slow node say nothing of its partner.
package sequential

import (
	"math"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

const (
	// Loss is the smallest loss to find, as a fraction of the bandwidth.
	Loss = 0.03
	// slowAt is ln(1/alpha) for alpha = 1e-6: 200 runs on 64 nodes are 12,800 decisions.
	slowAt = 13.8
	// clearedAt is -ln(1/beta) for beta = 1e-3, the chance to miss a loss of Loss.
	clearedAt = -6.9
	// partnerAt bounds the evidence of one partner.
	partnerAt = slowAt / 3
	// rounding of a sum of bounded terms.
	rounding = 1e-9
	// leastNoise is the smallest standard deviation that is assumed: printed figures have two
	// decimals, and a run repeats to a few tenths of a per cent at best.
	leastNoise = 0.003
	// madToSD makes the median absolute deviation of a normal distribution its standard deviation.
	madToSD = 1.4826
	// leastRounds are the rounds of all nodes, mostRounds the limit of those in doubt.
	leastRounds, mostRounds = 3, 24
)

// Sample is one run on a pair of nodes: its bandwidths, one for each repetition. It is empty for a
// run without a result.
type Sample struct {
	Nodes [2]string
	Busbw []float64
}

// Slow is a slow node.
type Slow struct {
	Node string
	// Loss is the median loss of its pairs, as a fraction.
	Loss float64
	// Partners and Repetitions are what shows it.
	Partners    []string
	Repetitions int
}

// Step is what the samples show.
type Step struct {
	// Round are disjoint pairs to run next; empty at the end.
	Round [][]string
	Slow  []Slow
	// Undecided are nodes in doubt.
	Undecided []string
	// Reference is the median bandwidth, Noise the standard deviation of a repetition as a
	// fraction of it.
	Reference, Noise float64
}

// Next returns the state of the test after the samples. Fewer than four nodes have no majority:
// nothing is run.
func Next(nodes []string, samples []Sample) Step {
	if len(nodes) < 4 {
		return Step{Undecided: nodes}
	}
	t := newTest(nodes, samples)
	t.decide()
	step := Step{Slow: t.slow, Reference: t.reference, Noise: t.noise}
	for _, n := range nodes {
		if !t.cleared[n] && !t.isSlow(n) {
			step.Undecided = append(step.Undecided, n)
		}
	}
	step.Round = t.round(step.Undecided)
	return step
}

type test struct {
	nodes            []string
	samples          []Sample
	reference, noise float64
	runs             map[string]int
	met              map[string]int
	cleared          map[string]bool
	slow             []Slow
}

func newTest(nodes []string, samples []Sample) *test {
	t := &test{nodes: nodes, samples: samples, runs: map[string]int{}, met: map[string]int{}, cleared: map[string]bool{}}
	byNode := map[string][]float64{}
	squares, freedom := 0.0, 0
	for _, s := range samples {
		for _, n := range s.Nodes {
			byNode[n] = append(byNode[n], s.Busbw...)
			t.runs[n]++
		}
		t.met[pairKey(s.Nodes[0], s.Nodes[1])]++
		mean := 0.0
		for _, bw := range s.Busbw {
			mean += bw / float64(len(s.Busbw))
		}
		for _, bw := range s.Busbw {
			squares += (bw/mean - 1) * (bw/mean - 1)
		}
		freedom += max(0, len(s.Busbw)-1)
	}
	var medians []float64
	for _, n := range nodes {
		if values := byNode[n]; len(values) > 0 {
			slices.Sort(values)
			medians = append(medians, check.Percentile(values, 50))
		}
	}
	t.reference, t.noise = Spread(medians)
	t.noise = max(t.noise, leastNoise, math.Sqrt(squares/float64(max(1, freedom))))
	return t
}

// Spread is the median, and the standard deviation by the median absolute deviation, as a fraction
// of the median; zero without values.
func Spread(values []float64) (median, relative float64) {
	if len(values) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(values))
	median = check.Percentile(sorted, 50)
	away := make([]float64, len(sorted))
	for i, v := range sorted {
		away[i] = math.Abs(v - median)
	}
	slices.Sort(away)
	if median == 0 {
		return 0, 0
	}
	return median, madToSD * check.Percentile(away, 50) / median
}

func pairKey(a, b string) string { return min(a, b) + "\n" + max(a, b) }

// evidence of a node: the log-likelihood ratio of a loss to none, the losses of its pairs and its
// partners, without pairs with a slow node.
func (t *test) evidence(node string) (ratio float64, losses []float64, partners []string) {
	by := map[string]float64{}
	for _, s := range t.samples {
		partner := s.Nodes[0]
		if partner == node {
			partner = s.Nodes[1]
		}
		if !slices.Contains(s.Nodes[:], node) || t.isSlow(partner) || len(s.Busbw) == 0 {
			continue
		}
		if !slices.Contains(partners, partner) {
			partners = append(partners, partner)
		}
		for _, bw := range s.Busbw {
			loss := 1 - bw/t.reference
			losses = append(losses, loss)
			by[partner] += Loss / (t.noise * t.noise) * (loss - Loss/2)
		}
	}
	for _, p := range partners {
		ratio += max(-partnerAt, min(partnerAt, by[p]))
	}
	return ratio, losses, partners
}

func (t *test) isSlow(n string) bool {
	return slices.ContainsFunc(t.slow, func(s Slow) bool { return s.Node == n })
}

// decide names the clearest slow node first: its pairs then say nothing of their other node.
func (t *test) decide() {
	for {
		worst, most := Slow{}, 0.0
		for _, n := range t.nodes {
			ratio, losses, partners := t.evidence(n)
			if t.isSlow(n) || ratio < slowAt-rounding || ratio <= most {
				continue
			}
			slices.Sort(losses)
			worst, most = Slow{Node: n, Loss: check.Percentile(losses, 50), Partners: partners, Repetitions: len(losses)}, ratio
		}
		if worst.Node == "" {
			break
		}
		t.slow = append(t.slow, worst)
	}
	slices.SortFunc(t.slow, func(a, b Slow) int { return strings.Compare(a.Node, b.Node) })
	for _, n := range t.nodes {
		ratio, _, _ := t.evidence(n)
		t.cleared[n] = ratio <= clearedAt && !t.isSlow(n)
	}
}

// round pairs all nodes with neighbours first, then each node in doubt with a cleared one that it
// has met least.
func (t *test) round(undecided []string) [][]string {
	rounds := 0
	for _, n := range t.nodes {
		rounds = max(rounds, t.runs[n])
	}
	switch {
	case rounds < leastRounds-1:
		return t.neighbours(rounds)
	case rounds < leastRounds:
		return t.afterNext()
	}
	var out [][]string
	busy := map[string]bool{}
	for _, n := range undecided {
		if busy[n] || t.runs[n] >= mostRounds {
			continue
		}
		if partner := t.partner(n, busy); partner != "" {
			busy[n], busy[partner] = true, true
			out = append(out, []string{n, partner})
		}
	}
	return out
}

// neighbours pairs each node with the next one, from the node with this index on.
func (t *test) neighbours(from int) [][]string {
	var out [][]string
	n := len(t.nodes)
	for i := range n / 2 {
		out = append(out, []string{t.nodes[(from+2*i)%n], t.nodes[(from+2*i+1)%n]})
	}
	return out
}

// afterNext pairs each node with the one after the next.
func (t *test) afterNext() [][]string {
	var out [][]string
	for i := 0; i+3 < len(t.nodes); i += 4 {
		out = append(out, []string{t.nodes[i], t.nodes[i+2]}, []string{t.nodes[i+1], t.nodes[i+3]})
	}
	return out
}

// partner is a free node for a node in doubt: a cleared one if there are any, of those that it has
// met least the farthest one.
func (t *test) partner(node string, busy map[string]bool) string {
	at := slices.Index(t.nodes, node)
	best, least := "", math.MaxInt
	for i := range t.nodes {
		p := t.nodes[(at+len(t.nodes)/2+i)%len(t.nodes)]
		if p == node || busy[p] || t.isSlow(p) || !t.cleared[p] && t.anyCleared() {
			continue
		}
		if met := t.met[pairKey(node, p)]; met < least {
			best, least = p, met
		}
	}
	return best
}

func (t *test) anyCleared() bool {
	return slices.ContainsFunc(t.nodes, func(n string) bool { return t.cleared[n] })
}
