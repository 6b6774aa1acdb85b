package corpus

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/probe/trainer"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// parsers are the readers of the corpus; their results do not matter here.
func parsers() map[string]func([]byte) {
	text := func(parse func(io.Reader)) func([]byte) {
		return func(data []byte) { parse(bytes.NewReader(data)) }
	}
	return map[string]func([]byte){
		"nvidia-smi":    func(b []byte) { _, _ = nvidia.ParseSMI(b) },
		"nvlink":        func(b []byte) { _, _ = nvidia.ParseNVLinks(b) },
		"nvlink errors": func(b []byte) { _, _ = nvidia.ParseNVLinkErrors(b) },
		"clocks":        func(b []byte) { _, _ = nvidia.ParseClocks(b) },
		"topology":      func(b []byte) { _, _ = nvidia.ParseTopology(b) },
		"linux host":    func(b []byte) { _, _ = linuxhost.Parse(b) },
		"trouble":       func(b []byte) { _, _ = nvidia.ParseSMIErrors(b) },
		"dcgmi":         func(b []byte) { _, _ = nvidia.ParseDiag(b) },
		"xid":           func(b []byte) { _, _ = nvidia.ParseXids(b) },
		"ibstat":        func(b []byte) { _, _ = infiniband.ParseStat(b) },
		"iblinkinfo":    func(b []byte) { _, _ = infiniband.ParseLinkInfo(b) },
		"ibqueryerrors": func(b []byte) { _, _ = infiniband.ParseQueryErrors(b) },
		"ibdiagnet":     func(b []byte) { _, _ = infiniband.ParseDiagnet(b) },
		"sminfo":        func(b []byte) { _, _ = infiniband.ParseSMInfo(b) },
		"ibv_devinfo":   func(b []byte) { _, _ = infiniband.ParseDevInfo(b) },
		"P_Key tables":  func(b []byte) { _, _ = infiniband.ParsePKeys(b) },
		"nccl-tests":    text(func(r io.Reader) { _, _ = nccl.ParseTests(r) }),
		"NCCL":          text(func(r io.Reader) { _, _ = nccl.ParseLog(r) }),
		"torchtitan":    text(func(r io.Reader) { _, _ = trainer.ParseTorchtitan(r) }),
		"Megatron":      text(func(r io.Reader) { _, _ = trainer.ParseMegatron(r) }),
		"vLLM":          text(func(r io.Reader) { _, _ = vllm.ParseLog(r) }),
		"stream":        text(func(r io.Reader) { _, _ = vllm.ParseStream(r, func() time.Duration { return 0 }) }),
		"models":        func(b []byte) { _, _ = vllm.ParseModels(b) },
		"exposition":    func(b []byte) { _, _ = prom.ParseExposition(b, "a") },
		"vector":        func(b []byte) { _, _ = prom.ParseVector(b) },
		"alerts":        func(b []byte) { _, _ = prom.ParseAlerts(b) },
		"receivers":     func(b []byte) { _, _ = prom.ParseReceivers(b) },
	}
}

