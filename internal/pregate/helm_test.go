package pregate

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"helm.sh/helm/v4/pkg/cli"

	"github.com/firstlight/firstlight/internal/site"
)

// The evidence names the release by the command line that does the same.
func TestReleaseName(t *testing.T) {
	t.Parallel()
	spec := site.Helm{Release: "r", Chart: "c", Repository: "https://charts.example.com", Version: "v1", Namespace: "n"}
	for name, c := range map[string]struct {
		r    release
		want string
	}{
		"repository": {release{spec: spec}, "helm upgrade --install r c --version v1 --namespace n --repo https://charts.example.com --wait --rollback-on-failure"},
		"mirror":     {release{spec: spec, mirror: "/srv/c.tgz"}, "helm upgrade --install r /srv/c.tgz --version v1 --namespace n --wait --rollback-on-failure"},
		"as it is":   {release{spec: site.Helm{Release: "r", Chart: "oci://a/c", Version: "v1", Namespace: "n", NoWait: true, KeepFailed: true}}, "helm upgrade --install r oci://a/c --version v1 --namespace n"},
	} {
		if got := c.r.Name(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The site's own values win over those of its files, table by table, and are not changed by it.
func TestValues(t *testing.T) {
	t.Parallel()
	own := map[string]any{"driver": map[string]any{"version": "2"}}
	r := release{spec: site.Helm{ValuesFiles: []string{"testdata/values.yaml"}, Values: own}}
	for range 2 {
		vals, err := r.values(cli.New())
		if err != nil {
			t.Fatal(err)
		}
		driver, ok := vals["driver"].(map[string]any)
		if !ok || driver["version"] != "2" || driver["enabled"] != true || vals["other"] != "kept" {
			t.Errorf("the values are %v", vals)
		}
	}
	if len(own) != 1 || len(own["driver"].(map[string]any)) != 1 {
		t.Errorf("the site's values were changed: %v", own)
	}
	r.spec.ValuesFiles = []string{"testdata/missing.yaml"}
	if _, err := r.values(cli.New()); err == nil || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("a missing file: %v", err)
	}
}

// A site pinned the digest that helm pull prints, which is the manifest's: the error names the right one. For a
// repository it has no such remark.
func TestChartDigestOfRegistry(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "c.tgz")
	if err := os.WriteFile(archive, []byte("chart"), 0o600); err != nil {
		t.Fatal(err)
	}
	for chart, want := range map[string]bool{"oci://charts.example.com/c": true, "c": false} {
		r := release{spec: site.Helm{Chart: chart, Version: "v1", Digest: "sha256:" + strings.Repeat("0", 64)}}
		if err := r.checkDigest(archive, io.Discard); err == nil || strings.Contains(err.Error(), "layer, not that of the manifest") != want {
			t.Errorf("%s: %v", chart, err)
		}
	}
}

// A version is a name that can be given twice: the digest pins what is installed, and the evidence has it.
func TestChartDigest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive := filepath.Join(dir, "c.tgz")
	if err := os.WriteFile(archive, []byte("chart"), 0o600); err != nil {
		t.Fatal(err)
	}
	const digest = "sha256:cc57fc1903e444cf6a726490b43b27ee9f87facc037f86872201847c565b45fb" // echo -n chart | sha256sum
	for name, c := range map[string]struct{ path, pinned, want string }{
		"not pinned":            {archive, "", ""},
		"pinned":                {archive, digest, ""},
		"another archive":       {archive, "sha256:" + strings.Repeat("0", 64), "has digest " + digest + ", want sha256:0"},
		"directory":             {dir, "", ""},
		"directory, but pinned": {dir, digest, "is a directory"},
		"missing":               {dir + "/none", digest, "no such file"},
	} {
		var out strings.Builder
		r := release{spec: site.Helm{Chart: "c", Version: "v1", Digest: c.pinned}}
		err := r.checkDigest(c.path, &out)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if printed := strings.Contains(out.String(), "chart c v1 has digest "+digest); printed != (c.path == archive) {
			t.Errorf("%s: printed %q", name, out.String())
		}
	}
}

