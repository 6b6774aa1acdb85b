package workload

import "testing"

// A gang's own DeviceClass is kept, as that of gate 4; any other gang has the class of the cluster.
func TestDefaultClass(t *testing.T) {
	t.Parallel()
	for own, want := range map[string]string{"": "gpu.nvidia.com", "own.example.com": "own.example.com"} {
		s := Spec{DeviceClass: own}
		if s.DefaultClass("gpu.nvidia.com"); s.DeviceClass != want {
			t.Errorf("own %q: %q, want %q", own, s.DeviceClass, want)
		}
	}
}