// hostile are texts that begin like something again and again: on one line, or
// each on a line of its own, behind what makes a reader believe the rest.
var hostile = []growth.Text{
	{Name: "blanks", Again: " "},
	{Name: "lines of NCCL on one line", Head: "h1:1:1 [0] NCCL INFO x\n", Again: "zh1:1:1 [0] NCCL INFO "},
	{Name: "braces", Again: "{"},
	{Name: "lists in JSON", Head: `{"DCGM Diagnostic":{"test_categories":[{"tests":[{"name":"a","results":[{"warnings":`, Again: "["},
	{Name: "brackets of tags", Again: "[1,"},
	{Name: "tags of ranks", Again: "[rank1]:"},
	{Name: "colours", Again: "\x1b["},
	{Name: "Xids on one line", Head: "[1.0] x ", Again: "NVRM: Xid (PCI:0000:01:00"},
	{Name: "Xids", Head: "[1.0] x\n", Again: "[1.0] NVRM: Xid (PCI:0000:01:00): 79, x\n"},
	{Name: "further lines of SXids", Head: "[1.0] x\n", Again: "[1.0] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 1, Severity 1 x\n"},
	{Name: "errors of hardware on one line", Head: "[1.0] x ", Again: "mlx5_core 0: "},
	{Name: "errors of hardware", Head: "[1.0] x\n", Again: "[1.0] EDAC MC0: 1 UE x\n"},
	{Name: "lost GPUs on one line", Again: "unable to determine the device handle for 0000:00:00"},
	{Name: "lost GPUs", Again: "Unable to determine the device handle for GPU0000:3B:00.0\n"},
	{Name: "NVLinks", Head: "GPU 0: a (UUID: GPU-0)\n", Again: "GPU 0: (UUID: GPU-0) (UUID: GPU-0"},
	{Name: "counters of NVLinks", Head: "GPU 0: a (UUID: GPU-0)\n", Again: "Link 0: Tx packets: 1\n"},
	{Name: "links with counters", Head: "GPU 0: a (UUID: GPU-0)\n", Again: "Link 0: A Errors: 1\nLink 1: A Errors: 1\n"},
	{Name: "rows of clocks", Again: "GPU-0, 1 %, 1 MHz\n"},
	{Name: "GPUs of a matrix", Head: "\tGPU0\tCPU\n", Again: "GPU0 X 0-1\n"},
	{Name: "columns of a matrix", Again: "GPU0 NIC0 "},
	{Name: "files of a host", Head: "=clock=\n=name=\n=files=\n", Again: "/proc/meminfo:MemTotal: 1 kB\n"},
	{Name: "sections of a host", Again: "=clock=\n"},
	{Name: "counters", Head: "Errors for \"a\"\n   GUID 0x1 port 1: ", Again: "[A == 1] "},
	{Name: "links", Head: "0x1 \"", Again: "\"  4    1[  ] ==( 4X "},
	{Name: "stages", Head: "-I- Stage  Warnings   Errors\n", Again: "-I- a  1  "},
	{Name: "ports of errors", Head: "-E- ", Again: "S0002c90300688830/N0002c90300688830/"},
	{Name: "adapters", Again: "CA 'a'\n"},
	{Name: "devices", Again: "hca_id: a\n"},
	{Name: "ports of a device", Head: "hca_id: a\n", Again: "port: 1\nstate: a\nmax_mtu: 256 (1)\nactive_mtu: 256 (1)\nlink_layer: a\n"},
	{Name: "partition keys", Again: "/sys/class/infiniband/a/ports/1/pkeys/0:0xffff\n"},
	{Name: "rows", Head: "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n", Again: "8 2 float sum -1 1 1 1 0 1 1 1 0\n"},
	{Name: "fields of a row", Head: "# size time algbw busbw\n", Again: "8 "},
	{Name: "devices of NCCL", Head: "a:1:1 [0] NCCL INFO NET/IB : Using ", Again: "[0]a:1/IB "},
	{Name: "channels", Again: "a:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via P2P\n"},
	{Name: "processes", Again: "a:1:1 [0] NCCL INFO Connected all rings\n"},
	{Name: "steps", Head: "[titan] ", Again: "step: 1 loss: 1 tps: 1 "},
	{Name: "iterations", Again: "iteration 1/ 1 | elapsed time per iteration (ms): 1 | "},
	{Name: "stragglers", Head: "MnEtpt/Rnk:", Again: "MnEtpt/Rnk: 1TF/"},
	{Name: "context lengths", Again: "max seq len (1), (1 GiB KV cache is needed, "},
	{Name: "exceptions", Again: "aError "},
	{Name: "pieces", Again: "data: {\"choices\":[{\"text\":\"a\"}]}\n"},
	{Name: "labels", Head: "a{", Again: "a=\"\","},
	{Name: "samples", Head: "# TYPE a gauge\n", Again: "a{b=\"c\"} 1\n"},
	{Name: "elements", Head: "<?xml version=\"1.0\"?><nvidia_smi_log>", Again: "<gpu>"},
	{Name: "cards", Head: "<?xml version=\"1.0\"?><nvidia_smi_log>", Again: "<gpu id=\"0000:00:00.0\"><uuid>a</uuid></gpu>"},
}

func TestReadersAreLinear(t *testing.T) {
	for name, parse := range parsers() {
		growth.Linear(t, name, parse, hostile...)
	}
	for name, parse := range otherParsers() {
		growth.Linear(t, name, parse, otherHostile...)
	}
}
