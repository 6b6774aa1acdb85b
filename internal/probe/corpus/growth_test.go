package corpus

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/nvidia"

	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/probe/trainer"

	"github.com/firstlight/firstlight/internal/probe/vllm"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// parsers are all readers of text; their results do not matter here.
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
var hostile = []struct{ name, head, again string }{
	{"blanks", "", " "},
	{"lines of NCCL on one line", "h1:1:1 [0] NCCL INFO x\n", "zh1:1:1 [0] NCCL INFO "},
	{"braces", "", "{"},
	{"lists in JSON", `{"DCGM Diagnostic":{"test_categories":[{"tests":[{"name":"a","results":[{"warnings":`, "["},
	{"brackets of tags", "", "[1,"},
	{"tags of ranks", "", "[rank1]:"},
	{"colours", "", "\x1b["},
	{"Xids on one line", "[1.0] x ", "NVRM: Xid (PCI:0000:01:00"},
	{"Xids", "[1.0] x\n", "[1.0] NVRM: Xid (PCI:0000:01:00): 79, x\n"},
	{"further lines of SXids", "[1.0] x\n", "[1.0] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 1, Severity 1 x\n"},
	{"errors of hardware on one line", "[1.0] x ", "mlx5_core 0: "},
	{"errors of hardware", "[1.0] x\n", "[1.0] EDAC MC0: 1 UE x\n"},
	{"lost GPUs on one line", "", "unable to determine the device handle for 0000:00:00"},
	{"lost GPUs", "", "Unable to determine the device handle for GPU0000:3B:00.0\n"},
	{"NVLinks", "GPU 0: a (UUID: GPU-0)\n", "GPU 0: (UUID: GPU-0) (UUID: GPU-0"},
	{"counters of NVLinks", "GPU 0: a (UUID: GPU-0)\n", "Link 0: Tx packets: 1\n"},
	{"links with counters", "GPU 0: a (UUID: GPU-0)\n", "Link 0: A Errors: 1\nLink 1: A Errors: 1\n"},
	{"rows of clocks", "", "GPU-0, 1 %, 1 MHz\n"},
	{"GPUs of a matrix", "\tGPU0\tCPU\n", "GPU0 X 0-1\n"},
	{"columns of a matrix", "", "GPU0 NIC0 "},
	{"files of a host", "=clock=\n=name=\n=files=\n", "/proc/meminfo:MemTotal: 1 kB\n"},
	{"sections of a host", "", "=clock=\n"},
	{"counters", "Errors for \"a\"\n   GUID 0x1 port 1: ", "[A == 1] "},
	{"links", "0x1 \"", "\"  4    1[  ] ==( 4X "},
	{"stages", "-I- Stage  Warnings   Errors\n", "-I- a  1  "},
	{"ports of errors", "-E- ", "S0002c90300688830/N0002c90300688830/"},
	{"adapters", "", "CA 'a'\n"},
	{"devices", "", "hca_id: a\n"},
	{"ports of a device", "hca_id: a\n", "port: 1\nstate: a\nmax_mtu: 256 (1)\nactive_mtu: 256 (1)\nlink_layer: a\n"},
	{"partition keys", "", "/sys/class/infiniband/a/ports/1/pkeys/0:0xffff\n"},
	{"rows", "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n", "8 2 float sum -1 1 1 1 0 1 1 1 0\n"},
	{"fields of a row", "# size time algbw busbw\n", "8 "},
	{"devices of NCCL", "a:1:1 [0] NCCL INFO NET/IB : Using ", "[0]a:1/IB "},
	{"channels", "", "a:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via P2P\n"},
	{"processes", "", "a:1:1 [0] NCCL INFO Connected all rings\n"},
	{"steps", "[titan] ", "step: 1 loss: 1 tps: 1 "},
	{"iterations", "", "iteration 1/ 1 | elapsed time per iteration (ms): 1 | "},
	{"stragglers", "MnEtpt/Rnk:", "MnEtpt/Rnk: 1TF/"},
	{"context lengths", "", "max seq len (1), (1 GiB KV cache is needed, "},
	{"exceptions", "", "aError "},
	{"pieces", "", "data: {\"choices\":[{\"text\":\"a\"}]}\n"},
	{"labels", "a{", "a=\"\","},
	{"samples", "# TYPE a gauge\n", "a{b=\"c\"} 1\n"},
	{"elements", "<?xml version=\"1.0\"?><nvidia_smi_log>", "<gpu>"},
	{"cards", "<?xml version=\"1.0\"?><nvidia_smi_log>", "<gpu id=\"0000:00:00.0\"><uuid>a</uuid></gpu>"},
}

const base = 16 << 10

// TestReadersAreLinear: four times the text takes about four times the work,
// and not sixteen times, whatever the text is. The test compares the processor
// time of the reader's thread, so a busy machine changes nothing.
func TestReadersAreLinear(t *testing.T) {
	for name, parse := range parsers() {
		for _, h := range hostile {
			text := func(size int) []byte { return []byte(h.head + strings.Repeat(h.again, size/len(h.again)+1)) }
			if ratio := growth(parse, text); ratio > mostGrowth {
				t.Errorf("%s over %s: four times the text is %.1f times the work", name, h.name, ratio)
			}
		}
	}
}

// TestGrowthIsSeen: the measure finds a reader that reads the whole rest of
// the text from every place of it.
func TestGrowthIsSeen(t *testing.T) {
	square := func(text []byte) {
		for i := range text {
			if bytes.IndexByte(text[i:], 1) >= 0 {
				return
			}
		}
	}
	if ratio := growth(square, func(size int) []byte { return make([]byte, size) }); ratio <= mostGrowth {
		t.Errorf("a reader that is quadratic grows by %.1f only", ratio)
	}
}

const (
	// mostGrowth is between 4, which is linear, and 16, which is quadratic.
	mostGrowth = 9
	// leastWork is what can be compared: less than this is noise.
	leastWork = 10 * time.Millisecond
)

// growth is how much more work four times the text is, at the size where that is least: regexp
// changes to a slower matcher at a length between two sizes, once.
func growth(parse func([]byte), text func(size int) []byte) float64 {
	ratio := growthFrom(base, parse, text)
	if ratio > mostGrowth {
		ratio = min(ratio, growthFrom(4*base, parse, text))
	}
	return ratio
}

// growthFrom compares a size with four times as much. The least of several attempts counts, since
// garbage collection and page faults only ever add; the smaller size has two before the first comparison, so that
// neither hides a growth.
func growthFrom(size int, parse func([]byte), text func(size int) []byte) float64 {
	one, four := min(work(parse, text(size)), work(parse, text(size))), work(parse, text(4*size))
	for range 12 {
		if four < leastWork || float64(four) <= mostGrowth*float64(one) {
			break
		}
		one, four = min(one, work(parse, text(size))), min(four, work(parse, text(4*size)))
	}
	if four < leastWork {
		return 0
	}
	return float64(four) / float64(max(one, time.Microsecond))
}

// work is the processor time that a reader takes.
func work(parse func([]byte), text []byte) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	parse(text)
	return threadTime() - begin
}

func threadTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		panic(err) // every Linux has it
	}
	return time.Duration(now.Nano())
}
