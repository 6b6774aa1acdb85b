package world

import "testing"

// Regression: the hosts of a GB200 NVL72, whose processors are Arm, were amd64: the first step of a
// validation failed with every recipe for GB200.
func TestArchitectureOfHosts(t *testing.T) {
	t.Parallel()
	for hardware, want := range map[string][3]string{
		DefaultHardware:      {"amd64", "x86_64", "Intel"},
		"gb200-nvl72-ndr400": {"arm64", "aarch64", "ARM"},
	} {
		spec, err := SpecOf(hardware, 1)
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(spec, WithClock(fixed))
		if err != nil {
			t.Fatal(err)
		}
		gpu, system := w.State().GPUNodes()[0], w.State().SystemNodes()[0]
		if got := [3]string{gpu.Arch(), gpu.Machine(), gpu.CPUVendor()}; got != want {
			t.Errorf("%s: %v, want %v", hardware, got, want)
		}
		if got := system.Arch(); got != "amd64" {
			t.Errorf("%s: the system host is %s, want amd64", hardware, got)
		}
	}
}
