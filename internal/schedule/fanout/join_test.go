package fanout

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule"
)

const jobUID = "0c6a1de0"

// scene is a run of five recipes in two shards (a c e, b d) that went well; a test
// spoils it.
type scene struct {
	x *expectation
	p *status
	// reports are what the shards publish.
	reports []sealed
}

func newScene() *scene {
	s := specOf("a", "b", "c", "d", "e")
	sc := &scene{
		x: &expectation{spec: &s, jobUID: jobUID, tool: "1.4.0", selection: schedule.Each(3, casesOf(s.Names...))},
		p: &status{shards: 2, job: jobWith("0,1", "", batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue})},
	}
	for i, names := range [][]string{{"a", "c", "e"}, {"b", "d"}} {
		sc.reports = append(sc.reports, sealed{
			Format: sealedFormat, Run: s.RunID, Job: jobUID, Shard: i, Shards: 2, Tool: "1.4.0", Report: reportOf(names...),
		})
	}
	return sc
}

func casesOf(names ...string) []schedule.Case {
	var out []schedule.Case
	for _, name := range names {
		out = append(out, schedule.Case{Recipe: name, Fingerprint: "f-" + name})
	}
	return out
}

// publish makes the ConfigMaps.
func (sc *scene) publish(t *testing.T) {
	t.Helper()
	for i, r := range sc.reports {
		m := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: sc.x.spec.reportName(i), Labels: labels(sc.x.spec.RunID, roleReport), OwnerReferences: owner(sc.x.spec.job(), jobUID),
		}}
		m.Labels[LabelShard] = string(rune('0' + i))
		if err := defaultLimits.seal(r, &m); err != nil {
			t.Fatal(err)
		}
		sc.p.reports = append(sc.p.reports, m)
	}
}

func failedJob(completed, failed, reason, message string) *batchv1.Job {
	return jobWith(completed, failed, batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: reason, Message: message})
}

