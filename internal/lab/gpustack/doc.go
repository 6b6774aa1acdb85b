// Package gpustack has the files of the pinned GPU Operator module: its Helm chart, which has Node
// Feature Discovery as a dependency, and the manifests that the operator reads from
// /opt/gpu-operator. It renders the chart with Helm's engine.
//
// The files are embedded, because a machine with imported programs has no Go modules. A test
// compares them with the module.
package gpustack

//go:generate sh -c "go run ../../pack -in $(go -C ../../../components/gpustack list -m -f '{{.Dir}}' github.com/NVIDIA/gpu-operator) -to content.zip LICENSE assets manifests deployments/gpu-operator"
