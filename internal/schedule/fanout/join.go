package fanout

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule"
)

// problem is why a shard does not count. Shard -1 is the whole run.
type problem struct {
	shard int
	err   error
}

// join merges the shards' reports and returns their problems. It is pure. The report
// passes only if every shard counts.
func (x *expectation) join(p *status) (schedule.Report, []problem) {
	byShard, troubles := x.sort(p.reports)
	var counted []schedule.Report
	tools := map[string]bool{}
	completed := p.completed()
	for i := range x.spec.Shards {
		s, err := x.shard(i, byShard[i])
		if err == nil {
			counted = append(counted, s.Report)
			tools[s.Tool] = true
			if !completed[i] {
				err = fmt.Errorf("it published a report, but the Job does not count it as completed")
			}
		}
		if err != nil {
			troubles = append(troubles, problem{i, err})
		}
	}
	if end := p.finished(); end == nil {
		troubles = append(troubles, problem{-1, fmt.Errorf("the Job did not end")})
	} else if end.Type == batchv1.JobFailed && end.Reason != batchv1.JobReasonFailedIndexes {
		troubles = append(troubles, problem{-1, fmt.Errorf("the Job failed: %s: %s", end.Reason, end.Message)})
	}
	r := x.joined(counted)
	if len(troubles) > 0 && r.Verdict == check.Passed {
		r.Verdict = check.Unobserved
	}
	var reasons []string
	for _, t := range troubles {
		reasons = append(reasons, t.String(x.spec.Shards))
	}
	if len(reasons) > 0 {
		r.Reason = strings.Join(append([]string{r.Reason}, some(reasons)...), "; ")
	}
	for tool := range tools {
		if tool != x.tool {
			r.Notes = append(r.Notes, fmt.Sprintf("the image has firstlight %s, the caller %s", tool, x.tool))
		}
	}
	return r, troubles
}

// joined merges the reports of the valid shards.
func (x *expectation) joined(shards []schedule.Report) schedule.Report {
	for i := range shards {
		shards[i].Tier = x.selection.Tier
		shards[i].Evidence = nil // lost with the pods
		for k := range shards[i].Recipes {
			r := &shards[i].Recipes[k]
			r.StandsFor = x.selection.StandsFor[r.Recipe]
		}
	}
	r := schedule.Join(shards, x.selection.Names())
	if x.selection.Audit() {
		r.Audit()
	}
	return r
}

// sort groups the reports by shard; reports of unknown shards are problems.
func (x *expectation) sort(reports []corev1.ConfigMap) (map[int][]*corev1.ConfigMap, []problem) {
	byShard := map[int][]*corev1.ConfigMap{}
	var troubles []problem
	for i := range reports {
		m := &reports[i]
		shard, err := strconv.Atoi(m.Labels[LabelShard])
		if err != nil || shard < 0 || shard >= x.spec.Shards {
			troubles = append(troubles, problem{-1, fmt.Errorf("ConfigMap %s: report for unknown shard %q", m.Name, m.Labels[LabelShard])})
			continue
		}
		byShard[shard] = append(byShard[shard], m)
	}
	return byShard, troubles
}

// shard reads the report of a shard.
func (x *expectation) shard(i int, reports []*corev1.ConfigMap) (sealed, error) {
	if len(reports) == 0 {
		return sealed{}, fmt.Errorf("it published no report")
	}
	if len(reports) > 1 {
		var names []string
		for _, m := range reports {
			names = append(names, m.Name)
		}
		return sealed{}, fmt.Errorf("it has %d reports: %s", len(reports), strings.Join(names, ", "))
	}
	m := reports[0]
	if want := x.spec.reportName(i); m.Name != want {
		return sealed{}, fmt.Errorf("its report is in ConfigMap %s, want %s", m.Name, want)
	}
	if !owned(m, x.jobUID) {
		return sealed{}, fmt.Errorf("its report is not owned by the Job; owners: %s", owners(m.OwnerReferences))
	}
	s, err := defaultLimits.unseal(m)
	if err != nil {
		return sealed{}, fmt.Errorf("invalid report: %w", err)
	}
	return s, x.validate(i, s)
}

func owners(refs []metav1.OwnerReference) string {
	var out []string
	for _, o := range refs {
		out = append(out, o.Kind+" "+o.Name+" "+string(o.UID))
	}
	return orNone(strings.Join(out, ", "))
}

// String names the shard.
func (t problem) String(shards int) string {
	if t.shard < 0 {
		return t.err.Error()
	}
	return fmt.Sprintf("shard %d of %d: %s", t.shard, shards, t.err)
}

// some returns the first lines and counts the others.
func some(lines []string) []string {
	const most = 5
	if len(lines) <= most {
		return lines
	}
	return append(append([]string{}, lines[:most]...), fmt.Sprintf("%d more in the notes", len(lines)-most))
}
