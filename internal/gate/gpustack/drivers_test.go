package gpustack

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/check"
)

// withDrivers is healthy with two NVIDIADrivers, of two nodes each.
func withDrivers(g *Gate) (facts, *driverFigures) {
	f := healthy(g)
	f.policy.DriverCRD = true
	ready := []policyCondition{{Type: "Ready", Status: "True", Reason: "Reconciled"}, {Type: "Error", Status: "False", Reason: "Ready"}}
	d := &driverFigures{Served: true, Selected: map[string][]string{}, Drivers: []nvidiaDriver{
		{Name: "old", Selector: map[string]string{"pool": "a"}, State: "ready", Conditions: slices.Clone(ready)},
		{Name: "new", Selector: map[string]string{"pool": "b"}, State: "ready", Conditions: slices.Clone(ready)},
	}}
	for i, node := range g.nodes {
		name := d.Drivers[i/2].Name
		d.Selected[node] = []string{name}
		d.Pods = append(d.Pods, driverPod{Pod: "driver-" + node, Node: node, DaemonSet: "nvidia-gpu-driver-ubuntu22.04-" + name, Owner: "NVIDIADriver/" + name, Ready: true})
	}
	f.drivers = d
	return f, d
}

func TestNVIDIADrivers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		alter   func(*facts, *driverFigures)
		want    check.Verdict
		suspect string
		says    string
	}{
		"healthy":                {func(*facts, *driverFigures) {}, check.Passed, "", ""},
		"not observed":           {func(f *facts, _ *driverFigures) { f.drivers = nil }, check.Unobserved, "the NVIDIADrivers", ""},
		"forbidden":              {func(f *facts, _ *driverFigures) { f.errs[kindDrivers] = "nvidiadrivers is forbidden" }, check.Unobserved, "the NVIDIADrivers", "forbidden"},
		"not used by the policy": {func(f *facts, _ *driverFigures) { f.policy.DriverCRD, f.drivers = false, nil }, check.Passed, "", ""},
		"not served":             {func(_ *facts, d *driverFigures) { *d = driverFigures{} }, check.Failed, "NVIDIADriver", "does not serve nvidiadrivers.nvidia.com"},
		"none":                   {func(_ *facts, d *driverFigures) { *d = driverFigures{Served: true} }, check.Failed, "NVIDIADriver", "has no NVIDIADriver"},
		"not ready": {func(_ *facts, d *driverFigures) {
			d.Drivers[1].State = "notReady"
			d.Drivers[1].Conditions = []policyCondition{{Type: "Ready", Status: "False", Reason: "Error"}, {Type: "Error", Status: "True", Reason: "DriverNotReady", Message: "Waiting for driver pod to be ready"}}
		}, check.Failed, "NVIDIADriver new", "DriverNotReady: Waiting for driver pod to be ready"},
		"ready by its state alone": {func(_ *facts, d *driverFigures) { d.Drivers[0].Conditions = nil }, check.Failed, "NVIDIADriver old", "Ready="},
		"disabled":                 {func(_ *facts, d *driverFigures) { d.Drivers[0].State = "disabled" }, check.Failed, "NVIDIADriver old", "disabled"},
		"without a status":         {func(_ *facts, d *driverFigures) { d.Drivers[0] = nvidiaDriver{Name: "old"} }, check.Failed, "NVIDIADriver old", "has no status"},
		"being deleted":            {func(_ *facts, d *driverFigures) { d.Drivers[0].Deleting = true }, check.Failed, "NVIDIADriver old", "is being deleted"},
		"refused by the operator": {func(_ *facts, d *driverFigures) {
			d.Drivers[1].Conditions = []policyCondition{{Type: "Error", Status: "True", Reason: "ConflictingNodeSelector", Message: "conflicting NVIDIADriver NodeSelectors found for resource: new"}}
		}, check.Failed, "NVIDIADriver new", "conflicting NVIDIADriver NodeSelectors"},
		"a node without a driver": {func(_ *facts, d *driverFigures) { d.Selected["gpu-03"] = []string{} }, check.Failed, "gpu-03/nvidia driver", "no NVIDIADriver selects node gpu-03: no driver is installed there; there are old (pool=a), new (pool=b)"},
		"two drivers on a node":   {func(_ *facts, d *driverFigures) { d.Selected["gpu-02"] = []string{"old", "new"} }, check.Failed, "gpu-02/nvidia driver", "NVIDIADrivers old and new select node gpu-02"},
		"a node that is unknown":  {func(_ *facts, d *driverFigures) { delete(d.Selected, "gpu-02") }, check.Unobserved, "gpu-02/nvidia driver", "not in the cluster"},
		"no pod":                  {func(_ *facts, d *driverFigures) { d.Pods = d.Pods[1:] }, check.Failed, "gpu-01/nvidia driver", "has no driver pod there"},
		"no pod, and a driver of the host": {func(_ *facts, d *driverFigures) {
			d.Pods, d.PreInstalled = d.Pods[1:], []string{"gpu-01"}
		}, check.Passed, "", ""},
		"not selected, and a driver of the host": {func(_ *facts, d *driverFigures) {
			d.Selected["gpu-01"], d.Pods, d.PreInstalled = []string{}, d.Pods[1:], []string{"gpu-01"}
		}, check.Passed, "", ""},
		"a driver of another host": {func(_ *facts, d *driverFigures) { d.Pods, d.PreInstalled = d.Pods[1:], []string{"gpu-02"} }, check.Failed, "gpu-01/nvidia driver", "has no driver pod there"},
		"two select a node with a driver of its host": {func(_ *facts, d *driverFigures) {
			d.Selected["gpu-02"], d.PreInstalled = []string{"old", "new"}, []string{"gpu-02"}
		}, check.Failed, "gpu-02/nvidia driver", "NVIDIADrivers old and new"},
		"a pod that is not ready": {func(_ *facts, d *driverFigures) {
			d.Pods[0].Ready, d.Pods[0].Why = false, "phase Running, ContainersNotReady"
		}, check.Failed, "gpu-01/nvidia driver", "ContainersNotReady"},
		"a pod of the policy": {func(_ *facts, d *driverFigures) { d.Pods[0].Owner = "ClusterPolicy/cluster-policy" }, check.Failed, "gpu-01/nvidia driver", "is of ClusterPolicy/cluster-policy"},
		"a pod of the other":  {func(_ *facts, d *driverFigures) { d.Pods[0].Owner = "NVIDIADriver/new" }, check.Failed, "gpu-01/nvidia driver", "is of NVIDIADriver/new, and NVIDIADriver/old selects"},
		// Driver DaemonSets have the update strategy OnDelete: their pods stay Ready with the former driver (NVIDIA/gpu-operator,
		// issue 2509).
		"a pod of an older revision": {func(_ *facts, d *driverFigures) { d.Pods[2].Outdated = true }, check.Failed, "gpu-03/nvidia driver",
			"is of an older revision of DaemonSet nvidia-gpu-driver-ubuntu22.04-new"},
		"a driver of no node of the inventory is not ready": {func(_ *facts, d *driverFigures) {
			d.Drivers = append(d.Drivers, nvidiaDriver{Name: "pool-of-no-nodes", State: "notReady"})
		}, check.Passed, "NVIDIADriver pool-of-no-nodes", "selects no node of the inventory"},
		"a second pod": {func(_ *facts, d *driverFigures) {
			d.Pods = append(d.Pods, driverPod{Pod: "x", Node: "gpu-04", Ready: true})
		}, check.Failed, "gpu-04/nvidia driver", "is of no owner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			f, d := withDrivers(g)
			tt.alter(&f, d)
			j := g.Judge(f.observations(t))
			lines := []string{j.Reason}
			for _, finding := range j.Findings {
				lines = append(lines, finding.Suspect+": "+finding.Message)
			}
			text := strings.Join(lines, "\n")
			if j.Verdict != tt.want || !strings.Contains(text, tt.suspect) || !strings.Contains(text, tt.says) {
				t.Errorf("%s, want %s with %q and %q: %s", j.Verdict, tt.want, tt.suspect, tt.says, text)
			}
		})
	}
}

