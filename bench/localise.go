package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/firstlight/firstlight/internal/gate/collective/localise"
	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/collective"
)

const (
	localiseRounds  = "localise among 128 nodes: rounds, most of 100 seeds"
	localiseMinutes = "localise among 128 nodes: GPU-minutes"
	allPairsPeer    = "all pairs"
	allPairsRounds  = "all pairs: rounds"
	allPairsMinutes = "all pairs: GPU-minutes"

	localiseNodes   = 128
	localiseSeeds   = 100
	localiseProfile = "h100-sxm-ndr400"
)

// measureLocalise runs the planner of gate collective on simulated nodes with up to three bad
// nodes and links. A culprit that is not named, or an innocent node that is, is an error.
func (b *bench) measureLocalise(context.Context) error {
	hw, err := world.LoadHardware(localiseProfile)
	if err != nil {
		return err
	}
	p, err := profile.Load(localiseProfile)
	if err != nil {
		return err
	}
	c := &slowCluster{hw: hw, profile: p, minutes: map[int]float64{}}
	most := 0
	for seed := range uint64(localiseSeeds) {
		rounds, minutes, err := c.localise(seed)
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		most = max(most, rounds)
		b.add(localiseMinutes, minutes)
	}
	b.add(localiseRounds, float64(most))
	b.add(allPairsRounds, localiseNodes-1)
	pair, err := c.gpuMinutes(2)
	if err != nil {
		return err
	}
	b.add(allPairsMinutes, pair*localiseNodes*(localiseNodes-1)/2)
	return nil
}

// slowCluster is a cluster of the lab's hardware with slow nodes and links.
type slowCluster struct {
	hw      world.Hardware
	profile *profile.Profile
	rng     *rand.Rand
	nodes   []string
	slow    map[string]float64
	links   map[[2]string]float64
	// minutes are the GPU-minutes of one run, by number of nodes.
	minutes map[int]float64
}

func (c *slowCluster) localise(seed uint64) (rounds int, minutes float64, err error) {
	c.break3(seed)
	s := localise.Search{Nodes: c.nodes}
	for i, n := range c.nodes {
		s.Paths = append(s.Paths, [2]string{n, c.nodes[(i+1)%len(c.nodes)]})
	}
	var results []localise.Result
	for step := s.Next(nil); ; step = s.Next(results) {
		if len(step.Round) == 0 {
			return rounds, minutes, c.compare(step)
		}
		rounds++
		for _, g := range step.Round {
			limit, _, ok := c.profile.Limit(len(g))
			used, err := c.gpuMinutes(len(g))
			if err != nil || !ok {
				return 0, 0, errors.Join(err, fmt.Errorf("limit of %d nodes: %t", len(g), ok))
			}
			minutes += used
			results = append(results, localise.Result{Nodes: g, Ran: true, Bad: c.busbw(g) < limit})
		}
	}
}

// break3 makes one to three nodes and links of the ring slow; links do not touch a slow node.
func (c *slowCluster) break3(seed uint64) {
	c.rng = rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a simulation, no secret
	c.nodes, c.slow, c.links = nil, map[string]float64{}, map[[2]string]float64{}
	for i := range localiseNodes {
		c.nodes = append(c.nodes, fmt.Sprintf("gpu-%03d", i+1))
	}
	for at := range 1 + int(seed%3) { //nolint:gosec // below 3; far apart: 40 nodes each
		i := 40*at + c.rng.IntN(38)
		factor := 0.5 + 0.35*c.rng.Float64()
		if c.rng.IntN(2) == 0 {
			c.slow[c.nodes[i]] = factor
		} else {
			c.links[[2]string{c.nodes[i], c.nodes[i+1]}] = factor
		}
	}
}

// busbw of a group with 1.5 % of noise.
func (c *slowCluster) busbw(g []string) float64 {
	bw := c.run(len(g)).Plateau()
	factor := 1.0
	for i, n := range g {
		if f, ok := c.slow[n]; ok {
			factor = min(factor, f)
		}
		if f, ok := c.links[[2]string{n, g[(i+1)%len(g)]}]; ok {
			factor = min(factor, f)
		}
	}
	return bw * factor * (1 + 0.015*c.rng.NormFloat64())
}

func (c *slowCluster) compare(step localise.Step) error {
	named := slices.Clone(step.Nodes)
	for _, l := range step.Links {
		named = append(named, l[0]+"<->"+l[1])
	}
	var want []string
	for n := range c.slow {
		want = append(want, n)
	}
	for l := range c.links {
		want = append(want, l[0]+"<->"+l[1])
	}
	slices.Sort(named)
	slices.Sort(want)
	if !slices.Equal(named, want) || !step.Complete {
		return fmt.Errorf("named %v, want %v; complete %t", named, want, step.Complete)
	}
	return nil
}

func (c *slowCluster) run(nodes int) collective.Run {
	r := collective.Run{Fabric: c.hw.Fabric, CUDA: c.hw.Software.CUDA, MinBytes: 8 << 20, MaxBytes: 16 << 30, Repetitions: 1, Seed: 1}
	for i := range nodes {
		n := collective.Node{Host: fmt.Sprintf("n%d", i), NVLS: true, GPUDirect: true, Slow: 1}
		for d := range c.hw.Node.GPUs {
			n.Devices = append(n.Devices, collective.Device{Index: d, BusID: c.hw.GPU.BusIDs[d], Product: c.hw.GPU.Product})
			n.HCAs = append(n.HCAs, collective.HCA{Name: fmt.Sprintf("mlx5_%d", d), Gbps: int(c.profile.Fabric.Rate.Value)})
		}
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

// gpuMinutes are the GPU-minutes of the measurements of one run: the time of each row of the
// table, for 1 warm-up and 20 iterations. The start of pods is not counted.
func (c *slowCluster) gpuMinutes(nodes int) (float64, error) {
	if m, ok := c.minutes[nodes]; ok {
		return m, nil
	}
	run := c.run(nodes)
	var out bytes.Buffer
	if _, err := run.Write(&out); err != nil {
		return 0, err
	}
	tables, err := nccl.ParseTests(&out)
	if err != nil {
		return 0, fmt.Errorf("read the table: %w", err)
	}
	us := 0.0
	for _, t := range tables {
		for _, row := range t.Rows {
			for _, side := range row.Sides() {
				us += 21 * side.TimeUS
			}
		}
	}
	if us == 0 {
		return 0, errors.New("the table has no times")
	}
	c.minutes[nodes] = us / 1e6 / 60 * float64(run.Ranks())
	return c.minutes[nodes], nil
}
