package node

import (
	"time"

	"github.com/firstlight/firstlight/internal/probe/dcgmi"
	"github.com/firstlight/firstlight/internal/probe/ibstat"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nvidiasmi"
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
	// NVLink error counters before and after the diagnostic.
	kindErrorsBefore = "nvidia-smi-nvlink-errors"
	kindErrorsAfter  = "nvidia-smi-nvlink-errors-after"
)

// smiFigures is the output of nvidia-smi -q -x. Log is nil if it has only errors.
type smiFigures struct {
	Log     *nvidiasmi.Log    `json:"log,omitempty"`
	Trouble nvidiasmi.Trouble `json:"trouble"`
}

type linkFigures struct {
	GPUs []nvidiasmi.NVLinks `json:"gpus"`
}

type errorFigures struct {
	GPUs []nvidiasmi.NVLinkErrors `json:"gpus"`
}

// hostFigures are the facts of a host. Its clock was read between AskedAt and AnsweredAt by
// the local clock; both are zero if unknown.
type hostFigures struct {
	Host       linuxhost.Host `json:"host"`
	AskedAt    time.Time      `json:"askedAt,omitzero"`
	AnsweredAt time.Time      `json:"answeredAt,omitzero"`
}

type hcaFigures struct {
	HCAs []ibstat.HCA `json:"hcas"`
}

// diagFigures is a diagnostic's document and the meaning of its exit code.
type diagFigures struct {
	Outcome dcgmi.Outcome `json:"outcome"`
	Meaning string        `json:"meaning"`
	Diag    dcgmi.Diag    `json:"diag"`
}
