package site_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// Operands of the GPU Operator may be patterns: the DaemonSets of precompiled drivers have the kernel in their names
// (nvidia-driver-daemonset-5.15.0-140-generic-ubuntu22.04), those on OpenShift the version of RHCOS.
func TestOperandsOfTheOperator(t *testing.T) {
	t.Parallel()
	example := string(site.Example())
	const operands = "operands: "
	before, rest, ok := strings.Cut(example, operands)
	if !ok {
		t.Fatal("the example has no operands")
	}
	_, after, _ := strings.Cut(rest, "\n")
	for list, says := range map[string]string{
		"[nvidia-device-plugin-daemonset, nvidia-driver-daemonset-*]": "",
		"['*']":    "begin with",
		"['[a']":   "invalid pattern",
		"[a*, a*]": "duplicate",
	} {
		s, err := site.Parse("s.yaml", []byte(before+operands+list+"\n"+after))
		switch {
		case says == "" && err != nil:
			t.Errorf("%s: %v", list, err)
		case says == "" && (!s.GPUStack.Names(s.GPUStack.Operands[1], "nvidia-driver-daemonset-418.94.202509100653-0") || s.GPUStack.Names(s.GPUStack.Operands[1], "nvidia-dcgm")):
			t.Errorf("%s: the pattern names other DaemonSets", list)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %v, want %q", list, err, says)
		}
	}
}

// A GPU stack of the provider has no ClusterPolicy, and patterns of DaemonSets or none.
func TestManagedByProvider(t *testing.T) {
	t.Parallel()
	example := string(site.Example())
	before, rest, ok := strings.Cut(example, "\ngpustack:\n")
	if !ok {
		t.Fatal("the example has no gpustack")
	}
	_, after, ok := strings.Cut(rest, "\n\n")
	if !ok {
		t.Fatal("the block gpustack does not end")
	}
	for keys, says := range map[string]string{
		"managedBy: provider, namespace: kube-system, operands: [nvidia-gpu-device-plugin-*]":       "",
		"managedBy: provider, operands: []":                                                         "",
		"managedBy: provider":                                                                       "gpustack.operands: is missing",
		"managedBy: provider, namespace: kube-system, operands: ['*']":                              "begin with",
		"managedBy: provider, operands: [nvidia-gpu-device-plugin]":                                 "gpustack.namespace",
		"managedBy: provider, namespace: kube-system, operands: [a], clusterPolicy: cluster-policy": "gpustack.clusterPolicy",
		"managedBy: provider, namespace: kube-system, operands: ['[a']":                             "invalid pattern",
		"managedBy: provider, namespace: kube-system, operands: [a, a]":                             "duplicate",
		"managedBy: provider, provider: aks":                                                        "",
		"managedBy: provider, provider: eks-auto":                                                   "",
		"managedBy: provider, provider: eks, namespace: nvidia-device-plugin, operands: [nvdp-*]":   "",
		"managedBy: provider, provider: oke":                                                        "gpustack.provider",
		"managedBy: provider, provider: eks, operands: []":                                          "must name the device plugin's DaemonSets with provider eks",
		"managedBy: provider, provider: aks-managed, namespace: kube-system, operands: [a]":         "must be empty with provider aks-managed",
		"provider: gke, namespace: kube-system, operands: [a], clusterPolicy: cluster-policy":       "gpustack.provider: is of a cloud",
		"managedBy: gke": "gpustack.managedBy",
		"managedBy: provider, operands: [], gpuCluster: gpu-cluster":                                "gpustack.gpuCluster: is the GPU Operator's",
		"namespace: a, operands: [a], clusterPolicy: a, gpuCluster: b, deviceClass: gpu.nvidia.com": "gpustack.gpuCluster: contradicts clusterPolicy",
		"namespace: a, operands: [a], gpuCluster: b":                                                "gpustack.deviceClass: is missing",
		"managedBy: gpu-operator":                                                                   "gpustack.clusterPolicy",
		"namespace: kube-system, operands: [a]":                                                     "gpustack.clusterPolicy",
	} {
		s, err := site.Parse("s.yaml", []byte(strings.Replace(before, "  gpuTools: auto", "  # gpuTools", 1)+"\ngpustack: {"+keys+"}\n\n"+after))
		switch {
		case says == "" && err != nil:
			t.Errorf("%s: %v", keys, err)
		case says == "" && !s.GPUStack.Provided():
			t.Errorf("%s: managed by %s", keys, s.GPUStack.ManagedBy)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %v, want %q", keys, err, says)
		}
	}
	operated := "\ngpustack: {gangScheduler: auto, namespace: gpu-operator, operands: [a], gpuCluster: gpu-cluster, deviceClass: gpu.nvidia.com}\n\n"
	s, err := site.Parse("s.yaml", []byte(before+operated+after))
	if err != nil {
		t.Fatal(err)
	}
	if kind, name := s.GPUStack.Policy(); kind != "GPUCluster" || name != "gpu-cluster" {
		t.Errorf("%s %s", kind, name)
	}
	for _, tools := range []string{"pod", "auto"} {
		_, err := site.Parse("s.yaml", []byte(strings.Replace(before, "  gpuTools: auto", "  gpuTools: "+tools, 1)+"\ngpustack: {managedBy: provider, operands: []}\n\n"+after))
		if err == nil || !strings.Contains(err.Error(), "reach.gpuTools") {
			t.Errorf("tools in pods of no operator: %v", err)
		}
	}
}
