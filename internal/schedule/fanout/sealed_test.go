package fanout

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule"
)

func reportOf(recipes ...string) schedule.Report {
	r := schedule.Report{Tree: "recipes"}
	for _, name := range recipes {
		r.Recipes = append(r.Recipes, schedule.Result{
			Recipe: name, Verdict: check.Passed, Reason: "as it must be", Fingerprint: "f-" + name, Findings: []check.Finding{},
			Totals: schedule.Totals{Pods: 3, Nodes: 2, Controls: 5},
		})
	}
	r.Conclude(recipes)
	return r
}

func sealedOf(r schedule.Report) sealed {
	return sealed{Format: sealedFormat, Run: "run", Job: "uid", Shard: 1, Shards: 2, Tool: "1.4.0", Report: r}
}

// noise is text that does not compress.
func noise(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 2))
	var b strings.Builder
	for range n {
		b.WriteByte(byte(' ' + r.IntN(90)))
	}
	return b.String()
}

func TestReportsAreDecodedUnchanged(t *testing.T) {
	t.Parallel()
	wordy := reportOf("a", "b")
	wordy.Recipes[1].Verdict = check.Failed
	for range 2000 {
		wordy.Recipes[1].Findings = append(wordy.Recipes[1].Findings, check.Finding{Suspect: "gpu-operator", Message: strings.Repeat("not bound ", 20), Remedy: "tolerate"})
	}
	for name, tt := range map[string]struct {
		report schedule.Report
		key    string
	}{
		"a small one is plain":          {reportOf("a", "b"), plainKey},
		"a large one is compressed":     {wordy, zippedKey},
		"one of nothing stays one":      {schedule.Report{Verdict: check.Unobserved, Reason: "no recipe was tested"}, plainKey},
		"one of a failed run stays one": {schedule.Report{Verdict: check.Failed, Recipes: wordy.Recipes[1:]}, zippedKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m corev1.ConfigMap
			if err := defaultLimits.seal(sealedOf(tt.report), &m); err != nil {
				t.Fatal(err)
			}
			if _, plain := m.Data[tt.key]; !plain && m.BinaryData[tt.key] == nil {
				t.Errorf("it is not in %s", tt.key)
			}
			got, err := defaultLimits.unseal(&m)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sealedOf(tt.report), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAReportThatIsTooLargeLosesFindingsOnly(t *testing.T) {
	t.Parallel()
	small := limits{plain: 1 << 10, maxConfigMap: 16 << 10, maxUnzipped: 64 << 10}
	r := reportOf("a", "b")
	for i := range uint64(40) {
		r.Recipes[0].Findings = append(r.Recipes[0].Findings, check.Finding{Message: noise(1<<10, i)})
	}
	r.Recipes[0].Verdict = check.Failed
	r.Conclude([]string{"a", "b"})
	var m corev1.ConfigMap
	if err := small.seal(sealedOf(r), &m); err != nil {
		t.Fatal(err)
	}
	got, err := small.unseal(&m)
	if err != nil {
		t.Fatal(err)
	}
	if got.Report.Verdict != check.Failed || len(got.Report.Recipes) != 2 || len(got.Report.Recipes[0].Findings) != 12 {
		t.Errorf("%s, %d recipes, %d findings", got.Report.Verdict, len(got.Report.Recipes), len(got.Report.Recipes[0].Findings))
	}
	if len(got.Report.Notes) != 1 || !strings.Contains(got.Report.Notes[0], "28 findings did not fit") {
		t.Errorf("notes: %q", got.Report.Notes)
	}
	if len(r.Recipes[0].Findings) != 40 {
		t.Error("the caller's report was cut")
	}
	r.Recipes[0].Reason = noise(64<<10, 0)
	if err := small.seal(sealedOf(r), &m); err == nil || !strings.Contains(err.Error(), "exceeds the 16 KiB of a ConfigMap") {
		t.Errorf("got %v", err)
	}
}

func TestReportsThatAreNotRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(*corev1.ConfigMap)
		want  string
	}{
		"empty":            {func(m *corev1.ConfigMap) { m.Data = nil }, "must contain exactly one report"},
		"of two":           {func(m *corev1.ConfigMap) { m.BinaryData = map[string][]byte{zippedKey: {1}} }, "must contain exactly one report"},
		"of another key":   {func(m *corev1.ConfigMap) { m.Data = map[string]string{"x": m.Data[plainKey]} }, "must contain exactly one report"},
		"with more":        {func(m *corev1.ConfigMap) { m.Data["more"] = "" }, "must contain exactly one report"},
		"edited":           {func(m *corev1.ConfigMap) { m.Data[plainKey] = strings.Replace(m.Data[plainKey], "passed", "failed", 1) }, "the report was modified"},
		"without a digest": {func(m *corev1.ConfigMap) { m.Annotations = nil }, "the report was modified"},
		"no gzip":          {func(m *corev1.ConfigMap) { m.Data, m.BinaryData = nil, map[string][]byte{zippedKey: []byte("x")} }, "uncompress"},
		"cut short": {func(m *corev1.ConfigMap) {
			data, _ := compress([]byte(m.Data[plainKey]))
			m.Data, m.BinaryData = nil, map[string][]byte{zippedKey: data[:len(data)/2]}
		}, "uncompress"},
		"a bomb": {func(m *corev1.ConfigMap) {
			data, _ := compress(make([]byte, defaultLimits.maxUnzipped+1))
			m.Data, m.BinaryData = nil, map[string][]byte{zippedKey: data}
		}, "decompresses to more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m corev1.ConfigMap
			if err := defaultLimits.seal(sealedOf(reportOf("a")), &m); err != nil {
				t.Fatal(err)
			}
			m.Annotations = maps.Clone(m.Annotations)
			tt.spoil(&m)
			if _, err := defaultLimits.unseal(&m); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
		})
	}
	for name, s := range map[string]sealed{"format 2": {Format: 2}, "format 0": {}} {
		var m corev1.ConfigMap
		if err := defaultLimits.seal(s, &m); err != nil {
			t.Fatal(err)
		}
		if _, err := defaultLimits.unseal(&m); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