// A custom resource without conditions is not ready: an operator's own was taken for ready before the
// operator had read it, and the gate failed on it.
func TestReady(t *testing.T) {
	t.Parallel()
	condition := func(kind, status string) any {
		return map[string]any{"type": kind, "status": status, "reason": "R", "message": "M"}
	}
	for name, c := range map[string]struct {
		conditions []any
		want       string
	}{
		"no status": {nil, "no condition"},
		"not ready": {[]any{condition("Error", "False"), condition("Ready", "False")}, "Ready is False: R: M"},
		"unknown":   {[]any{condition("Ready", "Unknown")}, "Ready is Unknown"},
		"ready":     {[]any{condition("Error", "False"), condition("Ready", "True")}, ""},
		// A run on a busy machine judged the policy of a moment ago: its labels came a second later.
		"no labels yet": {[]any{map[string]any{"type": "Ready", "status": "True", "reason": "NFDLabelsMissing", "message": "No NFD labels found"}}, "Ready is True: NFDLabelsMissing: No NFD labels found"},
		"no nodes yet":  {[]any{map[string]any{"type": "Ready", "status": "True", "reason": "NoGPUNodes", "message": "No GPU node found"}}, "NoGPUNodes"},
		"another word":  {[]any{condition("Reconciled", "True")}, ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		if c.conditions != nil {
			o.Object["status"] = map[string]any{"conditions": c.conditions}
		}
		err := ready(o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// NVIDIA's GPU Operator was ready for a moment, before its DaemonSets had counted their pods: the gate judged while the
// drivers were installed.
func TestSteady(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reads string // r: ready, n: not
		want  bool   // at the last one
	}{
		"ready at once":        {"r", false},
		"ready, as often":      {"rrr", true},
		"not ready in between": {"rrnrr", false},
		"steady at last":       {"rrnrrr", true},
		"never":                {"nnnn", false},
	} {
		at := -1
		read := steady(3, func(context.Context) error {
			if at++; c.reads[at] == 'n' {
				return errNoCondition
			}
			return nil
		})
		var err error
		for range c.reads {
			err = read(t.Context())
		}
		if (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestByCause(t *testing.T) {
	t.Parallel()
	lines := []string{"pod a: ContainersNotReady: [x]", "pod z: container c: InvalidImageName: n", "pod b: ContainersNotReady: [x]", "pod c: Unschedulable: 0/6"}
	slices.SortFunc(lines, byCause)
	if want := []string{"pod c: Unschedulable: 0/6", "pod z: container c: InvalidImageName: n", "pod a: ContainersNotReady: [x]", "pod b: ContainersNotReady: [x]"}; !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
}

func TestNotReady(t *testing.T) {
	t.Parallel()
	conditions := func(c ...corev1.PodCondition) corev1.PodStatus { return corev1.PodStatus{Conditions: c} }
	unplaced := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/6 nodes"}
	unready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady", Message: "[main]"}
	waiting := func(reason string) corev1.PodStatus {
		return corev1.PodStatus{Conditions: []corev1.PodCondition{unready}, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "why"}},
		}}}
	}
	for name, c := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"not placed":    {conditions(unready, unplaced), "Unschedulable: 0/6 nodes"},
		"not ready":     {conditions(unready), "ContainersNotReady: [main]"},
		"no image":      {waiting("ImagePullBackOff"), "container main: ImagePullBackOff: why"},
		"being created": {waiting("ContainerCreating"), "ContainersNotReady: [main]"},
		"ended":         {corev1.PodStatus{Phase: corev1.PodSucceeded, Conditions: []corev1.PodCondition{unready}}, ""},
		"ready":         {conditions(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}), ""},
	} {
		if got := notReady(&corev1.Pod{Status: c.status}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	if got := oneLine(errors.Join(errors.New("a\nb"), errors.New("c"))); got != "a; b; c" {
		t.Error(got)
	}
}
