package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The figures of partScale. A lab has as many nodes as -scale says, 10, 32 and 100 without it.
const (
	scaleGrowth = "gates 2 to 5: time a node, most nodes to fewest"
	scaleWhole  = "gates 2 to 5: time of 1,000 nodes, at the time a node of the most"
	scaleMemory = "gates 2 to 5: memory of the lab and accept, at most"
)

// scaleGates are the gates whose work grows with the nodes and needs no workload of minutes.
var scaleGates = []string{"fabric", "node", "gpustack", "telemetry"}

// defaultScale are the nodes of the labs, from the fewest to the most.
var defaultScale = []int{10, 32, 100}

// parseScale reads -scale: numbers of nodes, each more than the one before.
func parseScale(text string) ([]int, error) {
	if text == "" {
		return defaultScale, nil
	}
	var out []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || len(out) > 0 && n <= out[len(out)-1] {
			return nil, fmt.Errorf("invalid -scale %q: must be numbers of nodes in ascending order, such as 10,100,1000", text)
		}
		out = append(out, n)
	}
	return out, nil
}

// measureScale walks gates 2 to 5 on a lab of each size, as a user does: each gate alone, so that one
// that fails does not hide the cost of the next.
func (b *bench) measureScale(ctx context.Context) error {
	var fewest, most, memory float64
	for i, nodes := range b.scale {
		perNode, used, err := b.walk(ctx, nodes)
		if err != nil {
			return fmt.Errorf("%d nodes: %w", nodes, err)
		}
		if i == 0 {
			fewest = perNode
		}
		most, memory = perNode, max(memory, used)
	}
	if len(b.scale) > 1 {
		b.add(scaleGrowth, most/fewest)
	}
	b.add(scaleWhole, 1000*most)
	b.add(scaleMemory, memory)
	b.say("A gate's cost a node is its time divided by the nodes of the lab, and its CPU that of accept and of all processes of the lab. Labs had %v nodes; -scale 10,100,1000 walks others.", b.scale)
	return nil
}

// walk runs the gates on a lab of its own, and returns the time a node and the most memory.
func (b *bench) walk(ctx context.Context, nodes int) (perNode, memory float64, err error) {
	name := fmt.Sprintf("bench-scale-%d", nodes)
	fmt.Fprintf(os.Stderr, "bench: gates 2 to 5 on %d nodes\n", nodes)
	defer func() { err = errors.Join(err, b.labDown(ctx, name)) }()
	up, err := b.timed(ctx, nil, "lab", "up", "--name", name, "--nodes", strconv.Itoa(nodes))
	if err != nil {
		return 0, 0, err
	}
	figure := fmt.Sprintf("gates 2 to 5, %d nodes", nodes)
	b.add(figure+": lab up", up)
	lab := filepath.Join(b.dir, home, "labs", name)
	var whole, cpu float64
	for _, gate := range scaleGates {
		before, err := processesIn(lab)
		if err != nil {
			return 0, 0, err
		}
		var out bytes.Buffer
		own, err := b.command(ctx, "", &out, "accept", "--only", gate, "-o", "json", "--lab", name, "--evidence", b.dir)
		if err != nil {
			return 0, 0, err
		}
		after, err := processesIn(lab)
		if err != nil {
			return 0, 0, err
		}
		took, err := gateTook(out.Bytes(), gate)
		if err != nil {
			return 0, 0, err
		}
		used := own.cpu + after.cpu - before.cpu
		b.add(figure+": gate "+gate+", a node", took/float64(nodes))
		b.add(figure+": gate "+gate+", CPU a node", used/float64(nodes))
		whole, cpu, memory = whole+took, cpu+used, max(memory, own.memory+after.memory)
	}
	b.add(figure, whole)
	b.add(figure+": CPU a node", cpu/float64(nodes))
	return whole / float64(nodes), memory, nil
}

// gateTook is the duration of a gate in a report of accept. A gate that is not passed proves no cost.
func gateTook(report []byte, gate string) (float64, error) {
	var r struct {
		Gates []struct {
			Gate     string  `json:"gate"`
			Verdict  string  `json:"verdict"`
			Duration float64 `json:"duration"`
		} `json:"gates"`
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return 0, fmt.Errorf("read the report: %w", err)
	}
	for _, g := range r.Gates {
		if g.Gate == gate && g.Verdict == "passed" && isMeasured(g.Duration) {
			return g.Duration, nil
		}
		if g.Gate == gate {
			return 0, fmt.Errorf("gate %s ended with verdict %q after %g s", gate, g.Verdict, g.Duration)
		}
	}
	return 0, fmt.Errorf("gate %s is not in the report", gate)
}
