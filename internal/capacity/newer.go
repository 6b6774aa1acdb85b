package capacity

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// Newer refuses the base if a newer acceptance of its site and cluster, in one of the directories of
// runs, does not hold. A run that cannot be loaded says nothing of this cluster.
func (b Base) Newer(dirs ...string) error {
	for _, dir := range dirs {
		ids, err := evidence.List(dir)
		if err != nil {
			return fmt.Errorf("look for acceptances newer than run %s: %w", b.Run, err)
		}
		for _, id := range ids {
			if run, err := evidence.Load(filepath.Join(dir, id)); err == nil && b.refutedBy(run) {
				is := string(run.Verdict())
				if !run.Finished {
					is = "interrupted after a failed gate"
				}
				return fmt.Errorf("run %s is the accepted one, but the newer acceptance %s of the same site and cluster, of %s, is %s: repair what it names and run firstlight accept on the whole cluster; or, if a still newer run is accepted, name it with --to",
					b.Run, run.Dir, run.Header.Created.UTC().Format(time.RFC3339), is)
			}
		}
	}
	return nil
}

// refutedBy reports whether a run is a whole acceptance, newer than the base, whose verdict does not
// hold. One that did not finish refutes the base if a gate has failed: its end changes nothing of that.
func (b Base) refutedBy(run *evidence.Bundle) bool {
	h := run.Header
	whole := h.Only == "" && h.AddedTo == "" && len(h.Command) > 1 && h.Command[1] == "accept"
	refuted := run.Finished && !run.Verdict().Holds() || !run.Finished && hasFailed(run)
	return whole && h.Site == b.Site && h.Cluster == b.Cluster && h.Created.After(b.Accepted) && refuted
}

// hasFailed reports whether a gate of an unfinished run has failed.
func hasFailed(run *evidence.Bundle) bool {
	recommended := run.Recommended()
	return slices.ContainsFunc(run.Results(), func(r plan.Result) bool {
		return r.Verdict == check.Failed && !slices.Contains(recommended, r.Step)
	})
}
