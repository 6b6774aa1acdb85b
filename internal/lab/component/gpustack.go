package component

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/lab/gpustack"
	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Stack is the software that manages the GPUs of a lab.
type Stack string

const (
	// StackMinimal is an imitation of the GPU Operator in the world. The zero value is the same.
	StackMinimal Stack = "minimal"
	// StackReal is NVIDIA's GPU Operator with Node Feature Discovery.
	StackReal Stack = "real"
	// StackNone manages no GPUs: the programs of StackReal run while the pods of an installed chart do.
	StackNone Stack = "none"
)

// Stacks returns the names of all stacks.
func Stacks() []string { return []string{string(StackMinimal), string(StackReal), string(StackNone)} }

// External reports whether programs outside the World manage the GPUs.
func (s Stack) External() bool { return s == StackReal || s == StackNone }

// CheckStack returns an error for an unknown name.
func CheckStack(s Stack) error {
	if s != "" && !slices.Contains(Stacks(), string(s)) {
		return fmt.Errorf("unknown stack %q: want one of %s", s, strings.Join(Stacks(), ", "))
	}
	return nil
}

// StackObjects is a dependency in Needs, not a component: the objects of the GPU Operator's chart.
const StackObjects = "gpu-stack-objects"

// LabelProcess is on the pods that represent a lab's process; its value is the component.
const LabelProcess = "firstlight.dev/lab-process"

// StackDeployments maps the Deployments of the GPU Operator's chart to the components that run
// their programs.
func StackDeployments() map[string]string {
	return map[string]string{"gpu-operator": GPUOperator, "gpu-operator-node-feature-discovery-master": NFDMaster}
}

// osRelease is the operating system of the hosts, which the operator reads from its own node.
const osRelease = `PRETTY_NAME="Ubuntu 22.04.5 LTS"
NAME="Ubuntu"
VERSION_ID="22.04"
VERSION="22.04.5 LTS (Jammy Jellyfish)"
VERSION_CODENAME=jammy
ID=ubuntu
ID_LIKE=debian
`

// GPUOperator reconciles ClusterPolicies. It reads two fixed paths, /opt/gpu-operator and
// /host-etc/os-release, and therefore has a root directory of its own.
func (c Config) GPUOperator() Component {
	root := c.Data(GPUOperator)
	files := map[string]string{filepath.Join(root, "host-etc", "os-release"): osRelease}
	installed, err := gpustack.Installed()
	if err != nil {
		panic(err) // embedded
	}
	for name, text := range installed {
		files[filepath.Join(root, "opt", "gpu-operator", name)] = text
	}
	return Component{
		Name: GPUOperator,
		Root: root,
		Argv: []string{
			"--leader-elect=false",
			"--metrics-bind-address=" + c.hostPort(c.Ports.GPUOperatorMetrics),
			"--health-probe-bind-address=" + c.hostPort(c.Ports.GPUOperatorHealth),
			"--zap-time-encoding=rfc3339nano",
		},
		Env: []string{
			"KUBECONFIG=/kubeconfig.yaml",
			"OPERATOR_NAMESPACE=" + gpustack.Namespace,
			"HOME=/", "TMPDIR=/",
		},
		Files:     files,
		Copies:    map[string]string{filepath.Join(root, "kubeconfig.yaml"): c.Kubeconfig(pki.GPUOperator)},
		Probe:     c.plainProbe(c.Ports.GPUOperatorHealth, "/readyz"),
		Needs:     []string{APIServer, StackObjects},
		StopGrace: 5 * time.Second,
	}
}

// NFDMaster labels nodes with the features that workers report. Its metrics port is plain, read-only
// HTTP on all addresses; only its number is configurable. At its start it updates the node that it
// runs on.
func (c Config) NFDMaster() Component {
	config := c.Conf("nfd-master.conf")
	return Component{
		Name: NFDMaster,
		Argv: []string{
			"-kubeconfig=" + c.Kubeconfig(pki.NFDMaster),
			"-config=" + config,
			"-metrics=" + strconv.Itoa(c.Ports.NFDMaster),
			"-grpc-health=0",
			"-enable-leader-election=false",
		},
		Env: []string{"NODE_NAME=" + c.ControlNode, "KUBERNETES_NAMESPACE=" + gpustack.Namespace},
		// As in the chart's ConfigMap.
		Files:     map[string]string{config: "extraLabelNs:\n- nvidia.com\n"},
		Probe:     c.plainProbe(c.Ports.NFDMaster, "/metrics"),
		Needs:     []string{APIServer, StackObjects},
		StopGrace: 2 * time.Second,
	}
}
