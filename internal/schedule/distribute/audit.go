package distribute

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/class"
)

// audit fails a report in which recipes of one class came to different verdicts, as
// a test that is not distributed does: the members of a class are in different
// shards. Those without a verdict are missing, which is said elsewhere.
func (x *expectation) audit(r *schedule.Report) {
	if !x.selection.Audit {
		return
	}
	verdicts := map[string]check.Verdict{}
	for _, res := range r.Recipes {
		verdicts[res.Recipe] = res.Verdict
	}
	var classes []class.Class
	at := map[string]int{}
	for _, c := range x.selection.Cases {
		if _, there := verdicts[c.Recipe]; !there || c.Fingerprint == "" {
			continue
		}
		i, known := at[c.Fingerprint]
		if !known {
			i = len(classes)
			at[c.Fingerprint] = i
			classes = append(classes, class.Class{Fingerprint: c.Fingerprint, Representative: c.Recipe})
		}
		classes[i].Members = append(classes[i].Members, c.Recipe)
	}
	var reasons []string
	for _, d := range class.Audit(classes, verdicts) {
		reasons = append(reasons, d.String())
	}
	if len(reasons) > 0 {
		r.Verdict = check.Failed
		r.Reason = strings.Join(append([]string{r.Reason}, some(reasons)...), "; ")
	}
}
