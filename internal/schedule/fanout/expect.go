package fanout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule"
)

// expectation describes valid shard reports.
type expectation struct {
	spec *Spec
	// jobUID of the Job.
	jobUID string
	// tool is the caller's firstlight version.
	tool      string
	selection schedule.Selection
}

// validate rejects a report that is not of this run, Job and shard, or not for exactly the
// recipes of the shard with the caller's fingerprints.
func (x *expectation) validate(shard int, s sealed) error {
	switch {
	case s.Run != x.spec.RunID || s.Job != x.jobUID:
		return fmt.Errorf("report of run %s, Job %s: want run %s, Job %s", s.Run, s.Job, x.spec.RunID, x.jobUID)
	case s.Shard != shard || s.Shards != x.spec.Shards:
		return fmt.Errorf("report of shard %d of %d", s.Shard, s.Shards)
	}
	fingerprints := map[string]string{}
	for _, c := range x.selection.Part(shard, x.spec.Shards).Cases {
		fingerprints[c.Recipe] = c.Fingerprint
	}
	got := map[string]bool{}
	var unexpected []string
	for _, r := range s.Report.Recipes {
		want, expected := fingerprints[r.Recipe]
		switch {
		case !expected || got[r.Recipe]:
			unexpected = append(unexpected, r.Recipe)
		case r.Fingerprint != want:
			return fmt.Errorf("fingerprint of %s is %.12s in the shard (firstlight %s), want %.12s (firstlight %s): use an image with this firstlight version",
				r.Recipe, orNone(r.Fingerprint), s.Tool, orNone(want), x.tool)
		}
		got[r.Recipe] = true
	}
	var missing []string
	for name := range fingerprints {
		if !got[name] {
			missing = append(missing, name)
		}
	}
	if len(unexpected)+len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("the report does not match the shard's recipes: missing: %s; unexpected or duplicate: %s", orNone(strings.Join(missing, ", ")), orNone(strings.Join(unexpected, ", ")))
	}
	return checkVerdict(s.Report)
}

// checkVerdict rejects a report that did not pass although all its recipes passed: the
// reason would be lost.
func checkVerdict(r schedule.Report) error {
	retry := r
	retry.Recipes = slices.Clone(r.Recipes)
	var names []string
	for _, res := range r.Recipes {
		names = append(names, res.Recipe)
	}
	retry.Conclude(names)
	if r.Verdict != check.Passed && retry.Verdict == check.Passed {
		return fmt.Errorf("the verdict is %q although all recipes passed: %s", r.Verdict, r.Reason)
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