func TestReadDrivers(t *testing.T) {
	t.Parallel()
	got, err := readDrivers([]byte(`{"apiVersion":"nvidia.com/v1alpha1","kind":"NVIDIADriverList","items":[
		{"metadata":{"name":"a"},"spec":{"driverType":"gpu","nodeSelector":{"pool":"a"}},"status":{"state":"ready","conditions":[{"type":"Ready","status":"True","reason":"Reconciled","message":"All resources have been successfully reconciled","lastTransitionTime":"2026-11-21T10:00:00Z"}]}},
		{"metadata":{"name":"default","deletionTimestamp":"2026-11-21T10:00:00Z"},"spec":{}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []nvidiaDriver{
		{Name: "a", Selector: map[string]string{"pool": "a"}, State: "ready", Conditions: []policyCondition{{Type: "Ready", Status: "True", Reason: "Reconciled", Message: "All resources have been successfully reconciled"}}},
		{Name: "default", Selector: map[string]string{"nvidia.com/gpu.present": "true"}, Deleting: true},
	}
	if diff := cmp.Diff(want, got.Drivers); diff != "" || !got.Served {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "default"}, got.selecting(map[string]string{"pool": "a", "nvidia.com/gpu.present": "true"})); diff != "" {
		t.Error(diff)
	}
	if selected := got.selecting(map[string]string{"pool": "b"}); len(selected) != 0 {
		t.Errorf("%v", selected)
	}
	if _, err := readDrivers([]byte(`{"items":[{"spec":{"nodeSelector":"pool=a"}}]}`)); err == nil {
		t.Error("a selector of another type is read")
	}
}

// From v26.7 on the chart installs a default NVIDIADriver, which may have no nodeSelector and is only for nodes that no other selects.
func TestDefaultDriver(t *testing.T) {
	t.Parallel()
	f, err := readDrivers([]byte(`{"items":[{"metadata":{"name":"default"},"spec":{"default":true}},{"metadata":{"name":"h100"},"spec":{"nodeSelector":{"pool":"a"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const present = "nvidia.com/gpu.present"
	for want, node := range map[string]map[string]string{"h100": {present: "true", "pool": "a"}, "default": {present: "true", "pool": "b"}, "": {"pool": "b"}} {
		if got := strings.Join(f.selecting(node), " "); got != want {
			t.Errorf("%v: %q, want %q", node, got, want)
		}
	}
	f.Drivers[0].Default = false
	if got := f.selecting(map[string]string{present: "true", "pool": "a"}); len(got) != 2 {
		t.Errorf("two that are not default: %v", got)
	}
}

// The driver is that of NVIDIADrivers where the policy has that key and installs a driver at all.
func TestPolicyNamesTheDriversOwner(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		driver map[string]any
		want   bool
	}{
		{map[string]any{"useNvidiaDriverCRD": true}, true}, {map[string]any{"useNvidiaDriverCRD": true, "enabled": true}, true},
		{map[string]any{"useNvidiaDriverCRD": true, "enabled": false}, false}, {map[string]any{"enabled": true}, false}, {nil, false},
	} {
		p, err := readPolicy(&unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"driver": tt.driver}, "status": map[string]any{"state": "ready"}}})
		if err != nil || p.DriverCRD != tt.want {
			t.Errorf("%v: %v, %v", tt.driver, p.DriverCRD, err)
		}
	}
}

func FuzzReadDrivers(f *testing.F) {
	f.Add([]byte(`{"items":[{"metadata":{"name":"a"},"spec":{"nodeSelector":{"pool":"a"}},"status":{"state":"ready","conditions":[{"type":"Ready"}]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := readDrivers(data); err == nil && (d.Drivers == nil || !d.Served) {
			t.Errorf("%q: %+v", data, d)
		}
	})
}
