package training

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/trainer"
)

const (
	remedyCheckpoint = "check on the node the mount of the directory (findmnt -T), its permissions, its free space and its quota (df, lfs quota); then run firstlight accept --from training"
	remedyUntested   = "read in the pods' logs why the directory for checkpoints was not tested: the test needs python3, which the trainer's image has"
	remedyMount      = "mount the file system for checkpoints on that node (findmnt -T); without it, checkpoints fill the node's own disk and no other node has them"
)

// tested is a pod's test of the directory for checkpoints.
type tested struct {
	trainer.CheckpointTest
	node, id string
}

// checkpoints requires that each pod wrote the site's size to the directory for checkpoints, and
// read it back. It returns part of the reason of a pass.
func (r *review) checkpoints() string {
	c := r.gate.site.Workloads.Training.Checkpoint
	if c == nil {
		return "checkpoints were not tested: the site has no workloads.training.checkpoint"
	}
	tests := r.checkpointTests()
	failed := slices.DeleteFunc(slices.Clone(tests), func(t tested) bool { return t.Error == "" })
	switch {
	case len(failed) > 1 && len(failed) == r.gate.pods():
		r.Fail(r.jobID, "directory for checkpoints", remedyCheckpoint, "no pod can write a checkpoint of %d GiB in %s: %s on %s%s", c.SizeGiB, c.Directory, failed[0].Error, failed[0].node, failed[0].space())
	default:
		for _, t := range failed {
			r.Fail(t.id, t.node, remedyCheckpoint, "%s cannot write a checkpoint of %d GiB in %s: %s%s", t.node, c.SizeGiB, c.Directory, t.Error, t.space())
		}
	}
	r.sameFileSystem(tests)
	want := int64(c.SizeGiB) << 30
	var write, read float64
	for _, t := range tests {
		if t.Error != "" {
			continue
		}
		if t.Bytes != want || t.WriteSeconds <= 0 || t.ReadSeconds <= 0 || t.FileSystem == "" {
			r.Unobserved(r.jobID, t.node, remedyUntested, "%s wrote and read back %d bytes in %s (in %g and %g s, file system %q), the site requires %d", t.node, t.Bytes, c.Directory, t.WriteSeconds, t.ReadSeconds, t.FileSystem, want)
			continue
		}
		write, read = slower(write, t.Bytes, t.WriteSeconds), slower(read, t.Bytes, t.ReadSeconds)
	}
	if write > 0 {
		r.Figure(check.Figure{Name: "checkpoint write, slowest pod", Value: write, Unit: "MB/s"})
		r.Figure(check.Figure{Name: "checkpoint read, slowest pod", Value: read, Unit: "MB/s"})
	}
	return fmt.Sprintf("each pod wrote and read back %d GiB in %s, the slowest at %.0f MB/s", c.SizeGiB, c.Directory, write)
}

// slower is the lower of a rate in MB/s (0: none yet) and that of bytes in seconds.
func slower(rate float64, bytes int64, seconds float64) float64 {
	const mega = 1e6
	own := float64(bytes) / seconds / mega
	if rate == 0 {
		return own
	}
	return min(rate, own)
}

// space describes the free space before the test.
func (t tested) space() string {
	const gibi = 1 << 30
	if t.FreeBytes == nil {
		return ""
	}
	return fmt.Sprintf("; %.1f GiB of %s were free", float64(*t.FreeBytes)/gibi, t.Source)
}

// checkpointTests are the pods' tests. A pod without one is unobserved.
func (r *review) checkpointTests() []tested {
	var out []tested
	seen := map[int]bool{}
	for _, p := range r.pods {
		if len(p.Checkpoints) != 1 || p.Checkpoints[0].Index != p.Index || seen[p.Index] {
			r.Unobserved(r.jobID, p.Node, remedyUntested, "pod %s on %s did not report a test of the directory for checkpoints", p.Pod, p.Node)
			continue
		}
		seen[p.Index] = true
		out = append(out, tested{p.Checkpoints[0], p.Node, p.id})
	}
	if missing := r.gate.pods() - len(r.pods); missing > 0 {
		r.Unobserved(r.jobID, "job "+jobName, remedyUntested, "the logs of %d pods are missing: whether they can write checkpoints is unknown", missing)
	}
	return out
}

// sameFileSystem requires the type of file system that more than half of the nodes have. Where
// none has a majority, all nodes are named.
func (r *review) sameFileSystem(tests []tested) {
	tests = slices.DeleteFunc(slices.Clone(tests), func(t tested) bool { return t.FileSystem == "" })
	count := map[string]int{}
	for _, t := range tests {
		count[t.FileSystem]++
	}
	if len(count) < 2 {
		return
	}
	for _, t := range tests {
		if 2*count[t.FileSystem] > len(tests) {
			continue
		}
		r.Fail(t.id, t.node, remedyMount, "on %s the directory for checkpoints is on %s (%s), on %d of %d nodes on another type of file system", t.node, t.FileSystem, t.Source, len(tests)-count[t.FileSystem], len(tests))
	}
}
