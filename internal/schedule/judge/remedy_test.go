package judge

import (
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ paths, workload, want string }{
		"by the first part":   {"master.tolerations worker.tolerations", "node-feature-discovery-worker", "worker.tolerations"},
		"the longest part":    {"prometheus.spec.nodeSelector prometheusOperator.nodeSelector", "kube-prometheus-operator", "prometheusOperator.nodeSelector"},
		"with dashes":         {"prometheus-node-exporter.tolerations prometheus.spec.tolerations", "x-prometheus-node-exporter", "prometheus-node-exporter.tolerations"},
		"the main pod":        {"nodeSelector webhook.nodeSelector cainjector.nodeSelector", "cert-manager", "nodeSelector"},
		"all, where none is":  {"daemonsets.tolerations operands.tolerations daemonsets.tolerations", "nvidia-dcgm", "daemonsets.tolerations operands.tolerations"},
		"nothing":             {"", "x", ""},
		"several of one part": {"manager.a.tolerations manager.b.tolerations", "controller-manager", "manager.a.tolerations manager.b.tolerations"},
	} {
		if got := strings.Join(nearestPaths(strings.Fields(tt.paths), tt.workload), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"gpu-0":                         "gpu-0",
		"gpu-1 gpu-0":                   "gpu-0, gpu-1",
		"gpu-0 gpu-1 gpu-2 gpu-10":      "gpu-0 to gpu-2, gpu-10",
		"gpu-0 gpu-2 system-0 system-1": "gpu-0, gpu-2, system-0, system-1",
		"node x-":                       "node, x-",
	} {
		if got := ranges(strings.Fields(names)); got != want {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
	}
}