func TestJoin(t *testing.T) {
	t.Parallel()
	type spoil func(sc *scene) // before the reports are published
	type edit func(sc *scene)  // after
	for name, tt := range map[string]struct {
		spoil   spoil
		edit    edit
		want    check.Verdict
		summary []string
		// shards that are in trouble
		shards []int
	}{
		"all is well": {want: check.Passed, summary: []string{"5 recipes passed"}},
		"a recipe failed": {spoil: func(sc *scene) {
			r := &sc.reports[1].Report
			r.Recipes[0].Verdict = check.Failed
			r.Conclude([]string{"b", "d"})
		}, want: check.Failed, summary: []string{"1 failed: b"}},
		"a report is missing": {edit: func(sc *scene) { sc.p.reports = sc.p.reports[:1] },
			want: check.Unobserved, summary: []string{"2 without a result: b, d", "shard 1 of 2: it published no report"}, shards: []int{1}},
		"no report at all": {edit: func(sc *scene) { sc.p.reports = nil },
			want: check.Unobserved, summary: []string{"no recipe was tested", "shard 0 of 2", "shard 1 of 2"}, shards: []int{0, 1}},
		"a duplicate report": {edit: func(sc *scene) {
			retry := sc.p.reports[1].DeepCopy()
			retry.Name = "copy"
			sc.p.reports = append(sc.p.reports, *retry)
		}, want: check.Unobserved, summary: []string{"shard 1 of 2: it has 2 reports", "copy"}, shards: []int{1}},
		"a report under another name": {edit: func(sc *scene) { sc.p.reports[0].Name = "mine" },
			want: check.Unobserved, summary: []string{"shard 0 of 2: its report is in ConfigMap mine"}, shards: []int{0}},
		"the same shard's report under both names": {edit: func(sc *scene) {
			sc.p.reports[1].Data, sc.p.reports[1].Annotations = sc.p.reports[0].Data, sc.p.reports[0].Annotations
		}, want: check.Unobserved, summary: []string{"shard 1 of 2: report of shard 0 of 2"}, shards: []int{1}},
		"a report was edited": {edit: func(sc *scene) {
			sc.p.reports[0].Data[plainKey] = strings.Replace(sc.p.reports[0].Data[plainKey], `"recipe":"a"`, `"recipe":"b"`, 1)
		}, want: check.Unobserved, summary: []string{"shard 0 of 2: invalid report: its digest is"}, shards: []int{0}},
		"a report of another run": {spoil: func(sc *scene) { sc.reports[1].Run = "20260101-000000-0000" },
			want: check.Unobserved, summary: []string{"shard 1 of 2: report of run 20260101-000000-0000"}, shards: []int{1}},
		"a report of another Job": {spoil: func(sc *scene) { sc.reports[1].Job = "other" },
			want: check.Unobserved, summary: []string{"shard 1 of 2", "Job other"}, shards: []int{1}},
		"a report that the Job does not own": {edit: func(sc *scene) { sc.p.reports[0].OwnerReferences = owner("recipes", "other") },
			want: check.Unobserved, summary: []string{"shard 0 of 2: its report is not owned by the Job; owners: Job recipes other"}, shards: []int{0}},
		"a report of an unknown shard": {edit: func(sc *scene) {
			unexpected := sc.p.reports[1].DeepCopy()
			unexpected.Name, unexpected.Labels[LabelShard] = "odd", "7"
			sc.p.reports = append(sc.p.reports, *unexpected)
		}, want: check.Unobserved, summary: []string{`ConfigMap odd: report for unknown shard "7"`}, shards: []int{-1}},
		"a report without a shard": {edit: func(sc *scene) { delete(sc.p.reports[1].Labels, LabelShard) },
			want: check.Unobserved, summary: []string{`report for unknown shard ""`, "shard 1 of 2: it published no report"}, shards: []int{-1, 1}},
		"a report of other shards": {spoil: func(sc *scene) { sc.reports[1].Shards = 3 },
			want: check.Unobserved, summary: []string{"report of shard 1 of 3"}, shards: []int{1}},
		"a recipe is missing": {spoil: func(sc *scene) { sc.reports[0].Report = reportOf("a", "c") },
			want: check.Unobserved, summary: []string{"shard 0 of 2: the report does not match the shard's recipes: missing: e; unexpected or duplicate: none"}, shards: []int{0}},
		"a duplicate recipe": {spoil: func(sc *scene) { sc.reports[0].Report = reportOf("a", "c", "e", "e") },
			want: check.Unobserved, summary: []string{"missing: none; unexpected or duplicate: e"}, shards: []int{0}},
		"a recipe of another shard": {spoil: func(sc *scene) { sc.reports[0].Report = reportOf("a", "c", "e", "b") },
			want: check.Unobserved, summary: []string{"missing: none; unexpected or duplicate: b"}, shards: []int{0}},
		"another recipe of the same name": {spoil: func(sc *scene) { sc.reports[0].Report.Recipes[1].Fingerprint = "f-else"; sc.reports[0].Tool = "1.3.0" },
			want: check.Unobserved, summary: []string{"shard 0 of 2: fingerprint of c is f-else in the shard (firstlight 1.3.0), want f-c (firstlight 1.4.0)"}, shards: []int{0}},
		"a verdict that its recipes do not say": {spoil: func(sc *scene) { sc.reports[1].Report.Verdict = check.Failed },
			want: check.Unobserved, summary: []string{`shard 1 of 2: the verdict is "failed" although all recipes passed`}, shards: []int{1}},
		"a passed verdict over a failed recipe": {spoil: func(sc *scene) { sc.reports[1].Report.Recipes[0].Verdict = check.Failed },
			want: check.Failed, summary: []string{"1 failed: b"}},
		"a shard that failed after its report": {edit: func(sc *scene) {
			sc.p.job = failedJob("0", "1", batchv1.JobReasonFailedIndexes, "Job has failed indexes")
		},
			want: check.Unobserved, summary: []string{"shard 1 of 2: it published a report, but the Job does not count it as completed"}, shards: []int{1}},
		"the Job did not end": {edit: func(sc *scene) { sc.p.job.Status.Conditions = nil },
			want: check.Unobserved, summary: []string{"the Job did not end"}, shards: []int{-1}},
		"the Job's deadline": {edit: func(sc *scene) {
			sc.p.job, sc.p.reports = failedJob("0", "", "DeadlineExceeded", "Job was active longer than specified deadline"), sc.p.reports[:1]
		}, want: check.Unobserved, summary: []string{"shard 1 of 2: it published no report", "the Job failed: DeadlineExceeded"}, shards: []int{1, -1}},
		"failed, and missing": {
			spoil: func(sc *scene) { sc.reports[0].Report.Recipes[0].Verdict = check.Failed },
			edit:  func(sc *scene) { sc.p.reports = sc.p.reports[:1] },
			want:  check.Failed, summary: []string{"1 failed: a", "shard 1 of 2: it published no report"}, shards: []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := newScene()
			if tt.spoil != nil {
				tt.spoil(sc)
			}
			sc.publish(t)
			if tt.edit != nil {
				tt.edit(sc)
			}
			r, troubles := sc.x.join(sc.p)
			if r.Verdict != tt.want {
				t.Errorf("got %s (%s), want %s", r.Verdict, r.Reason, tt.want)
			}
			for _, summary := range tt.summary {
				if !strings.Contains(r.Reason, summary) {
					t.Errorf("the reason does not say %q: %s", summary, r.Reason)
				}
			}
			var shards []int
			for _, tr := range troubles {
				shards = append(shards, tr.shard)
			}
			if !slices.Equal(shards, tt.shards) {
				t.Errorf("shards %v are in trouble, want %v", shards, tt.shards)
			}
		})
	}
}

