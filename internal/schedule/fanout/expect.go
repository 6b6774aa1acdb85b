package fanout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule"
)

// expectation is what the shards have to bring.
type expectation struct {
	spec *Spec
	// jobUID is the Job's.
	jobUID string
	// tool is the caller's version of firstlight.
	tool      string
	selection schedule.Selection
}

// problemsOf finds what keeps a shard's report from counting: it has to be of this
// run, this Job and this shard, for exactly the recipes of the shard, made of what
// the caller has.
func (x *expectation) problemsOf(shard int, s sealed) error {
	switch {
	case s.Run != x.spec.RunID || s.Job != x.jobUID:
		return fmt.Errorf("its report is of run %s, Job %s: this is run %s, Job %s", s.Run, s.Job, x.spec.RunID, x.jobUID)
	case s.Shard != shard || s.Shards != x.spec.Shards:
		return fmt.Errorf("its report says that it is of shard %d of %d", s.Shard, s.Shards)
	}
	fingerprints := map[string]string{}
	for _, c := range x.selection.Shard(shard, x.spec.Shards).Cases {
		fingerprints[c.Recipe] = c.Fingerprint
	}
	got := map[string]bool{}
	var odd []string
	for _, r := range s.Report.Recipes {
		want, expected := fingerprints[r.Recipe]
		switch {
		case !expected || got[r.Recipe]:
			odd = append(odd, r.Recipe)
		case r.Fingerprint != want:
			return fmt.Errorf("it tested another %s than the one here: fingerprint %.12s there (firstlight %s), %.12s here (firstlight %s); use an image of this firstlight",
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
	if len(odd)+len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("its report is not of the recipes that it was sent: %s missing, %s not expected or twice", orNone(strings.Join(missing, ", ")), orNone(strings.Join(odd, ", ")))
	}
	return own(s.Report)
}

// own says whether a report is what its recipes say: a shard that did not pass has
// to have a recipe that did not, or what kept it from passing would be lost.
func own(r schedule.Report) error {
	again := r
	again.Recipes = slices.Clone(r.Recipes)
	var names []string
	for _, res := range r.Recipes {
		names = append(names, res.Recipe)
	}
	again.Conclude(names)
	if r.Verdict != check.Passed && again.Verdict == check.Passed {
		return fmt.Errorf("its verdict is %q though all of its recipes passed: %s", r.Verdict, r.Reason)
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
