package assertion

import (
	"io/fs"
	"path"
	"reflect"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/recipes"
)

// Healthy objects, by kind.
var well = map[string]map[string]any{
	"Deployment":  {"spec": map[string]any{"replicas": int64(2)}, "status": map[string]any{"observedGeneration": int64(3), "availableReplicas": int64(2)}},
	"StatefulSet": {"spec": map[string]any{"replicas": int64(2)}, "status": map[string]any{"observedGeneration": int64(3), "readyReplicas": int64(2)}},
	"CustomResourceDefinition": {"status": map[string]any{"conditions": []any{
		map[string]any{"type": "NamesAccepted", "status": "True"}, map[string]any{"type": "Established", "status": "True"},
	}}},
	"DaemonSet": {"status": map[string]any{"observedGeneration": int64(3), "desiredNumberScheduled": int64(4), "numberReady": int64(4), "numberMisscheduled": int64(0)}},
}

func rightFor(t *testing.T, op *Operation) unstructured.Unstructured {
	t.Helper()
	status, known := well[op.Resource.GetKind()]
	if !known {
		t.Fatalf("%s: no healthy object is declared", op.Subject())
	}
	o := unstructured.Unstructured{Object: map[string]any{}}
	mergeInto(o.Object, (&unstructured.Unstructured{Object: status}).DeepCopy().Object)
	o.SetAPIVersion(op.Resource.GetAPIVersion())
	o.SetKind(op.Resource.GetKind())
	o.SetName(op.Resource.GetName())
	o.SetNamespace(op.Resource.GetNamespace())
	o.SetGeneration(3)
	return o
}

// Every file of the recipe tree loads, passes on healthy objects, and fails if one value of one
// object is changed or removed, if zero replicas are desired, and if an object is missing.
func TestShippedFiles(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(recipes.FS, "checks/*/*.yaml")
	if err != nil || len(files) < 17 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(path.Base(path.Dir(file)), func(t *testing.T) {
			t.Parallel()
			data, err := recipes.FS.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests, err := Load("recipes/"+file, data, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(tests) != 1 || tests[0].Name != path.Base(path.Dir(file)) {
				t.Fatalf("%d tests; the first is %s", len(tests), tests[0].Name)
			}
			for _, op := range tests[0].Operations() {
				if op.Kind != Assert || op.Timeout != 6*time.Minute || op.Resource.GetName() == "" ||
					(op.Resource.GetNamespace() != "") != served[op.Resource.GetAPIVersion()+" "+op.Resource.GetKind()] {
					t.Errorf("%s %s, %s", op.Kind, op.Subject(), op.Timeout)
				}
				shippedOperation(t, op)
			}
		})
	}
}

func shippedOperation(t *testing.T, op *Operation) {
	t.Helper()
	holds := func(list ...unstructured.Unstructured) bool {
		return look(t, op, &shelf{objects: list}, All).Result.Holds
	}
	right := rightFor(t, op)
	if !holds(right) {
		t.Errorf("%s: does not hold of %v", op.Subject(), right.Object)
	}
	if holds() {
		t.Errorf("%s: holds of nothing", op.Subject())
	}
	for _, block := range []string{"spec", "status"} {
		leaves(right.Object[block], []any{block}, func(at []any) {
			if right.Object[block] == nil {
				return
			}
			if holds(changed(right, at)) {
				t.Errorf("%s: holds with another %s", op.Subject(), pathText(at))
			}
			absent := *right.DeepCopy()
			unstructured.RemoveNestedField(absent.Object, block, at[1].(string))
			if holds(absent) {
				t.Errorf("%s: holds without %s", op.Subject(), pathText(at))
			}
		})
	}
	none := *right.DeepCopy()
	leaves(right.Object, nil, func(at []any) {
		if name, _ := at[len(at)-1].(string); slices.Contains([]string{"replicas", "availableReplicas", "readyReplicas", "desiredNumberScheduled", "numberReady"}, name) {
			if err := unstructured.SetNestedField(none.Object, int64(0), at[0].(string), name); err != nil {
				t.Fatal(err)
			}
		}
	})
	if !reflect.DeepEqual(none, right) && holds(none) {
		t.Errorf("%s: holds of none of none", op.Subject())
	}
}
