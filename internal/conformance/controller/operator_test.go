package controller

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func trainerFile(tb testing.TB) string {
	tb.Helper()
	raw, err := os.ReadFile("operators/kubeflow-trainer.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

// The invalid resource differs from the valid one only in the overlay.
func TestRender(t *testing.T) {
	t.Parallel()
	o, err := ParseOperator([]byte(trainerFile(t)))
	if err != nil {
		t.Fatal(err)
	}
	v := values{Name: "x", Namespace: "firstlight-1", Labels: map[string]string{"firstlight.dev/run": `a"b`}, Seconds: 5}
	valid, err := o.render(o.Valid, v, variant{})
	if err != nil {
		t.Fatal(err)
	}
	if valid.GetLabels()["firstlight.dev/run"] != `a"b` || valid.GetNamespace() != "firstlight-1" {
		t.Errorf("the resource is %v, want the run's label and namespace", valid.Object)
	}
	invalid, err := o.render(o.Valid, v, variant{over: o.Invalid.Over})
	if err != nil {
		t.Fatal(err)
	}
	_ = invalid.DeepCopy() // its types are those of API objects
	env, _, err := unstructured.NestedSlice(invalid.Object, "spec", "trainer", "env")
	if err != nil || len(env) != 1 {
		t.Fatalf("variables are %v, %v", env, err)
	}
	if diff := cmp.Diff(map[string]any{"name": "PET_NNODES", "value": "7"}, env[0]); diff != "" {
		t.Error(diff)
	}
	for _, obj := range []*unstructured.Unstructured{valid, invalid} {
		unstructured.RemoveNestedField(obj.Object, "spec", "trainer", "env")
	}
	if diff := cmp.Diff(valid.Object, invalid.Object); diff != "" {
		t.Errorf("the invalid one differs also in (-valid +invalid)\n%s", diff)
	}
	setup, err := o.render(o.Setup, v, variant{})
	if err != nil || setup.GetLabels()["firstlight.dev/run"] == "" {
		t.Errorf("setup objects %v, %v; want labels", setup, err)
	}
}

// The pod of the shipped operator has one GPU: of the device plugin, or by a claim.
func TestThePodOfAnOperatorHasAGPU(t *testing.T) {
	t.Parallel()
	o, err := ParseOperator([]byte(trainerFile(t)))
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]string{
		"":               `{"containers":{"limits":{"nvidia.com/gpu":"1"}},"claims":[]}`,
		"gpu.nvidia.com": `{"containers":{"claims":[{"name":"gpus"}]},"claims":[{"name":"gpus","resourceClaimTemplateName":"firstlight-gpu"}]}`,
	} {
		setup, err := o.render(o.Setup, values{Name: "x", Namespace: "y", DeviceClass: class}, variant{})
		if err != nil {
			t.Fatal(err)
		}
		jobs, _, err := unstructured.NestedSlice(setup.Object, "spec", "template", "spec", "replicatedJobs")
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		pod, _, err := unstructured.NestedMap(jobs[0].(map[string]any), "template", "spec", "template", "spec")
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(struct {
			Containers any `json:"containers"`
			Claims     any `json:"claims"`
		}{pod["containers"].([]any)[0].(map[string]any)["resources"], pod["resourceClaims"]})
		if err != nil || string(got) != want {
			t.Errorf("class %q: %s, want %s (%v)", class, got, want, err)
		}
	}
}

// All problems of a file are reported at once, each with its position.
func TestOperatorFilesAreStrict(t *testing.T) {
	t.Parallel()
	whole := trainerFile(t)
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(whole) }
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"unknown key":      {whole + "webhooks: [a]\n", []string{"webhooks"}},
		"missing":          {"name: x\n", []string{"title: required", "webhook: required", "valid: required", "children: the last must be pods", "definitions: required", "misshapen.over"}},
		"no name filled":   {replace("metadata: {name: ${NAME}, namespace", "metadata: {name: me, namespace"), []string{"must use ${NAME} and ${NAMESPACE}"}},
		"unknown gap":      {replace("${SECONDS}", "${MINUTES}"), []string{"unknown variable ${MINUTES}"}},
		"other API":        {replace("resource: {group: trainer.kubeflow.org", "resource: {group: other.example.com"), []string{"want other.example.com/v1alpha1"}},
		"no pods":          {replace("- {group: \"\", version: v1, resource: pods}\n", ""), []string{"the last must be pods"}},
		"never overdue":    {replace("afterWork: 2m", "afterWork: 0s"), []string{"invalid afterWork 0s"}},
		"overdue too late": {replace("afterWork: 2m", "afterWork: 9m"), []string{"invalid afterWork 9m0s"}},
		"too short":        {replace("deadline: 5m", "deadline: 5s"), []string{"must be longer than the work"}},
		"work the same":    {replace("killed: 20", "killed: 5"), []string{"the second longer"}},
		"not YAML":         {"name: [", []string{"read operator"}},
		"a key repeated":   {replace("    runtimeRef:", "    runtimeRef: {}\n    runtimeRef:"), []string{"already set"}},
		"an empty file":    {"", []string{"read operator"}},
		"nothing invalid":  {replace("over: {spec: {trainer: {numNodes: two}}}", "over: {}"), []string{"misshapen.over"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.file == whole {
				t.Fatal("the case alters nothing")
			}
			_, err := ParseOperator([]byte(c.file))
			for _, w := range c.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%v\nwant it to name %q", err, w)
				}
			}
		})
	}
}

// Operators are added as files; two at once are both wrong when both are.
func TestLoadOperators(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	other := strings.Replace(trainerFile(t), "name: kubeflow-trainer", "name: other", 1)
	all, err := LoadOperators(fstest.MapFS{"b.yaml": file(other), "a.yaml": file(trainerFile(t))})
	if err != nil || len(all) != 2 || all[0].Name != "kubeflow-trainer" || all[1].Name != "other" {
		t.Errorf("%d operators, %v; want two, by the names of their files", len(all), err)
	}
	_, err = LoadOperators(fstest.MapFS{"a.yaml": file("a: 1"), "b.yaml": file("b: 1")})
	if err == nil || !strings.Contains(err.Error(), "a.yaml: ") || !strings.Contains(err.Error(), "b.yaml: ") {
		t.Errorf("%v, want both files named", err)
	}
	if _, err := LoadOperators(fstest.MapFS{}); err == nil {
		t.Error("no error for an empty list of operators")
	}
}

func FuzzParseOperator(f *testing.F) {
	f.Add(trainerFile(f))
	f.Add("name: x\nvalid: |\n  a: ${NAME}\n")
	f.Add("invalid: {over: {1: {2: 3}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseOperator([]byte(text))
		if err != nil {
			return
		}
		if _, err := o.render(o.Valid, values{Name: "a", Namespace: "b"}, variant{over: o.Invalid.Over}); err != nil {
			t.Errorf("cannot render a valid operator: %v", err)
		}
	})
}
