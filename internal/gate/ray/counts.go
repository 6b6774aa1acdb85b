package ray

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/guard"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

// counted begins a line of the job's log with the result of one task.
const counted = "gpus of bundle "

// count is the result of a task on one bundle: the GPUs that nvidia-smi lists in the worker's container. Ray does not
// compare its own number with them: KubeRay passes the pod's request as num-gpus.
type count struct {
	Bundle int `json:"bundle"`
	// Node is the ID of the node that the task ran on; empty: it did not run.
	Node  string `json:"node,omitempty"`
	GPUs  int    `json:"gpus"`
	Error string `json:"error,omitempty"`
}

// parseCounts reads the results in a job's log. Other lines are not the job's.
func parseCounts(log string) []count {
	out := []count{}
	for line := range strings.Lines(log) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), counted)
		if !ok {
			continue
		}
		var c struct {
			count
			Bundle *int `json:"bundle"`
		}
		if guard.JSON([]byte(text), &c) == nil && c.Bundle != nil {
			c.count.Bundle = *c.Bundle
			out = append(out, c.count)
		}
	}
	return out
}

const (
	remedyTask    = "read raylet.out and the worker logs in /tmp/ray/session_latest/logs of the node's pod: Ray must start a worker process there"
	remedyDevices = "run nvidia-smi -L in the node's pod: the pod needs the NVIDIA runtime (runtimeClassName nvidia), and the GPUs must be on the bus"
)

// judgeCounts requires a task on each bundle that found all GPUs of its node.
func (g *Gate) judgeCounts(b *check.Builder, id string, f proofFigures, nodes map[string]string) {
	for i, bundle := range f.Group.Bundles {
		node := nodes[bundle.Node]
		of := slices.DeleteFunc(slices.Clone(f.Counts), func(c count) bool { return c.Bundle != i })
		switch {
		case len(of) == 0:
			b.Fail(id, node, remedyTask, "no task ran with the GPUs of %s within %g s", node, countWithin.Seconds())
		case len(of) > 1:
			b.Unobserved(id, node, "run the gate again", "%d results of the task on %s, want 1", len(of), node)
		case of[0].Node == "":
			b.Fail(id, node, remedyTask, "the task on %s did not run: %s", node, firstLines(of[0].Error))
		case of[0].Node != bundle.Node:
			b.Unobserved(id, node, "run the gate again", "the task with the GPUs of %s ran on %s", node, cmp.Or(nodes[of[0].Node], of[0].Node))
		case of[0].GPUs != g.gpus || of[0].Error != "":
			b.Fail(id, node, remedyDevices, "nvidia-smi lists %d GPUs in the pod on %s, want %d: %s", of[0].GPUs, node, g.gpus, cmp.Or(firstLines(of[0].Error), "Ray offers those that the pod requests"))
		}
	}
}

// complete reports whether each bundle of a group has a result.
func (f proofFigures) complete() bool {
	return f.Group != nil && f.Group.State == probe.Created && len(f.Counts) >= len(f.Group.Bundles)
}
