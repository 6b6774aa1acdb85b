package accept

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// refuted lists the verdicts of these steps of a run that hold, and that a newer verdict of the same plan,
// recipe and cluster, in any run of the evidence directory, contradicts. The selection and the thresholds of that
// run have no influence: it observed the cluster later. A run that did not identify its cluster may be of this one.
func (x *execution) refuted(b *evidence.Bundle, steps []string) ([]string, error) {
	ids, err := evidence.List(x.opts.EvidenceDir)
	if err != nil {
		return nil, err
	}
	kept := map[string]plan.Result{}
	for _, r := range b.Results() {
		if slices.Contains(steps, r.Step) && r.Verdict.Holds() {
			kept[r.Step] = r
		}
	}
	var out []string
	for _, id := range ids {
		other, err := evidence.Load(filepath.Join(x.opts.EvidenceDir, id))
		if err != nil || other.Header.Run == b.Header.Run || other.Plan.Name != b.Plan.Name || other.Header.AddedTo != b.Header.AddedTo {
			continue // says nothing of these steps
		}
		if !bytes.Equal(other.Recipe, b.Recipe) {
			continue // plans of two recipes have the same name (validate.PlanName)
		}
		if c := other.Header.Cluster; c != "" && c != b.Header.Cluster {
			continue
		}
		for _, r := range other.Results() {
			was, ok := kept[r.Step]
			if ok && r.At.After(was.At) && contradicts(was.Verdict, r.Verdict) {
				out = append(out, fmt.Sprintf("%s was %s, and is %s in the newer run %s: run it again (--from %s)", r.Step, was.Verdict, r.Verdict, id, r.Step))
			}
		}
	}
	return out, nil
}

// contradicts reports whether a later verdict shows less than the one before. A step that was not observed
// shows nothing.
func contradicts(before, after check.Verdict) bool {
	switch after {
	case check.Failed, check.Unobserved:
		return true
	case check.Partial:
		return before == check.Passed
	default:
		return false
	}
}

// rejudged lists the verdicts of these steps of a run that the checks of order do not reach again from the
// stored observations: another version of firstlight reached them, or the checks read a part of the site that
// may change. Such a verdict would not replay.
func rejudged(b *evidence.Bundle, steps []string, order []plan.Step) ([]string, error) {
	again, err := b.Rejudge(steps, order)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range again {
		if s.Difference != "" {
			out = append(out, fmt.Sprintf("%s is judged differently: %s", s.Step, s.Difference))
		}
	}
	return out, nil
}