// The members of a class are in different shards: that they disagree shows only here.
func TestJoinedIsAudited(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tier  int
		equal check.Verdict
		want  check.Verdict
	}{
		"they agree":               {3, check.Passed, check.Passed},
		"they disagree":            {3, check.Unobserved, check.Failed},
		"they disagree, unaudited": {2, check.Unobserved, check.Unobserved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := newScene()
			cases := casesOf(sc.x.spec.Names...)
			cases[1].Fingerprint = "f-a"
			sc.x.selection = schedule.Each(tt.tier, cases)
			r := &sc.reports[1].Report
			r.Recipes[0].Fingerprint, r.Recipes[0].Verdict = "f-a", tt.equal
			r.Conclude([]string{"b", "d"})
			sc.publish(t)
			joined, _ := sc.x.join(sc.p)
			if joined.Verdict != tt.want {
				t.Errorf("got %s (%s), want %s", joined.Verdict, joined.Reason, tt.want)
			}
			if tt.want == check.Failed && !strings.Contains(joined.Reason, "class of a (f-a): a passed; b unobserved") {
				t.Error(joined.Reason)
			}
		})
	}
}

func TestJoinedIsOneTestOfTheSelection(t *testing.T) {
	t.Parallel()
	sc := newScene()
	cases := casesOf("a", "b", "c", "d", "e", "x-of-c", "y-of-c")
	cases[5].Fingerprint, cases[6].Fingerprint = "f-c", "f-c"
	sc.x.selection = schedule.OnePerClass(1, cases)
	sc.reports[0].Report.Evidence = []string{"/var/firstlight/evidence/recipes/r"}
	sc.reports[1].Tool = "1.4.1"
	sc.publish(t)
	r, troubles := sc.x.join(sc.p)
	if len(troubles) > 0 || r.Verdict != check.Passed {
		t.Fatal(troubles, r.Reason)
	}
	if r.Tier != 1 || r.Covered != 2 || len(r.Recipes) != 5 || r.Pods != 15 || len(r.Evidence) != 0 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([]string{"x-of-c", "y-of-c"}, r.Recipes[2].StandsFor); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"the image has firstlight 1.4.1, the caller 1.4.0"}, r.Notes); diff != "" {
		t.Error(diff)
	}
}

func TestOfManyShardsInTroubleSomeAreNamed(t *testing.T) {
	t.Parallel()
	s := specOf(many(20)...)
	s.Shards = 20
	x := &expectation{spec: &s, jobUID: jobUID, selection: schedule.Each(0, casesOf(s.Names...))}
	r, troubles := x.join(&status{shards: 20})
	if len(troubles) != 21 || !strings.HasSuffix(r.Reason, "; 16 more in the notes") {
		t.Errorf("%d troubles: %s", len(troubles), r.Reason)
	}
}
