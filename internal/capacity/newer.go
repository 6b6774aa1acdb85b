package capacity

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/firstlight/firstlight/internal/evidence"
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
				return fmt.Errorf("run %s is the accepted one, but the newer acceptance %s of the same site and cluster, of %s, is %s: repair what it names and run firstlight accept on the whole cluster; or, if a still newer run is accepted, name it with --to",
					b.Run, run.Dir, run.Header.Created.UTC().Format(time.RFC3339), run.Verdict())
			}
		}
	}
	return nil
}

// refutedBy reports whether a run is a finished whole acceptance, newer than the base, whose verdict
// does not hold.
func (b Base) refutedBy(run *evidence.Bundle) bool {
	h := run.Header
	whole := run.Finished && h.Only == "" && h.AddedTo == "" && len(h.Command) > 1 && h.Command[1] == "accept"
	return whole && h.Site == b.Site && h.Cluster == b.Cluster && h.Created.After(b.Accepted) && !run.Verdict().Holds()
}
