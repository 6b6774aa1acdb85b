package world

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Every model is complete, and its family is a label: Ada Lovelace has a space, which the API server
// refuses.
func TestGPUModels(t *testing.T) {
	t.Parallel()
	all, err := gpuModels()
	if err != nil {
		t.Fatal(err)
	}
	if names := gpuModelNames(); len(names) < 4 || !slices.Contains(names, "l40s") {
		t.Fatalf("models %v", names)
	}
	for name, m := range all {
		hw := HardwareGPU{Product: "x", BusIDs: []string{"0000:1B:00.0"}}.as(m)
		if hw.Product == "" || hw.ComputeCapability == "" || hw.DeviceID == "" || hw.PartNumber == "" || hw.ReservedMiB <= 0 || hw.MemoryMiB <= hw.ReservedMiB {
			t.Errorf("%s: incomplete: %+v", name, m)
		}
		if problems := validation.IsValidLabelValue(hw.Family()); len(problems) > 0 || hw.Family() == "" {
			t.Errorf("%s: family %q: %v", name, hw.Family(), problems)
		}
	}
	if got := (HardwareGPU{Architecture: "Ada Lovelace"}).Family(); got != "ada-lovelace" {
		t.Errorf("family %q, want ada-lovelace", got)
	}
}

// A model of a kind of hardware has the figures of hardware.yaml.
func TestGPUModelsAgreeWithTheHardware(t *testing.T) {
	t.Parallel()
	all, err := gpuModels()
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, kind := range HardwareKinds() {
		hw, err := LoadHardware(kind)
		if err != nil {
			t.Fatal(err)
		}
		for name, m := range all {
			if m.Product != hw.GPU.Product {
				continue
			}
			same++
			if diff := cmp.Diff(hw.GPU, hw.GPU.as(m)); diff != "" {
				t.Errorf("%s and %s differ (-hardware +model):\n%s", kind, name, diff)
			}
		}
	}
	if same == 0 {
		t.Error("no model is that of a kind of hardware")
	}
}

// A node with fewer GPUs of another model changes no other node and none of the kind's figures.
func TestGPUModelFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	if _, err := w.AddFault(Fault{Kind: "gpu-model", Options: map[string]string{"model": "l40s", "gpus": "4"}}); err != nil {
		t.Fatal(err)
	}
	for _, n := range w.State().GPUNodes() {
		product, gpus := "NVIDIA H100 80GB HBM3", 8
		if n.Name == "gpu-02" {
			product, gpus = "NVIDIA L40S", 4
		}
		if n.Hardware.GPU.Product != product || n.UsableGPUs() != gpus {
			t.Errorf("%s has %d %s, want %d %s", n.Name, n.UsableGPUs(), n.Hardware.GPU.Product, gpus, product)
		}
	}
}
