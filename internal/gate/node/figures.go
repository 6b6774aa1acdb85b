package node

import (
	"github.com/firstlight/firstlight/internal/probe/dcgmi"
	"github.com/firstlight/firstlight/internal/probe/ibstat"
	"github.com/firstlight/firstlight/internal/probe/nvidiasmi"
)

// The kinds of observations; each has a host for its target.
const (
	kindBefore  = "nvidia-smi"
	kindNVLinks = "nvidia-smi-nvlink"
	kindHCAs    = "ibstat"
	kindDiag    = "dcgmi-diag"
	kindAfter   = "nvidia-smi-after" // what the diagnostic left behind
	kindKernel  = "dmesg"
)

// smiFigures is what nvidia-smi -q -x says. Log is nil when there was only trouble.
type smiFigures struct {
	Log     *nvidiasmi.Log    `json:"log,omitempty"`
	Trouble nvidiasmi.Trouble `json:"trouble"`
}

type linkFigures struct {
	GPUs []nvidiasmi.NVLinks `json:"gpus"`
}

type hcaFigures struct {
	HCAs []ibstat.HCA `json:"hcas"`
}

// diagFigures is a diagnostic's document and what its exit code means.
type diagFigures struct {
	Outcome dcgmi.Outcome `json:"outcome"`
	Meaning string        `json:"meaning"`
	Diag    dcgmi.Diag    `json:"diag"`
}
