package ray

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Only a group whose pods have GPUs, and that is not suspended, adds workers for a group of bundles with GPUs.
func TestScales(t *testing.T) {
	t.Parallel()
	const (
		gpu = `"template": {"spec": {"containers": [{"name": "ray-worker", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}`
		cpu = `"template": {"spec": {"containers": [{"name": "ray-worker", "resources": {"limits": {"cpu": 4}}}]}}`
	)
	for name, tt := range map[string]struct {
		spec string
		want bool
	}{
		"none scales":                   {`"workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "maxReplicas": 4, ` + gpu + `}]`, false},
		"GPUs":                          {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "maxReplicas": 4, ` + gpu + `}]`, true},
		"GPUs without a limit":          {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, ` + gpu + `}]`, true},
		"GPUs of a fixed number":        {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "minReplicas": 2, "maxReplicas": 2, ` + gpu + `}]`, false},
		"GPUs that may become fewer":    {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "minReplicas": 1, "maxReplicas": 2, ` + gpu + `}]`, true},
		"GPUs without a least number":   {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "maxReplicas": 2, ` + gpu + `}]`, true},
		"GPUs by resources":             {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "cpu", "maxReplicas": 4, "resources": {"GPU": "8"}, ` + cpu + `}]`, true},
		"no GPUs by resources":          {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "cpu", "maxReplicas": 4, "resources": {"GPU": "0", "CPU": "4"}, ` + cpu + `}]`, false},
		"a suspended group":             {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "gpu", "suspend": true, "replicas": 2, "maxReplicas": 4, ` + gpu + `}]`, false},
		"CPUs":                          {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "cpu", "replicas": 0, "maxReplicas": 4, "rayStartParams": {"num-gpus": "0"}, ` + cpu + `}]`, false},
		"CPUs with num-gpus":            {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "cpu", "replicas": 0, "maxReplicas": 4, "rayStartParams": {"num-gpus": "2"}, ` + cpu + `}]`, true},
		"CPUs with unreadable num-gpus": {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "cpu", "replicas": 0, "maxReplicas": 4, "rayStartParams": {"num-gpus": "$N"}, ` + cpu + `}]`, true},
		"CPUs, then GPUs":               {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "cpu", "maxReplicas": 4, ` + cpu + `}, {"groupName": "gpu", "replicas": 2, "maxReplicas": 4, ` + gpu + `}]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := []byte(`{"kind": "RayCluster", "metadata": {"uid": "u", "generation": 3}, "spec": {` + tt.spec + `}, "status": {"state": "ready"}}`)
			var u unstructured.Unstructured
			if err := u.UnmarshalJSON(raw); err != nil {
				t.Fatal(err)
			}
			f, err := parseCluster(raw, &u)
			if err != nil || f.Scales != tt.want || f.UID != "u" || f.Generation != 3 {
				t.Errorf("scales %t, %v, want %t: %+v", f.Scales, err, tt.want, f.Groups)
			}
		})
	}
}

// The digest of the spec does not change with what the autoscaler changes, and changes with anything else.
func TestSpecDigest(t *testing.T) {
	t.Parallel()
	const (
		gpu = `{"groupName": "gpu", "replicas": 2, "minReplicas": 2, "maxReplicas": 2, "template": {"spec": {"containers": [{"name": "w", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}}`
		cpu = `{"groupName": "cpu", "replicas": 1, "minReplicas": 0, "maxReplicas": 4, "template": {"spec": {"containers": [{"name": "w"}]}}}`
	)
	digest := func(spec string, autoscaling bool) string {
		t.Helper()
		var u unstructured.Unstructured
		if err := u.UnmarshalJSON([]byte(`{"kind": "RayCluster", "apiVersion": "ray.io/v1", "spec": ` + spec + `}`)); err != nil {
			t.Fatal(err)
		}
		before := u.DeepCopy()
		out := specDigest(&u, autoscaling)
		if !reflect.DeepEqual(before.Object, u.Object) {
			t.Error("the RayCluster was changed")
		}
		return out
	}
	spec := `{"workerGroupSpecs": [` + gpu + `, ` + cpu + `]}`
	scaled := strings.Replace(spec, `"replicas": 1`, `"scaleStrategy": {"workersToDelete": ["x"]}, "replicas": 3`, 1)
	for name, tt := range map[string]struct {
		other       string
		autoscaling bool
		same        bool
	}{
		"the same":                         {spec, true, true},
		"the autoscaler adds a CPU worker": {scaled, true, true},
		"a user adds a CPU worker":         {scaled, false, false},
		"GPU workers":                      {strings.Replace(spec, `"replicas": 2`, `"replicas": 1`, 1), true, false},
		"another limit":                    {strings.Replace(spec, `"maxReplicas": 4`, `"maxReplicas": 5`, 1), true, false},
		"another name":                     {strings.Replace(spec, `"gpu", "replicas"`, `"other", "replicas"`, 1), true, false},
	} {
		if got := digest(tt.other, tt.autoscaling) == digest(spec, tt.autoscaling); got != tt.same {
			t.Errorf("%s: same digest %t, want %t", name, got, tt.same)
		}
	}
}
