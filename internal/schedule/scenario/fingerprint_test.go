package scenario_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
)

// unseen has the fields that the scheduler does not read, or that are only names.
var unseen = []*regexp.Regexp{
	regexp.MustCompile(`^\.Recipe$`),
	regexp.MustCompile(`^\.Advice`),
	regexp.MustCompile(`^\.Nodes\[\]\.(Shape|Capacity|Lacks)`),
	regexp.MustCompile(`^\.Nodes\[\]\.Taints\[\]\.TimeAdded`),
	regexp.MustCompile(`^\.Components\[\]\.(Source|File)$`),
	regexp.MustCompile(`\.CreatedBy$`),
	regexp.MustCompile(`Workloads?(\[\])?\.Object$`),
	regexp.MustCompile(`^\.Controls\[\]\.Of$`),
	regexp.MustCompile(`^\.Controls\[\]\.NotApplicable$`), // that it is one counts, not why
}

// full is a scenario with something in every field, fitted together.
func full() *scenario.Scenario {
	var c scenario.Scenario
	next := 0
	fill(reflect.ValueOf(&c).Elem(), &next)
	c.Nodes[0].Discovered = map[string]map[string]string{c.Components[0].Name: {"found": "yes"}}
	c.Controls[0].Nodes = []string{c.Nodes[0].Name}
	return &c
}

func TestEveryFactIsInTheFingerprint(t *testing.T) {
	t.Parallel()
	base := scenario.Fingerprint(*full())
	all := changes(reflect.ValueOf(full()).Elem(), "", func() {})
	if len(all) < 200 {
		t.Fatalf("only %d fields were found", len(all))
	}
	for i := range all {
		c := full()
		one := changes(reflect.ValueOf(c).Elem(), "", func() {})[i]
		one.do()
		hidden := slices.ContainsFunc(unseen, func(r *regexp.Regexp) bool { return r.MatchString(one.path) })
		if same := scenario.Fingerprint(*c) == base; same != hidden {
			t.Errorf("a change of %s: same fingerprint %v, want %v", one.path, same, hidden)
		}
	}
}

func TestControlsThatDoNotApplyCount(t *testing.T) {
	t.Parallel()
	with, without := full(), full()
	without.Controls[0].NotApplicable = ""
	if scenario.Fingerprint(*with) == scenario.Fingerprint(*without) {
		t.Error("a control that is not applicable counts as one that is")
	}
}

// TestFingerprintIgnoresOrder: the fingerprint does not depend on the order of facts or on the
// names of nodes and files, and is the same after a JSON round trip.
func TestFingerprintIgnoresOrder(t *testing.T) {
	t.Parallel()
	base := scenariotest.Scenario(t, "training")
	want := scenario.Fingerprint(base)
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := clone(t, base)
		shuffle(r, &c)
		if got := scenario.Fingerprint(c); got != want {
			t.Fatalf("seed %d: another fingerprint", seed)
		}
	}
}

func shuffle(r *rand.Rand, c *scenario.Scenario) {
	mix := func(n int, swap func(i, j int)) { r.Shuffle(n, swap) }
	c.Recipe = "another"
	for i := range c.Nodes {
		old, name := c.Nodes[i].Name, "node-"+strings.Repeat("x", i+1)
		c.Nodes[i].Name, c.Nodes[i].Shape, c.Nodes[i].Lacks, c.Nodes[i].Capacity = name, "another", nil, nil
		for j := range c.Controls {
			for k := range c.Controls[j].Nodes {
				if c.Controls[j].Nodes[k] == old {
					c.Controls[j].Nodes[k] = name
				}
			}
		}
		n := &c.Nodes[i]
		mix(len(n.Taints), func(a, b int) { n.Taints[a], n.Taints[b] = n.Taints[b], n.Taints[a] })
		mix(len(n.Grants), func(a, b int) { n.Grants[a], n.Grants[b] = n.Grants[b], n.Grants[a] })
		n.Allocatable[corev1.ResourceCPU] = rewritten(n.Allocatable[corev1.ResourceCPU])
	}
	mix(len(c.Nodes), func(a, b int) { c.Nodes[a], c.Nodes[b] = c.Nodes[b], c.Nodes[a] })
	mix(len(c.Components), func(a, b int) { c.Components[a], c.Components[b] = c.Components[b], c.Components[a] })
	c.Components = append(c.Components, footprint.Component{Name: "crds-alone"})
	for i := range c.Components {
		list := c.Components[i].Workloads
		mix(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		for j := range list {
			shufflePod(mix, &list[j].Pod)
		}
	}
	shufflePod(mix, &c.Probe.Pod)
}

func rewritten(q resource.Quantity) resource.Quantity {
	return resource.MustParse(resource.NewMilliQuantity(q.MilliValue(), resource.DecimalSI).String())
}

func shufflePod(mix func(int, func(i, j int)), p *footprint.Pod) {
	mix(len(p.Tolerations), func(a, b int) { p.Tolerations[a], p.Tolerations[b] = p.Tolerations[b], p.Tolerations[a] })
	if len(p.Tolerations) > 0 {
		p.Tolerations = append(p.Tolerations, p.Tolerations[0]) // twice is once
	}
	if p.Affinity == nil {
		p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}} // says nothing
		return
	}
	for _, term := range p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		list := term.MatchExpressions
		mix(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		for _, e := range list {
			mix(len(e.Values), func(a, b int) { e.Values[a], e.Values[b] = e.Values[b], e.Values[a] })
		}
	}
}

// clone takes a scenario through JSON, as evidence does.
func clone(tb testing.TB, c scenario.Scenario) scenario.Scenario {
	tb.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		tb.Fatal(err)
	}
	var out scenario.Scenario
	if err := json.Unmarshal(data, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

func BenchmarkFingerprint(b *testing.B) {
	c := scenariotest.Scenario(b, "training")
	for b.Loop() {
		scenario.Fingerprint(c)
	}
}
