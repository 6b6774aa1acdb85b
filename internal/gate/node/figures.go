package node

import (
	"time"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// The kinds of observations; each has a host for its target.
const (
	kindBefore  = "nvidia-smi"
	kindNVLinks = "nvidia-smi-nvlink"
	kindHCAs    = "ibstat"
	kindDiag    = "dcgmi-diag"
	kindAfter   = "nvidia-smi-after" // what the diagnostic left behind
	kindKernel  = "dmesg"
	kindLoad    = "nvidia-smi-load" // how GPUs run while the diagnostic loads them
	kindHost    = "host"            // what the host says of itself
	// The error counters of NVLinks on both sides of the diagnostic.
	kindErrorsBefore = "nvidia-smi-nvlink-errors"
	kindErrorsAfter  = "nvidia-smi-nvlink-errors-after"
)

// smiFigures is what nvidia-smi -q -x says. Log is nil when there was only trouble.
type smiFigures struct {
	Log     *nvidia.SMILog   `json:"log,omitempty"`
	Trouble nvidia.SMIErrors `json:"trouble"`
}

type linkFigures struct {
	GPUs []nvidia.NVLinks `json:"gpus"`
}

type errorFigures struct {
	GPUs []nvidia.NVLinkErrors `json:"gpus"`
}

// hostFigures is what a host says of itself, and when it was asked by our clock: its own
// was read between AskedAt and AnsweredAt. Both are zero where that is not known.
type hostFigures struct {
	Host       linuxhost.Host `json:"host"`
	AskedAt    time.Time      `json:"askedAt,omitzero"`
	AnsweredAt time.Time      `json:"answeredAt,omitzero"`
}

type hcaFigures struct {
	HCAs []infiniband.HCA `json:"hcas"`
}

// diagFigures is a diagnostic's document and what its exit code means.
type diagFigures struct {
	Outcome nvidia.DiagOutcome `json:"outcome"`
	Meaning string             `json:"meaning"`
	Diag    nvidia.Diag        `json:"diag"`
}
