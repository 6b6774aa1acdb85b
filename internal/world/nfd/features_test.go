package nfd

import (
	"testing"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

// The operator takes a node with this label for one with GPUs; the node has it exactly if the worker
// finds them, and the labels of GPU feature discovery follow its pod.
func TestLabels(t *testing.T) {
	t.Parallel()
	const present, product = "feature.node.kubernetes.io/pci-10de.present", "nvidia.com/gpu.product"
	for name, tt := range map[string]struct {
		fault      string
		host       string
		discovered bool
		gpu        bool
		product    string
	}{
		"healthy":                   {"", "gpu-03", true, true, "NVIDIA-H100-80GB-HBM3"},
		"before feature discovery":  {"", "gpu-03", false, true, ""},
		"a host without GPUs":       {"", "system-01", false, false, ""},
		"GPUs not found":            {"nfd-labels-missing", "gpu-03", true, false, ""},
		"GPUs of another not found": {"nfd-labels-missing", "gpu-01", true, true, "NVIDIA-H100-80GB-HBM3"},
		"no GPUs found":             {"zero-gpu-nodes", "gpu-01", true, false, ""},
		"half partitioned":          {"mig-half-applied", "gpu-02", true, true, "NVIDIA-H100-80GB-HBM3-MIG-INVALID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := world.New(world.DefaultSpec(4), worldtest.Shared(t))
			if err != nil {
				t.Fatal(err)
			}
			if tt.fault != "" {
				if _, err := w.AddFault(world.Fault{Kind: tt.fault}); err != nil {
					t.Fatal(err)
				}
			}
			state := w.State()
			host, ok := state.Node(tt.host)
			if !ok {
				t.Fatalf("no host %s", tt.host)
			}
			l := labelsOf(state, host, tt.discovered)
			if gpu := l[present] == "true"; gpu != tt.gpu {
				t.Errorf("%s: %v, want %v", present, gpu, tt.gpu)
			}
			if got, _ := l[product].(string); got != tt.product {
				t.Errorf("%s is %q, want %q", product, got, tt.product)
			}
			if l["feature.node.kubernetes.io/system-os_release.ID"] != "ubuntu" {
				t.Errorf("labels %v", l)
			}
			instances, _ := features(state, host)["instances"].(map[string]any)
			devices, _ := instances["pci.device"].(map[string]any)
			// Regression: null was refused by the definition, so that system nodes stayed without labels.
			if list, ok := devices["elements"].([]any); !ok || list == nil {
				t.Errorf("PCI devices are %#v, want a list", devices["elements"])
			}
		})
	}
}
