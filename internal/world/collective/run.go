package collective

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// Device is one GPU that a rank drives.
type Device struct {
	Index   int
	BusID   string // 0000:1B:00.0
	Product string
}

// HCA is one port of the compute fabric, as the node sees it.
type HCA struct {
	Name string
	// Gbps is the data rate; 0 when the port is down.
	Gbps int
}

// Node is one host of the run: one rank a device.
type Node struct {
	// Host is what gethostname returns to the ranks.
	Host    string
	Address string // of the out-of-band interface, without a port
	Devices []Device
	HCAs    []HCA
	// NVLS: the GPUs can reach NVLink multicast.
	NVLS bool
	// GPUDirect: the HCAs can reach GPU memory.
	GPUDirect bool
	// Socket: there is no InfiniBand for NCCL on this host.
	Socket bool
	// Slow is the factor (1: healthy) by which the host holds a run back.
	Slow float64
}

// Run is one mpirun of all_reduce_perf, repeated.
type Run struct {
	Fabric      world.HardwareFabric
	CUDA        string // "13.0"
	Nodes       []Node
	MinBytes    int64
	MaxBytes    int64
	Repetitions int
	// HCASelection is NCCL_IB_HCA; empty selects all.
	HCASelection string
	// Debug is NCCL_DEBUG=INFO.
	Debug bool
	Seed  uint64
	// Corrupt lets elements come out wrong.
	Corrupt bool
	// Truncated ends the output in the middle of the first table.
	Truncated bool
}

// Ranks is the number of GPUs in the run.
func (r Run) Ranks() int {
	n := 0
	for _, node := range r.Nodes {
		n += len(node.Devices)
	}
	return n
}

// Write prints the whole run and returns the exit code of the script around
// it, which stops at the first repetition that fails.
func (r Run) Write(w io.Writer) (int, error) {
	if r.Ranks() == 0 || r.MinBytes <= 0 || r.MaxBytes < r.MinBytes {
		_, err := fmt.Fprintf(w, "all_reduce_perf: nothing to run: %d ranks, %d to %d bytes\n", r.Ranks(), r.MinBytes, r.MaxBytes)
		return 1, err
	}
	bw := bufio.NewWriter(w)
	exit := 0
	for rep := range max(r.Repetitions, 1) {
		p := &printer{w: bw}
		r.writeHeader(p)
		if r.Debug {
			r.writeDebug(p, rep)
		}
		wrong := r.writeTable(p, rep)
		if p.err != nil {
			return 1, fmt.Errorf("write collective output: %w", p.err)
		}
		if r.Truncated {
			break
		}
		if wrong > 0 {
			exit = 1
			p.line("--------------------------------------------------------------------------")
			p.line("Primary job  terminated normally, but 1 process returned")
			p.line("a non-zero exit code. Per user-direction, the job has been aborted.")
			p.line("--------------------------------------------------------------------------")
			break
		}
	}
	if err := bw.Flush(); err != nil {
		return 1, fmt.Errorf("write collective output: %w", err)
	}
	return exit, nil
}

// hcas are the ports that NCCL picks on a node.
func (r Run) hcas(n Node) []HCA {
	if n.Socket {
		return nil
	}
	var out []HCA
	for _, h := range n.HCAs {
		if h.Gbps > 0 && selected(r.HCASelection, h.Name) {
			out = append(out, h)
		}
	}
	return out
}

// selected reads NCCL_IB_HCA: "=a,b" exactly these, "^a" all but, "a" a prefix.
func selected(selection, name string) bool {
	if selection == "" {
		return true
	}
	exclude := strings.HasPrefix(selection, "^")
	selection = strings.TrimPrefix(selection, "^")
	exact := strings.HasPrefix(selection, "=")
	selection = strings.TrimPrefix(selection, "=")
	hit := false
	for want := range strings.SplitSeq(selection, ",") {
		want, _, _ = strings.Cut(strings.TrimSpace(want), ":")
		if want == "" {
			continue
		}
		if want == name || !exact && strings.HasPrefix(name, want) {
			hit = true
		}
	}
	return hit != exclude
}

func (r Run) rand(rep, salt int) *rand.Rand {
	return rand.New(rand.NewPCG(r.Seed, uint64(rep)<<32|uint64(salt))) //nolint:gosec // a model's noise, no secret
}

type printer struct {
	w   *bufio.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err != nil {
		return
	}
	_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
}
