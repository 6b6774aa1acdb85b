package node

import (
	"time"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// The kinds of observations. The target is a host.
const (
	kindBefore  = "nvidia-smi"
	kindNVLinks = "nvidia-smi-nvlink"
	kindHCAs    = "ibstat"
	kindDiag    = "dcgmi-diag"
	kindAfter   = "nvidia-smi-after" // after the diagnostic
	kindKernel  = "dmesg"
	kindLoad    = "nvidia-smi-load" // GPU clocks during the diagnostic
	kindHost    = "host"            // facts of the host
	kindManager = "nvidia-fabricmanager"
	kindIMEX    = "nvidia-imex"
	kindBridges = "lspci" // PCIe bridges
	// kindJobs is of a Slurm cluster alone, before all others. Its target is the login host.
	kindJobs = "scontrol-nodes"
	// kindPods is of a Kubernetes cluster, before all others with the target cluster, and of a host before its diagnostic.
	kindPods = "pods"
	// NVLink error counters before and after the diagnostic.
	kindErrorsBefore = "nvidia-smi-nvlink-errors"
	kindErrorsAfter  = "nvidia-smi-nvlink-errors-after"
)

// smiFigures is the output of nvidia-smi -q -x. Log is nil if it has only errors.
type smiFigures struct {
	Log     *nvidia.SMILog   `json:"log,omitempty"`
	Trouble nvidia.SMIErrors `json:"trouble"`
}

// read reports whether nvidia-smi said anything: its document, or why it has none.
func (f smiFigures) read() bool { return f.Log != nil || f.Trouble.Any() }

type linkFigures struct {
	GPUs []nvidia.NVLinks `json:"gpus"`
}

type errorFigures struct {
	GPUs []nvidia.NVLinkErrors `json:"gpus"`
}

// hostFigures are the facts of a host. Its clock was read between AskedAt and AnsweredAt by
// the local clock; both are zero if unknown.
type hostFigures struct {
	Host       linuxhost.Host `json:"host"`
	AskedAt    time.Time      `json:"askedAt,omitzero"`
	AnsweredAt time.Time      `json:"answeredAt,omitzero"`
}

type bridgeFigures struct {
	Bridges []linuxhost.Bridge `json:"bridges"`
}

type hcaFigures struct {
	HCAs []infiniband.HCA `json:"hcas"`
}

// diagFigures is a diagnostic's document and the meaning of its exit code.
type diagFigures struct {
	Outcome nvidia.DiagOutcome `json:"outcome"`
	Meaning string             `json:"meaning"`
	Diag    nvidia.Diag        `json:"diag"`
}
