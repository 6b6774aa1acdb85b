package ray

import (
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
		"GPUs of a fixed number":        {`"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "maxReplicas": 2, ` + gpu + `}]`, false},
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
