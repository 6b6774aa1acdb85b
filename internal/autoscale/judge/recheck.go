package judge

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// recheckInterval is a constant of Karpenter (state.Cluster.ConsolidationState): a cluster
// in which nothing changes is considered again only after this time.
const recheckInterval = 5 * time.Minute

// RemovalSettings are the settings that delay the removal of a node.
func RemovalSettings() []string {
	return []string{snapshot.SettingConsolidate, snapshot.SettingNomination, snapshot.SettingDisruption, snapshot.SettingValidation, snapshot.SettingTermination}
}

// recheck explains by recheckInterval why nodes whose pods ended at one time exist until another;
// empty if the settings explain it, or if it takes longer than both, as since the zero time.
func (l lookup) recheck(emptied, until time.Time) string {
	if !l.karpenter() {
		return ""
	}
	over := until.Sub(emptied)
	for _, name := range RemovalSettings() {
		over -= max(0, l.setup.Setting(name).Value.Duration)
	}
	if over <= 0 || over > recheckInterval {
		return ""
	}
	return fmt.Sprintf("%s longer than its settings explain: Karpenter considers a cluster without changes again only after 5 minutes", seconds(over))
}
